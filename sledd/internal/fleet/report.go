// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/plan"
	"github.com/sled-fleet/sled/sledd/internal/report"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// recent is how many of the newest events are looked through for what was said before.
const recent = 100

// Report takes what a node says of its steps. What it says again is counted once.
func (f *Fleet) Report(ctx context.Context, mac, bearer string, said report.Report) (string, error) {
	query := store.Prefix(key.EventsOf(mac))
	query.Limit, query.Descending = recent, true
	renewed := ""
	var failed []report.Line
	err := f.update(ctx, mac, []store.Query{query, store.Key(key.Facts + mac)}, func(v *view) error {
		record, err := v.reporter(bearer, said)
		if err != nil {
			return err
		}
		earlier, err := readEvents(v.extra[0])
		if err != nil {
			return err
		}
		if err := v.readDMI(v.extra[1]); err != nil {
			return err
		}
		earlier = thisRun(earlier)
		renewed = f.renew(v, record)
		v.status.Seen, v.status.BootID = v.now, said.Boot
		failed = failed[:0]
		for _, line := range said.Lines {
			if line.Kind == report.End && line.Code != 0 && !before(append(earlier, v.events...), said, line) {
				failed = append(failed, line)
			}
			if err := f.hear(ctx, v, said, line, earlier); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, line := range failed {
		f.Observe.StepFailed(line.Verb, line.Code)
	}
	return renewed, nil
}

// reporter finds the token's record of whoever reports, unless the report is of a plan that the node should not follow.
func (v *view) reporter(bearer string, said report.Report) (*token.Record, error) {
	allowed := current
	if v.rescue != nil && ofRescue(said) {
		allowed = anyAge // a newer wish waits until the rescue ends
	}
	record, err := v.authenticate(bearer, token.Boot, allowed)
	if err != nil {
		return nil, err
	}
	if said.Generation < v.wished() && allowed == current {
		return nil, refuse(Forbidden, "the report is of generation %d, generation %d is wished", said.Generation, v.wished())
	}
	if said.Generation > v.status.Generation {
		return nil, invalid("body", said.Generation, fmt.Errorf("line 2: generation %d was never given to node %s", said.Generation, v.mac))
	}
	return record, nil
}

// ofRescue says whether a report is of the step rescue alone.
func ofRescue(said report.Report) bool {
	return !slices.ContainsFunc(said.Lines, func(line report.Line) bool { return line.Verb != "rescue" })
}

func readEvents(stored []store.KV) ([]api.Event, error) {
	list := make([]api.Event, len(stored))
	for i, kv := range stored {
		if err := decode(kv, &list[i]); err != nil {
			return nil, err
		}
		list[i].ID = kv.Revision
	}
	return list, nil
}

// thisRun leaves out what was before the newest plan of one step: at the begin and the end of a rescue, generation and step are those of
// the plan before. The list begins with the newest.
func thisRun(list []api.Event) []api.Event {
	for i, event := range list {
		if event.Kind == "plan" && event.Steps == 1 {
			return list[:i]
		}
	}
	return list
}

// before says whether a line was counted already; a begin also when its end was.
func before(list []api.Event, said report.Report, line report.Line) bool {
	for _, event := range list {
		same := event.BootID == said.Boot && event.Generation == said.Generation && event.Step == line.Step
		if same && (event.Kind == string(line.Kind) || event.Kind == "end" && line.Kind == report.Begin) {
			return true
		}
	}
	return false
}

func (f *Fleet) hear(ctx context.Context, v *view, said report.Report, line report.Line, earlier []api.Event) error {
	if line.Kind == report.Progress {
		if v.status.Step == line.Step && v.status.Verb == line.Verb {
			v.status.Progress = &api.Progress{Bytes: line.Bytes, Total: line.Total, Rate: line.Rate}
		}
		return nil
	}
	if before(append(earlier, v.events...), said, line) {
		return nil
	}
	event := api.Event{Kind: string(line.Kind), Generation: said.Generation, BootID: said.Boot, Step: line.Step, Verb: line.Verb}
	if v.onDetour(line) {
		event.Code, event.Seconds, event.Detail, event.Phase = line.Code, line.Seconds, line.Detail, v.status.Phase
		if line.Code != 0 {
			event.Detail = line.Reason
		}
		v.happened(event)
		return nil
	}
	moved := v.moved(line)
	v.status.Step, v.status.Verb, v.status.Progress = line.Step, line.Verb, nil
	if line.Kind == report.Begin {
		v.status.Steps = line.Of
		event.Steps = line.Of
		v.began(line.Verb)
	} else {
		event.Code, event.Seconds, event.Bytes, event.Detail = line.Code, line.Seconds, moved, line.Detail
		if err := f.ended(ctx, v, said, line); err != nil {
			return err
		}
		if line.Code != 0 {
			event.Detail = line.Reason
		} else if v.status.Phase == api.Failed { // a capture that became no image
			event.Detail = v.status.Reason
		}
	}
	event.Phase = v.status.Phase
	v.happened(event)
	return nil
}

// moved is how much a step that ends has moved: what it said last, or for a write that was too short to say, what the image holds.
func (v *view) moved(line report.Line) int64 {
	last := v.status.Progress
	switch {
	case line.Kind != report.End:
		return 0
	case last != nil && v.status.Verb == line.Verb && line.Code == 0 && last.Total > 0:
		return last.Total
	case last != nil && v.status.Verb == line.Verb:
		return last.Bytes
	case line.Verb == "write" && line.Code == 0 && v.binding != nil && v.binding.Source != nil:
		return v.binding.Source.UsedBytes
	}
	return 0
}

func (v *view) began(verb string) {
	step, _ := plan.VerbOf(verb)
	if step.Phase != "" {
		v.enter(step.Phase)
	}
	if step.Changes {
		v.changes()
	}
	switch verb {
	case "capture":
		v.status.OS, v.status.DiskKept = nil, true
	case "idle":
		if v.status.Phase != api.Wiped && v.status.Phase != api.Captured && v.status.Phase != api.Discovered {
			v.enter(api.Idle)
		}
	}
}

// changes notes that the disk is no longer what it was.
func (v *view) changes() {
	v.status.Image, v.status.Digest, v.status.OS, v.status.DiskKept = "", "", nil, false
}

func (f *Fleet) ended(ctx context.Context, v *view, said report.Report, line report.Line) error {
	if line.Detail != "" {
		v.status.Detail = line.Detail
	}
	if v.binding != nil && v.binding.Capture != "" && v.finished() {
		return nil // the step that follows a capture changes nothing of what was made
	}
	if line.Code != 0 {
		v.enter(api.Failed)
		v.status.Code, v.status.Reason = line.Code, line.Reason
		return nil
	}
	wish := v.binding
	if wish != nil && wish.Generation != said.Generation {
		wish = nil
	}
	switch line.Verb {
	case "wipe":
		if wish != nil && wish.Image == "" {
			v.enter(api.Wiped)
		}
	case "write":
		if wish != nil {
			v.status.Image, v.status.Digest = wish.Image, wish.Digest
		}
	case "capture":
		return f.captured(ctx, v, said, line)
	case "kexec", "reboot":
		v.enter(api.Starting)
		v.starts(line.Way, said.Generation)
	}
	return nil
}

// Facts takes the hardware of a node. It is welcome with any live token: it does not depend on what is wished.
func (f *Fleet) Facts(ctx context.Context, mac, bearer string, facts api.Facts, uptime float64) (string, error) {
	renewed := ""
	err := f.update(ctx, mac, []store.Query{store.Key(key.Facts + mac)}, func(v *view) error {
		record, err := v.authenticate(bearer, token.Boot, anyAge)
		if err != nil {
			return err
		}
		renewed = f.renew(v, record)
		v.status.Seen, v.status.BootID, v.status.Architecture = v.now, facts.BootID, reportedArchitecture(facts)
		if len(v.extra[0]) > 0 {
			var old api.Facts
			if err := decode(v.extra[0][0], &old); err != nil {
				return err
			}
			if old.BootID == facts.BootID {
				return nil // sent again
			}
		}
		facts.Time = v.now
		v.more.Put(key.Facts+mac, encode(facts))
		v.happened(api.Event{Kind: "facts", BootID: facts.BootID, Seconds: uptime})
		return nil
	})
	return renewed, err
}

// Log takes the last lines of a step.
func (f *Fleet) Log(ctx context.Context, mac, bearer string, step int, text []byte) (string, error) {
	renewed := ""
	err := f.update(ctx, mac, nil, func(v *view) error {
		allowed := current
		if v.rescue != nil {
			allowed = anyAge
		}
		record, err := v.authenticate(bearer, token.Boot, allowed)
		if err != nil {
			return err
		}
		renewed = f.renew(v, record)
		v.status.Seen = v.now
		v.more.Put(key.Logs+mac, text)
		v.happened(api.Event{Kind: "log", Generation: v.status.Generation, Step: step})
		return nil
	})
	return renewed, err
}
