// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// recent is how many of the newest events are compared with what is reported.
const recent = 100

// Report takes the progress of a node's steps. A report that is sent again is counted once.
func (in *Intake) Report(ctx context.Context, mac, bearer string, sent report.Report) (renewed string, err error) {
	if sent.IsProgress() {
		if taken, err := in.hear(ctx, mac, bearer, sent); taken {
			return "", err
		}
	}
	var failed []report.Line
	if slices.ContainsFunc(sent.Lines, hasErasures) {
		release, err := in.Erasures.Turn(ctx)
		if err != nil {
			return "", err //nolint:wrapcheck // the client is gone
		}
		defer release()
	}
	missing, err := in.missingFiles(ctx, mac, bearer, sent)
	if err != nil {
		return "", err
	}
	wants := comparedWith(sent)
	before := in.heard.take(mac)
	err = in.update(ctx, mac, wants, func(tx *nodeTx) error {
		tx.missing = missing
		earlier := tx.comparable(wants)
		if tx.sentAgain(bearer, sent, earlier) {
			return nil
		}
		record, err := tx.authenticateReport(bearer, sent)
		if err != nil {
			return err
		}
		tx.recall(before)
		renewed = in.renew(tx, record)
		tx.Status().Seen, tx.Status().BootID = tx.Now, sent.Boot
		failed = slices.DeleteFunc(slices.Clone(sent.Lines), func(line report.Line) bool {
			return line.Kind != report.End || line.Code == 0 || alreadyApplied(earlier, sent, line)
		})
		for _, line := range sent.Lines {
			if err := in.applyReportLine(ctx, tx, sent, line, earlier); err != nil {
				return err
			}
			tx.noteWrite(record.Claim, sent.Generation, line)
		}
		if slices.ContainsFunc(sent.Lines, leaves) {
			tx.step(admission.Leave{ID: record.Claim})
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	in.countFailed(failed)
	return renewed, nil
}

func (in *Intake) countFailed(lines []report.Line) {
	for _, line := range lines {
		in.Observe.StepFailed(line.Verb, line.Code)
	}
}

// comparable are the events that a unit was loaded with to compare a report with.
func (tx *nodeTx) comparable(wants []nodetx.Want) []api.Event {
	if len(wants) == 0 {
		return nil
	}
	return tx.Events()
}

// comparedWith is what a report is compared with: nothing if it is of progress alone, as most are.
func comparedWith(sent report.Report) []nodetx.Want {
	if sent.IsProgress() {
		return nil
	}
	return []nodetx.Want{nodetx.Events(recent), nodetx.Facts}
}

// authenticateReport finds the record of the reporter's token, unless the report is of a plan that
// the node should not follow.
func (tx *nodeTx) authenticateReport(bearer string, sent report.Report) (*token.Record, error) {
	run, allowed := tx.Status().Run, current
	if tx.Detour() != nil && run.Detour != "" {
		allowed = anyAge // a newer binding waits until the detour ends
	}
	record, err := tx.authenticate(bearer, token.Boot, allowed)
	if err != nil {
		return nil, err
	}
	if sent.Generation < tx.Generation() && allowed == current {
		return nil, refusal.New(refusal.Forbidden, "the report is of generation %d, the binding has generation %d",
			sent.Generation, tx.Generation())
	}
	tx.leftJob(sent.Run)
	if tx.ofJob(sent) && !tx.Job().Cancelled.IsZero() { // the node may have another plan already
		return record, nil
	}
	if sent.Run < run.Number {
		return nil, refusal.New(refusal.Forbidden, "the report is of run %d, node %s has got run %d since", sent.Run,
			tx.MAC, run.Number)
	}
	if sent.Run > run.Number || sent.Generation != run.Generation {
		return nil, refusal.Value("body", sent.Run, fmt.Errorf("line 2: generation %d run %d was never issued to node %s",
			sent.Generation, sent.Run, tx.MAC))
	}
	if slices.ContainsFunc(sent.Lines, secret) {
		return record, tx.maySecrets(record)
	}
	return record, nil
}

// alreadyApplied reports whether a line was counted already; a begin also when its end was.
func alreadyApplied(list []api.Event, sent report.Report, line report.Line) bool {
	for _, event := range list {
		same := event.Run == sent.Run && event.Step == line.Step
		if same && (event.Kind == string(line.Kind) || event.Kind == "end" && line.Kind == report.Begin) {
			return true
		}
	}
	return false
}

// addOnce adds an event, unless it was added already in this run: its request is sent again.
func (tx *nodeTx) addOnce(event api.Event) {
	event.Run = tx.Status().Run.Number
	if !slices.ContainsFunc(tx.Events(), func(earlier api.Event) bool {
		return earlier.Kind == event.Kind && earlier.Run == event.Run && earlier.Step == event.Step &&
			earlier.Detail == event.Detail
	}) {
		tx.AddEvent(event)
	}
}

func (in *Intake) applyReportLine(ctx context.Context, tx *nodeTx, sent report.Report, line report.Line,
	earlier []api.Event) error {
	if line.Kind == report.Progress {
		tx.applyProgress(line, tx.Now)
		return nil
	}
	if alreadyApplied(append(earlier, tx.NewEvents()...), sent, line) {
		return nil
	}
	if err := tx.mayRun(sent, line); err != nil {
		return err
	}
	event := api.Event{Kind: string(line.Kind), Generation: sent.Generation, Run: sent.Run, BootID: sent.Boot,
		Step: line.Step, Verb: line.Verb}
	if tx.Status().Run.Detour != "" || tx.ofJob(sent) {
		tx.applyDetourLine(sent, line, event)
		return nil
	}
	moved := tx.bytesMoved(line)
	tx.Status().Step, tx.Status().Verb, tx.Status().Progress = line.Step, line.Verb, nil
	if line.Kind == report.Begin {
		tx.Status().Steps = line.Of
		event.Steps = line.Of
		tx.applyStepStart(line.Verb)
	} else {
		event.Code, event.Seconds, event.Bytes, event.Detail = line.Code, line.Seconds, moved, line.Detail
		event.Received = tx.received(sent, line)
		if err := in.recordErasures(ctx, tx, sent, line); err != nil {
			return err
		}
		if err := in.applyStepEnd(ctx, tx, sent, line); err != nil {
			return err
		}
		if line.Code != 0 {
			event.Detail = line.Reason
		} else if tx.Status().Phase == api.Failed { // a capture that became no image
			event.Detail = tx.Status().Reason
		}
	}
	event.Phase = tx.Status().Phase
	tx.AddEvent(event)
	return nil
}

// applyProgress notes how far the running step is, and when that changed last. A drive that erases itself may report
// nothing for hours; sledc watches it, so the word of the node counts then.
func (tx *nodeTx) applyProgress(line report.Line, at time.Time) {
	status := tx.Status()
	if status.Run.Detour == "" && (status.Step != line.Step || status.Verb != line.Verb) {
		return
	}
	last := status.Progress
	if line.Bytes > 0 || line.Total > 0 { // else it only shows that the node is there
		status.Progress = &api.Progress{Bytes: line.Bytes, Total: line.Total, Rate: line.Rate}
	}
	now := status.Progress
	changed := now != nil && (last == nil || last.Bytes != now.Bytes || last.Total != now.Total)
	if changed || line.Verb == "wipe" && tx.Binding() != nil && tx.Binding().Wipe == "purge" {
		status.Moved = at
	}
}

// bytesMoved returns the bytes that a finished step moved: the last reported figure, or for a write
// too short to report one, the size of the image's content.
func (tx *nodeTx) bytesMoved(line report.Line) int64 {
	last := tx.Status().Progress
	switch {
	case line.Kind != report.End:
		return 0
	case last != nil && tx.Status().Verb == line.Verb && line.Code == 0 && last.Total > 0:
		return last.Total
	case last != nil && tx.Status().Verb == line.Verb:
		return last.Bytes
	case line.Verb == "write" && line.Code == 0 && tx.Binding() != nil && tx.Binding().Source != nil:
		return tx.Binding().Source.UsedBytes
	}
	return 0
}

func (tx *nodeTx) applyStepStart(verb string) {
	step, _ := plan.VerbOf(verb)
	if step.Phase != "" {
		tx.Enter(step.Phase)
	}
	if step.Changes {
		tx.forgetDisk()
	}
	switch verb {
	case "configure":
		tx.Stamped()
	case "capture":
		tx.Status().OS, tx.Status().DiskKept = tx.unconfirmed(), true
	case "idle":
		if tx.Status().Phase != api.Wiped && tx.Status().Phase != api.Captured && tx.Status().Phase != api.Discovered {
			tx.Enter(api.Idle)
		}
	}
}

func (in *Intake) applyStepEnd(ctx context.Context, tx *nodeTx, sent report.Report, line report.Line) error {
	if !line.Detail.IsZero() {
		tx.Status().Detail = line.Detail
	}
	if tx.Binding() != nil && tx.Binding().Capture != "" && tx.captureEnded() {
		return nil // the step that follows a capture changes nothing of what was made
	}
	if line.Code != 0 {
		tx.Enter(api.Failed)
		tx.Status().Code, tx.Status().Reason = line.Code, line.Reason
		return nil
	}
	desired := tx.Binding()
	if desired != nil && desired.Generation != sent.Generation {
		desired = nil
	}
	switch line.Verb {
	case "wipe":
		if desired != nil && desired.Image == "" {
			tx.noteErased(line)
			tx.Enter(api.Wiped)
		}
	case "write":
		if desired != nil {
			tx.Status().Image, tx.Status().Digest = desired.Image, desired.Digest
		}
	case "configure":
		if !line.HostKey.IsZero() {
			tx.Status().OS = &api.OS{HostKey: line.HostKey}
		}
	case "capture":
		return in.recordCapture(ctx, tx, sent, line)
	case "start":
		if !tx.leftForKernel() {
			tx.startedFromMemory(desired)
		}
	case "kexec", "reboot":
		if desired != nil && desired.Configure == api.Unconfigured { // nobody waits for its report
			tx.Enter(api.Unconfirmed)
			tx.Status().Start = cmp.Or(line.Way, "reboot")
			return nil
		}
		tx.Enter(api.Starting)
		tx.recordStart(line.Way, sent.Generation)
	}
	return nil
}
