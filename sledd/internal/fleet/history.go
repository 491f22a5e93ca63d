// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Events returns the newest events of a node, oldest first.
func (f *Fleet) Events(ctx context.Context, reference string, limit int64) (api.EventList, error) {
	_, list, err := f.history(ctx, reference, limit)
	return api.EventList{Items: list}, err
}

// history reads a node and its newest events at one revision.
func (f *Fleet) history(ctx context.Context, reference string, limit int64) (*nodeTx, []api.Event, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return nil, nil, err
	}
	tx, err := f.load(ctx, address, nodetx.Events(limit))
	if err != nil {
		return nil, nil, err
	}
	if !tx.Known() {
		return nil, nil, refusal.New(refusal.NotFound, "node %s does not exist", reference)
	}
	list := slices.Clone(tx.Events())
	slices.Reverse(list)
	return tx, list, nil
}

// Timeline returns the stages of a node's newest run.
func (f *Fleet) Timeline(ctx context.Context, reference string) (api.Timeline, error) {
	tx, list, err := f.history(ctx, reference, events.Most)
	if err != nil {
		return api.Timeline{}, err
	}
	line := events.Timeline(list, tx.Now)
	line.MAC, line.Phase = tx.MAC, tx.Status().Phase
	if tx.Node() != nil {
		line.Name = tx.Node().Name
	}
	addProgress(&line, *tx.Status())
	return line, nil
}

// addProgress adds the progress of the running step to its stage.
func addProgress(line *api.Timeline, status api.Status) {
	if status.Progress == nil || len(line.Stages) == 0 {
		return
	}
	if last := &line.Stages[len(line.Stages)-1]; last.Name == status.Verb {
		last.Bytes, last.Rate = status.Progress.Bytes, status.Progress.Rate
	}
}

// Logged returns the last lines that a failed step of the node sent.
func (f *Fleet) Logged(ctx context.Context, reference string) (api.Raw, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Raw{}, err
	}
	snapshot, err := f.Store.Read(ctx, store.Key(key.Logs+address))
	if err != nil {
		return api.Raw{}, err
	}
	kv, found := snapshot.One(0)
	if !found {
		return api.Raw{}, refusal.New(refusal.NotFound, "node %s sent no log", reference)
	}
	return nodetext.RawOf(kv.Value), nil
}

// Note adds what whoever supervises a node did, or found. A node that is lost while its system starts is failed.
func (f *Fleet) Note(ctx context.Context, reference string, note api.NodeEvent) error {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return err
	}
	return f.update(ctx, address, func(tx *nodeTx) error {
		if !tx.Known() {
			return refusal.New(refusal.NotFound, "node %s does not exist", reference)
		}
		if note.Kind == "lost" {
			if tx.Status().Phase != api.Starting {
				return refusal.New(refusal.Conflict, "node %s is %s, not starting: it cannot be lost", reference,
					nodetx.PhaseText(tx.Status().Phase))
			}
			tx.Lose(nodetext.Clean(note.Detail))
		}
		tx.note(note)
		return nil
	})
}

// note adds the event, and what follows from it.
func (tx *nodeTx) note(note api.NodeEvent) {
	if note.Kind == "fallback" || note.Kind == "power" {
		tx.RecordColdStart()
	}
	tx.Keep(nodetext.RawOf([]byte(note.Log)))
	tx.AddEvent(api.Event{Kind: note.Kind, Generation: tx.Generation(), Detail: nodetext.Clean(note.Detail)})
}
