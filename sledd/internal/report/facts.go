// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// ParseFacts reads the hardware of a node, and the kernel's uptime in seconds. Time is left to the caller.
func ParseFacts(body string) (api.Facts, float64, error) {
	lines, err := read(body, "facts 1")
	if err != nil {
		return api.Facts{}, 0, err
	}
	if len(lines) < 2 {
		return api.Facts{}, 0, fmt.Errorf("line 2: want boot and the kernel's boot id")
	}
	var facts api.Facts
	if facts.BootID, err = boot(lines[1]); err != nil {
		return api.Facts{}, 0, fmt.Errorf("line 2: %w", err)
	}
	for i, text := range lines[2:] {
		if err := addFact(&facts, text); err != nil {
			return api.Facts{}, 0, fmt.Errorf("line %d: %w", i+3, err)
		}
	}
	uptime := 0.0
	if text := facts.Kernel["uptime"]; text != "" {
		if uptime, err = Seconds(text); err != nil {
			return api.Facts{}, 0, fmt.Errorf("kernel: uptime: %w", err)
		}
	}
	return facts, uptime, nil
}

func addFact(facts *api.Facts, text string) error {
	line, err := operand.Parse(text)
	if err != nil {
		return err
	}
	once := map[string]*map[string]string{"kernel": &facts.Kernel, "cpu": &facts.CPU, "memory": &facts.Memory,
		"firmware": &facts.Firmware, "dmi": &facts.DMI}
	many := map[string]*[]map[string]string{"disk": &facts.Disks, "nic": &facts.NICs}
	if place, known := once[line.Word]; known {
		if *place != nil {
			return fmt.Errorf("%s comes twice", line.Word)
		}
		*place = line.Map()
		return nil
	}
	place, known := many[line.Word]
	if !known {
		return fmt.Errorf("unknown line %q", line.Word)
	}
	if name, _ := line.Get("name"); name == "" {
		return fmt.Errorf("%s: name is missing", line.Word)
	}
	*place = append(*place, line.Map())
	return nil
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
	words := line.Map()
	if text := words["uptime"]; text != "" {
		if uptime, err = Seconds(text); err != nil {
			return said, 0, 0, fmt.Errorf("line 3: uptime: %w", err)
		}
	}
	if start, given := words["start"]; given && start != "kexec" && start != "firmware" {
		return api.OS{}, 0, 0, fmt.Errorf("line 3: start: %.40q is not one of kexec, firmware", start)
	}
	said = api.OS{ID: words["id"], Version: words["version"], Kernel: words["kernel"],
		MachineID: words["machine_id"], BootID: words["boot_id"], Start: words["start"],
		BootOrder: words["boot_order"], BootCurrent: words["boot_current"]}
	return said, generation, uptime, nil
}
