// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/disk"
)

// CheckSelector checks a disk selector (contract/plan.md, "Disk selectors"). A device name is none.
func CheckSelector(selector string) error {
	_, err := disk.Parse(selector)
	return err //nolint:wrapcheck // names the selector
}

// CheckKeep checks one selector of a keep list. A semicolon separates selectors there.
func CheckKeep(selector string) error {
	if strings.Contains(selector, ";") {
		return fmt.Errorf("disk selector %.80q: a ; in a value is written as %%3B", selector)
	}
	return checkKeep(selector)
}

func checkKeep(value string) error {
	_, err := disk.ParseKeep(value)
	return err //nolint:wrapcheck // names the selector
}

// checkDisks checks the disks of a wipe.
func checkDisks(value string) error {
	if value == "all" {
		return nil
	}
	_, err := disk.ParseList(value)
	return err //nolint:wrapcheck // names the selector
}
