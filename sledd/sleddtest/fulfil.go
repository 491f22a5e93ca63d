// SPDX-License-Identifier: Apache-2.0

package sleddtest

import (
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// Upload is the id of the upload of a captured disk.
const Upload = "0c2f5c1e7a544c1f9a551f3a0b8f6f5e"

// CaptureEnd ends the first of two steps: the disk became an image.
const CaptureEnd = "end step=1 verb=capture code=0 seconds=7.5 detail=packed digest=" + Digest +
	" bytes=4294967296 file_bytes=612345678 upload=" + Upload

// Fulfil carries out the whole plan: an image ends operational, a wipe wiped, a capture captured. A
// machine that runs its own disk is rebooted first.
func (m *Machine) Fulfil() {
	m.sledd.t.Helper()
	steps := m.steps()
	for i, step := range steps {
		m.Report(begin(i, steps))
		switch step.Word {
		case "idle":
			return
		case "configure":
			m.Seed()
		case "capture":
			m.Report(CaptureEnd)
			continue
		}
		m.Report(fmt.Sprintf("end step=%d verb=%s code=0 seconds=1.5", i+1, step.Word))
	}
	m.Token = "" // its Sled system is gone
	if steps[0].Word != "capture" {
		m.Confirm()
	}
}

// Confirm reports that the installed system runs.
func (m *Machine) Confirm() {
	m.sledd.t.Helper()
	m.Say("operational",
		fmt.Sprintf("operational 1\ngeneration %d\nos id=debian version=12 kernel=6.1 machine_id=abc "+
			"boot_id=os-%d uptime=8\n", m.Generation, m.Generation))
}

// Fail starts the plan, and its first step fails with an exit code of contract/exit-codes.md.
func (m *Machine) Fail(code int, reason string) {
	t := m.sledd.t
	t.Helper()
	steps := m.steps()
	end, err := operand.Encode(operand.Line{Word: "end",
		Operands: []operand.Pair{{Key: "step", Value: "1"}, {Key: "verb", Value: steps[0].Word},
			{Key: "code", Value: fmt.Sprint(code)}, {Key: "seconds", Value: "0.1"}, {Key: "reason", Value: reason}}})
	if err != nil {
		t.Fatalf("reason %q: %v", reason, err)
	}
	m.Report(begin(0, steps), strings.TrimSpace(end))
}

func begin(i int, steps []operand.Line) string {
	return fmt.Sprintf("begin step=%d of=%d verb=%s", i+1, len(steps), steps[i].Word)
}

// steps fetches the plan, which must be one that does something.
func (m *Machine) steps() []operand.Line {
	t := m.sledd.t
	t.Helper()
	if m.Token == "" {
		m.Reboot()
	}
	if m.Token == "" {
		t.Fatalf("machine n%d boots its own disk: its binding is satisfied", m.number)
	}
	plan := m.Poll(0)
	lines := strings.Split(strings.TrimSpace(plan), "\n")
	if len(lines) < 3 || lines[2] == "idle" {
		t.Fatalf("machine n%d has nothing to do: its plan is %q", m.number, plan)
	}
	var steps []operand.Line
	for _, line := range lines[2:] {
		step, err := operand.Parse(line)
		if err != nil {
			t.Fatalf("plan: %v: %s", err, plan)
		}
		steps = append(steps, step)
	}
	return steps
}
