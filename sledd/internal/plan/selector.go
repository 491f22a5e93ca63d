// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"math"
	"strings"
)

// CheckSelector checks a disk selector (contract/plan.md, "Disk selectors"). A device name is none.
func CheckSelector(selector string) error {
	if selector == "" {
		return fmt.Errorf("the disk selector is empty")
	}
	for _, term := range strings.Split(selector, ",") {
		if err := checkTerm(term); err != nil {
			return fmt.Errorf("disk selector %.80q: %w", selector, err)
		}
	}
	return nil
}

// CheckKeep checks one selector of a keep list. A semicolon separates selectors there.
func CheckKeep(selector string) error {
	if strings.Contains(selector, ";") {
		return fmt.Errorf("disk selector %.80q: a ; in a value is written as %%3B", selector)
	}
	return CheckSelector(selector)
}

func checkKeep(value string) error {
	for _, selector := range strings.Split(value, ";") {
		if err := CheckSelector(selector); err != nil {
			return err
		}
	}
	return nil
}

// checkDisks checks the disks of a wipe.
func checkDisks(value string) error {
	if value == "all" {
		return nil
	}
	return checkKeep(value)
}

func checkTerm(term string) error {
	if term == "only" {
		return nil
	}
	name, value, found := strings.Cut(term, ":")
	if !found {
		return fmt.Errorf("%.80q is not one of serial: wwn: path: model: rotational: size: only", term)
	}
	if !encodedTwice(value) {
		return fmt.Errorf("%s: a %% is followed by two hexadecimal digits", name)
	}
	switch name {
	case "serial", "wwn", "path", "model":
		if value == "" {
			return fmt.Errorf("%s: has no value", name)
		}
		return nil
	case "rotational":
		return oneOf("0", "1")(value)
	case "size":
		return checkSize(value)
	default:
		return fmt.Errorf("%.80q is not one of serial: wwn: path: model: rotational: size: only", term)
	}
}

func encodedTwice(value string) bool {
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			continue
		}
		if i+2 >= len(value) || !isHex(value[i+1]) || !isHex(value[i+2]) || value[i+1:i+3] == "00" {
			return false
		}
		i += 2
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func checkSize(value string) error {
	low, high, found := strings.Cut(value, "-")
	if !found || low == "" && high == "" {
		return fmt.Errorf("size:%.40s: want size:MIN-MAX in bytes, at least one side", value)
	}
	least, most := int64(0), int64(math.MaxInt64)
	var err error
	if low != "" {
		if least, err = Number(low); err != nil {
			return fmt.Errorf("size: %w", err)
		}
	}
	if high != "" {
		if most, err = Number(high); err != nil {
			return fmt.Errorf("size: %w", err)
		}
	}
	if least > most {
		return fmt.Errorf("size:%s: the first is larger than the second", value)
	}
	return nil
}
