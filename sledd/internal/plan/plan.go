// SPDX-License-Identifier: Apache-2.0

// Package plan writes and reads plans (contract/plan.md). It is pure: no store, no clock.
package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// MaxLines of a plan, with the two of its head.
const MaxLines = 64

// Seconds that a watchdog can be armed with.
const (
	LeastWatchdog = 10
	MostWatchdog  = 3600
)

const head = "plan 1"

// Plan is the ordered steps for one node.
type Plan struct {
	Generation int64 // of the binding; 0: none
	Run        int64 // number of the plan, from 1; it rises with each that the node gets
	Steps      []operand.Line
}

// Verbs returns the names of the steps, for events and logs.
func (p Plan) Verbs() string {
	verbs := make([]string, len(p.Steps))
	for i, step := range p.Steps {
		verbs[i] = step.Word
	}
	return strings.Join(verbs, " ")
}

// Idle reports whether the plan only waits.
func (p Plan) Idle() bool { return len(p.Steps) == 1 && p.Steps[0].Word == "idle" }

// Encode writes the plan as text, or returns which step cannot be written.
func Encode(p Plan) (string, error) {
	if err := check(p); err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s\ngeneration %d run %d\n", head, p.Generation, p.Run)
	for _, step := range p.Steps {
		line, err := operand.Encode(step)
		if err != nil {
			return "", err
		}
		out.WriteString(line + "\n")
	}
	return out.String(), nil
}

// Parse reads a plan; any fault refuses the whole of it.
func Parse(text string) (Plan, error) {
	lines, err := operand.Lines(text, MaxLines)
	if err != nil {
		return Plan{}, err
	}
	if lines[0] != head {
		return Plan{}, fmt.Errorf("line 1: %.40q, want %q", lines[0], head)
	}
	if len(lines) < 2 {
		return Plan{}, fmt.Errorf("line 2: want generation N run R")
	}
	var p Plan
	if p.Generation, p.Run, err = Numbers(lines[1]); err != nil {
		return Plan{}, fmt.Errorf("line 2: %w", err)
	}
	for i, text := range lines[2:] {
		step, err := operand.Parse(text)
		if err != nil {
			return Plan{}, fmt.Errorf("line %d: %w", i+3, err)
		}
		p.Steps = append(p.Steps, step)
	}
	return p, check(p)
}

// Generation reads the line "generation N": decimal, 0 to 2^63-1, no leading zeros.
func Generation(line string) (int64, error) {
	digits, found := strings.CutPrefix(line, "generation ")
	if !found {
		return 0, fmt.Errorf("%.40q, want generation N", line)
	}
	n, err := Number(digits)
	if err != nil {
		return 0, fmt.Errorf("generation: %w", err)
	}
	return n, nil
}

// Numbers reads the line "generation N run R" of a plan or a report.
func Numbers(line string) (generation, run int64, err error) {
	first, second, found := strings.Cut(line, " run ")
	if !found {
		return 0, 0, fmt.Errorf("%.80q, want generation N run R", line)
	}
	if generation, err = Generation(first); err != nil {
		return 0, 0, err
	}
	if run, err = Number(second); err == nil && run == 0 {
		err = fmt.Errorf("0, want a number from 1")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("run: %w", err)
	}
	return generation, run, nil
}

// Number reads a decimal number, 0 to 2^63-1, without sign or leading zeros.
func Number(digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != digits {
		return 0, fmt.Errorf("%.40q is not a decimal number from 0 to 9223372036854775807", digits)
	}
	return n, nil
}

func check(p Plan) error {
	if len(p.Steps) == 0 {
		return fmt.Errorf("a plan has at least one step")
	}
	for i, step := range p.Steps {
		verb, known := verbs[step.Word]
		if !known {
			return fmt.Errorf("step %d: unknown verb %.40q", i+1, step.Word)
		}
		if verb.Last != (i == len(p.Steps)-1) {
			return fmt.Errorf("step %d: %s must be the last step, and the last step one of %s", i+1, step.Word, lastVerbs)
		}
		if err := verb.check(step); err != nil {
			return fmt.Errorf("step %d: %s: %w", i+1, step.Word, err)
		}
	}
	return p.checkAlone()
}
