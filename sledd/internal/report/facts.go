// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// Hardware is what a node reports of itself, once per boot.
type Hardware struct {
	Facts   api.Facts // Time is left to the caller
	Uptime  float64   // of the kernel, in seconds
	Dropped []string  // facts that were not acceptable, each with the reason
}

// ParseFacts reads the hardware of a node. Facts with unacceptable text are dropped one by one.
func ParseFacts(body string) (Hardware, error) {
	lines, err := read(body, "facts 1")
	if err != nil {
		return Hardware{}, err
	}
	if len(lines) < 2 {
		return Hardware{}, fmt.Errorf("line 2: want boot and the kernel's boot id")
	}
	var h Hardware
	if h.Facts.BootID, err = boot(lines[1]); err != nil {
		return Hardware{}, fmt.Errorf("line 2: %w", err)
	}
	for i, text := range lines[2:] {
		if err := h.add(text); err != nil {
			return Hardware{}, fmt.Errorf("line %d: %w", i+3, err)
		}
	}
	if text := h.Facts.Kernel["uptime"].String(); text != "" {
		if h.Uptime, err = Seconds(text); err != nil {
			return Hardware{}, fmt.Errorf("kernel: uptime: %w", err)
		}
	}
	return h, nil
}

// add reads one line.
func (h *Hardware) add(text string) error {
	line, err := operand.Parse(text)
	if err != nil {
		return err
	}
	facts := &h.Facts
	once := map[string]*map[string]nodetext.Identifier{"kernel": &facts.Kernel, "cpu": &facts.CPU,
		"memory":   &facts.Memory,
		"firmware": &facts.Firmware, "dmi": &facts.DMI}
	many := map[string]*[]map[string]nodetext.Identifier{"disk": &facts.Disks, "nic": &facts.NICs,
		"partition": &facts.Partitions}
	if place, known := once[line.Word]; known {
		if *place != nil {
			return fmt.Errorf("%s comes twice", line.Word)
		}
		*place = h.values(line, line.Word)
		return nil
	}
	place, known := many[line.Word]
	if !known {
		return fmt.Errorf("unknown line %q", line.Word)
	}
	key := "name"
	if line.Word == "partition" {
		key = "disk"
	}
	name, _ := line.Get(key)
	if name == "" {
		return fmt.Errorf("%s: %s is missing", line.Word, key)
	}
	if _, err := nodetext.ParseIdentifier(name); err != nil {
		h.Dropped = append(h.Dropped, fmt.Sprintf("%s: %s: %s", line.Word, key, err))
		return nil
	}
	*place = append(*place, h.values(line, fmt.Sprintf("%s %d", line.Word, len(*place)+1)))
	return nil
}

// values returns the acceptable facts of a line.
func (h *Hardware) values(line operand.Line, what string) map[string]nodetext.Identifier {
	values := make(map[string]nodetext.Identifier, len(line.Operands))
	for _, pair := range line.Operands {
		value, err := nodetext.ParseIdentifier(pair.Value)
		switch {
		case err != nil:
			h.Dropped = append(h.Dropped, fmt.Sprintf("%s %s: %s", what, pair.Key, err))
		case nodetext.WithoutTokens(pair.Key) == pair.Key:
			values[pair.Key] = value
		}
	}
	return values
}

// DroppedText lists the dropped facts; empty for none.
func (h *Hardware) DroppedText() string {
	if len(h.Dropped) == 0 {
		return ""
	}
	return "dropped: " + strings.Join(h.Dropped, ", ")
}

// ParseOperational reads an installed system's report: its facts, the generation it belongs to, and
// its uptime in seconds. Confirmed is left to the caller.
func ParseOperational(body string) (said api.OS, generation int64, uptime float64, err error) {
	lines, err := read(body, "operational 1")
	if err != nil {
		return said, 0, 0, err
	}
	if len(lines) != 3 {
		return said, 0, 0, fmt.Errorf("%d lines, want operational, generation and os", len(lines))
	}
	if generation, err = plan.Generation(lines[1]); err != nil {
		return said, 0, 0, fmt.Errorf("line 2: %w", err)
	}
	line, err := operand.Parse(lines[2])
	if err != nil {
		return said, 0, 0, fmt.Errorf("line 3: %w", err)
	}
	if line.Word != "os" {
		return said, 0, 0, fmt.Errorf("line 3: unknown line %q", line.Word)
	}
	words := map[string]nodetext.Identifier{}
	for _, pair := range line.Operands {
		if pair.Key == "lacks" {
			if said.Lacks, err = nodetext.ParseProse(pair.Value); err != nil {
				return api.OS{}, 0, 0, fmt.Errorf("line 3: lacks: %w", err)
			}
			continue
		}
		if words[pair.Key], err = nodetext.ParseIdentifier(pair.Value); err != nil {
			return api.OS{}, 0, 0, fmt.Errorf("line 3: %s: %w", pair.Key, err)
		}
	}
	if text := words["uptime"].String(); text != "" {
		if uptime, err = Seconds(text); err != nil {
			return said, 0, 0, fmt.Errorf("line 3: uptime: %w", err)
		}
	}
	start, given := line.Get("start")
	if given && start != "kexec" && start != "firmware" {
		return api.OS{}, 0, 0, fmt.Errorf("line 3: start: %.40q is not one of kexec, firmware", start)
	}
	said = api.OS{ID: words["id"], Version: words["version"], Kernel: words["kernel"], Lacks: said.Lacks,
		MachineID: words["machine_id"], BootID: words["boot_id"], Start: start,
		BootOrder: words["boot_order"], BootCurrent: words["boot_current"]}
	return said, generation, uptime, nil
}
