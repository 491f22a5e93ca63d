// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Events gives the newest events of a node, oldest first.
func (f *Fleet) Events(ctx context.Context, reference string, limit int64) (api.EventList, error) {
	_, list, err := f.history(ctx, reference, limit)
	return api.EventList{Items: list}, err
}

// history reads a node and its newest events at one revision.
func (f *Fleet) history(ctx context.Context, reference string, limit int64) (*view, []api.Event, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return nil, nil, err
	}
	query := store.Prefix(key.EventsOf(address))
	query.Limit, query.Descending = limit, true
	v, err := f.load(ctx, address, query)
	if err != nil {
		return nil, nil, err
	}
	if !v.known() {
		return nil, nil, refuse(NotFound, "node %s does not exist", reference)
	}
	list, err := readEvents(v.extra[0])
	slices.Reverse(list)
	return v, list, err
}

// Timeline gives the stages of a node's newest run.
func (f *Fleet) Timeline(ctx context.Context, reference string) (api.Timeline, error) {
	v, list, err := f.history(ctx, reference, events.Most)
	if err != nil {
		return api.Timeline{}, err
	}
	line := events.Timeline(list, v.now)
	line.MAC, line.Phase = v.mac, v.status.Phase
	if v.node != nil {
		line.Name = v.node.Name
	}
	addProgress(&line, v.status)
	return line, nil
}

// addProgress adds what the running step says of itself to its stage.
func addProgress(line *api.Timeline, status api.Status) {
	if status.Progress == nil || len(line.Stages) == 0 {
		return
	}
	if last := &line.Stages[len(line.Stages)-1]; last.Name == status.Verb {
		last.Bytes, last.Rate = status.Progress.Bytes, status.Progress.Rate
	}
}

// Logged gives the last lines that a failed step of the node sent.
func (f *Fleet) Logged(ctx context.Context, reference string) (string, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return "", err
	}
	snapshot, err := f.Store.Read(ctx, store.Key(key.Logs+address))
	if err != nil {
		return "", err
	}
	kv, found := snapshot.One(0)
	if !found {
		return "", refuse(NotFound, "node %s sent no log", reference)
	}
	return strings.ToValidUTF8(string(kv.Value), "\uFFFD"), nil
}

// Note adds what whoever supervises a node did, or found. A node that is lost while its system starts is failed.
func (f *Fleet) Note(ctx context.Context, reference string, note api.NodeEvent) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.update(ctx, address, nil, func(v *view) error {
		if !v.known() {
			return refuse(NotFound, "node %s does not exist", reference)
		}
		if note.Kind == "lost" {
			if v.status.Phase != api.Starting {
				return refuse(Conflict, "node %s is %s, not starting: it cannot be lost", reference, dash(v.status.Phase))
			}
			v.enter(api.Failed)
			v.status.Code, v.status.Reason = 0, note.Detail
			v.settle(missed)
		}
		if note.Kind == "fallback" || note.Kind == "power" {
			v.fallsBack()
		}
		if note.Log != "" {
			v.more.Put(key.Logs+v.mac, []byte(note.Log))
		}
		v.happened(api.Event{Kind: note.Kind, Generation: v.wished(), Detail: note.Detail})
		return nil
	})
}

func dash(phase api.Phase) string {
	if phase == "" {
		return "not seen yet"
	}
	return string(phase)
}
