// SPDX-License-Identifier: Apache-2.0

package double

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

const (
	diskBytes = 1 << 30 // that a write reports
	parts     = 4       // in which it reports them
)

var (
	errPoweroff = errors.New("switched itself off")
	errFailed   = errors.New("a step failed") // the next plan is requested
)

// follow asks for plans and does them, until the machine leaves the Sled system. Nil: it restarts.
func (n *node) follow(ctx context.Context) error {
	given := ""
	for {
		path := fmt.Sprintf("/node/v1/%s/plan?wait=%d%s", n.client.mac, pollSeconds, given)
		status, text, err := n.ask(ctx, http.MethodGet, path, n.token, "")
		if err != nil {
			return err
		}
		if status == http.StatusNoContent {
			continue
		}
		if status != http.StatusOK {
			return fmt.Errorf("plan: %d: %s", status, text)
		}
		received, err := plan.Parse(text)
		if err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		given = fmt.Sprintf("&run=%d", received.Run)
		if err := n.do(ctx, received); !errors.Is(err, errFailed) && !errors.Is(err, errIdle) {
			return err
		}
	}
}

// errIdle: the plan is done and the next is waited for.
var errIdle = errors.New("idle")

// do runs a plan's steps. Nil: the machine restarts.
func (n *node) do(ctx context.Context, p plan.Plan) error {
	for i, step := range p.Steps {
		if step.Word == "idle" {
			n.say("idle, generation %d", p.Generation)
			return errIdle
		}
		if err := n.step(ctx, p, i+1); err != nil {
			return err
		}
		switch step.Word {
		case "kexec":
			return n.system(ctx, "hang_at_kexec", n.Settings.HangAtKexec)
		case "poweroff":
			return errPoweroff
		}
		if verb, _ := plan.VerbOf(step.Word); verb.Last && !verb.Leaves {
			return errIdle
		}
	}
	return nil
}

// step does one, or fails at it.
func (n *node) step(ctx context.Context, p plan.Plan, number int) error {
	step, of := p.Steps[number-1], len(p.Steps)
	report := func(word string, operands ...operand.Pair) error {
		return n.report(ctx, p, operand.Line{Word: word, Operands: operands})
	}
	name := named(p, number)
	n.say("%s, step %d of %d, generation %d", step.Word, number, of, p.Generation)
	begin := time.Now()
	if number == 1 { // the others begin with the end of the step before
		if err := n.report(ctx, p, beginning(p, number)); err != nil {
			return err
		}
	}
	if step.Word == "wipe" || step.Word == "write" {
		if err := n.lose(); err != nil {
			return err
		}
	}
	fails := false
	if step.Word == n.Settings.Fail.Step {
		var err error
		if fails, err = n.count("failed", n.Settings.Fail.Times); err != nil {
			return err
		}
	}
	if err := n.work(ctx, step.Word, name, report); err != nil {
		return err
	}
	end := append(name, operand.Pair{Key: "seconds", Value: fmt.Sprintf("%.3f", time.Since(begin).Seconds())})
	if fails {
		return n.fail(step.Word, end, report)
	}
	if err := n.install(step); err != nil {
		return err
	}
	made, err := n.results(step.Word)
	if err != nil {
		return err
	}
	lines := []operand.Line{{Word: "end", Operands: append(append(end, operand.Pair{Key: "code", Value: "0"}), made...)}}
	if number < of && step.Word != "run" && p.Steps[number].Word != "idle" {
		lines = append(lines, beginning(p, number+1))
	}
	return n.report(ctx, p, lines...)
}

// named is the operands that name a step.
func named(p plan.Plan, number int) []operand.Pair {
	return []operand.Pair{{Key: "step", Value: fmt.Sprint(number)}, {Key: "verb", Value: p.Steps[number-1].Word}}
}

// beginning is the line that reports the start of a step.
func beginning(p plan.Plan, number int) operand.Line {
	return operand.Line{Word: "begin", Operands: append(named(p, number),
		operand.Pair{Key: "of", Value: fmt.Sprint(len(p.Steps))})}
}

// results returns what the end of a step reports beside its code.
func (n *node) results(verb string) ([]operand.Pair, error) {
	switch verb {
	case "configure":
		return n.publicKey()
	case "capture":
		return []operand.Pair{{Key: "detail", Value: "packed"},
			{Key: "digest", Value: "sha256:" + strings.Repeat("5e", 32)},
			{Key: "bytes", Value: "4294967296"}, {Key: "file_bytes", Value: "612345678"}}, nil
	}
	return nil, nil
}

// fail ends a step as the settings say.
func (n *node) fail(verb string, end []operand.Pair, report func(string, ...operand.Pair) error) error {
	fails := n.Settings.Fail
	n.say("%s fails with code %d", verb, fails.Code)
	if err := report("end", append(end, operand.Pair{Key: "code", Value: fmt.Sprint(fails.Code)},
		operand.Pair{Key: "reason", Value: cmp.Or(fails.Reason, "as the settings say")})...); err != nil {
		return err
	}
	return errFailed
}

// work takes the time that a step takes, and has its results.
func (n *node) work(ctx context.Context, verb string, name []operand.Pair,
	report func(word string, operands ...operand.Pair) error) error {
	part := seconds(n.Settings.StepSeconds) / parts
	for i := range int64(parts) {
		if err := pause(ctx, part); err != nil {
			return err
		}
		if verb != "write" {
			continue
		}
		err := report("progress", append(name, operand.Pair{Key: "bytes", Value: fmt.Sprint((i + 1) * diskBytes / parts)},
			operand.Pair{Key: "total", Value: fmt.Sprint(diskBytes)})...)
		if err != nil {
			return err
		}
	}
	if verb != "configure" {
		return nil
	}
	line, err := n.seed(ctx)
	if err != nil {
		return err
	}
	return n.write("disk", line)
}

func (n *node) report(ctx context.Context, p plan.Plan, lines ...operand.Line) error {
	body := fmt.Sprintf("report 1\ngeneration %d run %d\nboot %s\n", p.Generation, p.Run, n.boot)
	for _, line := range lines {
		text, err := operand.Encode(line)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		body += text + "\n"
	}
	return n.post(ctx, "report", n.token, body)
}
