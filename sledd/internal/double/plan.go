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
	parts     = 4       // of a step, between which the power may be cut
	// leastPause between two reports of progress.
	leastPause = time.Second
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
	n.memory = nil
	for i, step := range p.Steps {
		if step.Word == "idle" {
			n.say("idle, generation %d", p.Generation)
			return errIdle
		}
		switch err := n.step(ctx, p, i+1); {
		case refused(err, p):
			n.say("%s is not run: %v", step.Word, err)
			return errIdle
		case err != nil:
			return err
		}
		switch step.Word {
		case "kexec":
			return n.system(ctx, "hang_at_kexec", n.Settings.HangAtKexec)
		case "poweroff":
			return errPoweroff
		case "start":
			return n.jump(ctx, step.Map())
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
		if ahead, err := n.lose(step); err != nil {
			return err
		} else if ahead {
			return n.fail(step.Word, Fail{Code: aheadCode, Reason: "the disk is ahead of the plan"},
				append(name, operand.Pair{Key: "seconds", Value: "0"}), report)
		}
	}
	fails := false
	if step.Word == n.Settings.Fail.Step {
		var err error
		if fails, err = n.count("failed", n.Settings.Fail.Times); err != nil {
			return err
		}
	}
	if err := n.work(ctx, p, number); err != nil {
		return err
	}
	made, err := n.results(ctx, step, fails)
	if err != nil {
		return err
	}
	end := append(name, operand.Pair{Key: "seconds", Value: fmt.Sprintf("%.3f", time.Since(begin).Seconds())})
	if fails {
		return n.fail(step.Word, n.Settings.Fail, end, report)
	}
	lines := []operand.Line{{Word: "end", Operands: append(append(end, operand.Pair{Key: "code", Value: "0"}), made...)}}
	if number < of && step.Word != "run" && p.Steps[number].Word != "idle" {
		lines = append(lines, beginning(p, number+1))
	}
	if err := n.report(ctx, p, lines...); err != nil || step.Word != "run" {
		return err
	}
	return n.cutAt("end", 1)
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

// results has the results of a step that does not fail, and returns what its end reports beside its code.
func (n *node) results(ctx context.Context, step operand.Line, fails bool) ([]operand.Pair, error) {
	if fails {
		return nil, nil
	}
	if err := n.install(step); err != nil {
		return nil, err
	}
	switch step.Word {
	case "configure":
		return n.publicKey()
	case "run":
		return n.job(ctx, step)
	case "start":
		return nil, n.takeTicket(ctx, step.Map())
	case "rescue":
		detail, err := rescued()
		return []operand.Pair{{Key: "detail", Value: detail}}, err
	case "capture":
		return []operand.Pair{{Key: "detail", Value: "packed"},
			{Key: "digest", Value: "sha256:" + strings.Repeat("5e", 32)},
			{Key: "bytes", Value: "4294967296"}, {Key: "file_bytes", Value: "612345678"}}, nil
	}
	return nil, nil
}

// fail ends a step with a code and a reason.
func (n *node) fail(verb string, fails Fail, end []operand.Pair, report func(string, ...operand.Pair) error) error {
	n.say("%s fails with code %d", verb, fails.Code)
	if err := report("end", append(end, operand.Pair{Key: "code", Value: fmt.Sprint(fails.Code)},
		operand.Pair{Key: "reason", Value: cmp.Or(fails.Reason, "as the settings say")})...); err != nil {
		return err
	}
	return errFailed
}

// work takes the time that a step takes, and has its results.
func (n *node) work(ctx context.Context, p plan.Plan, number int) error {
	verb, whole := p.Steps[number-1].Word, seconds(n.Settings.StepSeconds)
	if verb == "run" { // it takes the time of its payload, within which job cuts
		return nil
	}
	for begin := time.Now(); ; {
		left := whole - time.Since(begin)
		if n.read("hold") == verb {
			left = max(left, whole/parts)
		}
		if left <= 0 {
			break
		}
		part := 1 - float64(left)/float64(whole)
		if err := n.cutAt(verb, part); err != nil {
			return err
		}
		if verb == "write" || verb == "fetch" {
			if err := n.progress(ctx, p, number, part); err != nil {
				return err
			}
			left = min(left, time.Until(n.due))
		}
		if err := pause(ctx, min(left, whole/parts)); err != nil {
			return err
		}
	}
	if verb != "configure" {
		return n.cutAt(verb, 1)
	}
	line, err := n.seed(ctx)
	if err != nil {
		return err
	}
	return n.keep("disk", line)
}

// progress reports how far a step is, if that is due. sledd names the time until the next report. One that is refused
// or lost is not repeated.
func (n *node) progress(ctx context.Context, p plan.Plan, number int, part float64) error {
	if time.Now().Before(n.due) {
		return nil
	}
	body, err := n.reported(p, operand.Line{Word: "progress", Operands: append(named(p, number),
		operand.Pair{Key: "bytes", Value: fmt.Sprint(int64(part * diskBytes))},
		operand.Pair{Key: "total", Value: fmt.Sprint(diskBytes)})})
	if err != nil {
		return err
	}
	status, text, wait, err := n.once(ctx, http.MethodPost, n.nodePath("report"), n.token, body)
	if err == nil && isFinal(status) && status != http.StatusNoContent {
		err = fmt.Errorf("progress: %d: %s", status, text)
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return fmt.Errorf("%w: %w", err, errToken)
	}
	n.due = time.Now().Add(time.Duration(float64(max(wait, leastPause)) / cmp.Or(n.Settings.Hurry, 1)))
	if status == 0 {
		return ctx.Err() //nolint:wrapcheck // switched off, else lost
	}
	return err
}

func (n *node) report(ctx context.Context, p plan.Plan, lines ...operand.Line) error {
	body, err := n.reported(p, lines...)
	if err != nil {
		return err
	}
	return n.post(ctx, "report", n.token, body)
}

// reported is the body of a report.
func (n *node) reported(p plan.Plan, lines ...operand.Line) (string, error) {
	body := fmt.Sprintf("report 1\ngeneration %d run %d\nboot %s\n", p.Generation, p.Run, n.boot)
	for _, line := range lines {
		text, err := operand.Encode(line)
		if err != nil {
			return "", fmt.Errorf("report: %w", err)
		}
		body += text + "\n"
	}
	return body, nil
}
