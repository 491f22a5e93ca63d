// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// MaxText is the limit of a hello and of a claim, in bytes.
const MaxText = 4096

// Hello is what a machine states about itself. Nothing of it is believed.
type Hello struct {
	Boot   string `json:"boot"` // kernel's boot id
	NIC    string `json:"nic"`  // MAC that the request left by
	UUID   string `json:"uuid,omitempty"`
	Serial string `json:"serial,omitempty"`
	System string `json:"system,omitempty"` // digest of the Sled system
	EK     string `json:"ek,omitempty"`     // digest of the TPM's endorsement key; empty: no TPM
	EKType string `json:"ek_type,omitempty"`
}

var (
	bootID     = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)
	identifier = regexp.MustCompile(`^[ -~]{1,256}$`)
	ekType     = regexp.MustCompile(`^(ecc|rsa)$`)
)

// operands of a line: how each is checked and where it goes.
type operands map[string]struct {
	required bool
	check    func(value string) error
	into     *string
}

// ParseHello reads a hello. The error names the line.
func ParseHello(text string) (Hello, error) {
	var hello Hello
	lines, err := readText(text, "hello 1")
	if err != nil {
		return Hello{}, err
	}
	known := map[string]operands{
		"boot": {
			"id":     {true, matches(bootID), &hello.Boot},
			"nic":    {true, checkNIC, &hello.NIC},
			"uuid":   {false, matches(identifier), &hello.UUID},
			"serial": {false, matches(identifier), &hello.Serial},
			"system": {false, plan.CheckDigest, &hello.System},
		},
		"tpm": {"ek": {true, plan.CheckDigest, &hello.EK}, "type": {true, matches(ekType), &hello.EKType}},
	}
	for i, line := range lines {
		expected, found := known[line.Word]
		if !found {
			return Hello{}, fmt.Errorf("line %d: unknown line %q, or it comes twice", i+2, line.Word)
		}
		if err := expected.read(line); err != nil {
			return Hello{}, fmt.Errorf("line %d: %w", i+2, err)
		}
		delete(known, line.Word)
	}
	if hello.Boot == "" {
		return Hello{}, fmt.Errorf("line boot is missing")
	}
	return hello, nil
}

// readText reads the lines behind the first, which must be head.
func readText(text, head string) ([]operand.Line, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("%d bytes, at most %d are allowed", len(text), MaxText)
	}
	texts, err := operand.Lines(text, 3)
	if err != nil {
		return nil, err //nolint:wrapcheck // complete
	}
	if texts[0] != head {
		return nil, fmt.Errorf("line 1: %.40q, want %q", texts[0], head)
	}
	lines := make([]operand.Line, 0, len(texts)-1)
	for i, text := range texts[1:] {
		line, err := operand.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// read checks the operands of a line and stores them.
func (o operands) read(line operand.Line) error {
	for _, pair := range line.Operands {
		known, found := o[pair.Key]
		if !found {
			return fmt.Errorf("%s: unknown key %s", line.Word, pair.Key)
		}
		if err := known.check(pair.Value); err != nil {
			return fmt.Errorf("%s: %s: %w", line.Word, pair.Key, err)
		}
		*known.into = pair.Value
	}
	for key, known := range o {
		if _, found := line.Get(key); known.required && !found {
			return fmt.Errorf("%s: %s is missing", line.Word, key)
		}
	}
	return nil
}

func matches(pattern *regexp.Regexp) func(string) error {
	return func(value string) error {
		if !pattern.MatchString(value) {
			return fmt.Errorf("%.40q is not allowed", value)
		}
		return nil
	}
}

// checkNIC accepts the address of one interface in the form of data.
func checkNIC(value string) error {
	address, err := mac.Parse(value)
	if err != nil || address != value {
		return fmt.Errorf("%.40q is not a MAC as in 52:54:00:77:00:01", value)
	}
	if value == "00:00:00:00:00:00" || strings.IndexByte("13579bdf", value[1]) >= 0 {
		return fmt.Errorf("%s is not the address of one interface", value)
	}
	return nil
}
