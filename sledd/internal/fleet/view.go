// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"context"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// bound is a binding as stored: with its user data, and with a copy of the image, which never changes.
type bound struct {
	api.Binding
	Source *api.ImageSpec `json:"source,omitempty"`
}

// captures is where captured images go; nothing is set where nobody said.
type captures struct {
	URLs   []string // bases that nodes fetch images from
	Upload string   // base that nodes put images to
}

// view is one node at one revision of the store, and what is to be changed of it.
type view struct {
	mac      string
	now      time.Time
	node     *api.NodeSpec // nil: not declared
	status   api.Status
	binding  *bound // nil: none
	tokens   []token.Record
	kexecs   kexecs
	dmi      map[string]string // of the node's facts, where they were asked for
	why      string            // it is not started by kexec; empty: it may be
	rescue   *rescue           // nil: none
	extra    [][]store.KV      // answers to extra queries
	read     [6]store.KV       // node, status, binding, tokens, kexecs, rescue as read
	outcomes []string          // of a kexec, for metrics
	events   []api.Event
	more     store.Transaction
	revision int64
	captures captures
}

const (
	iNode = iota
	iStatus
	iBinding
	iTokens
	iKexecs
	iRescue
)

// view begins one of a node as the store has it at a revision.
func (f *Fleet) view(mac string, revision int64) *view {
	return &view{mac: mac, now: f.now(), revision: revision, captures: captures{f.ImageURLs, f.UploadURL}}
}

func (f *Fleet) load(ctx context.Context, mac string, extra ...store.Query) (*view, error) {
	queries := append([]store.Query{store.Key(key.Nodes + mac), store.Key(key.Status + mac),
		store.Key(key.Bindings + mac), store.Key(key.Tokens + mac), store.Key(key.Kexecs + mac), store.Key(rescueKey(mac))}, extra...)
	snapshot, err := f.Store.Read(ctx, queries...)
	if err != nil {
		return nil, err
	}
	v := f.view(mac, snapshot.Revision)
	v.extra = snapshot.Results[len(v.read):]
	for i := range v.read {
		kv, found := snapshot.One(i)
		v.read[i] = kv
		if !found {
			continue
		}
		if err := v.take(i, kv); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (v *view) take(i int, kv store.KV) error {
	switch i {
	case iNode:
		v.node = &api.NodeSpec{}
		return decode(kv, v.node)
	case iStatus:
		return decode(kv, &v.status)
	case iBinding:
		v.binding = &bound{}
		if err := decode(kv, v.binding); err != nil {
			return err
		}
		v.binding.Revision = kv.Revision
		return nil
	case iKexecs:
		return decode(kv, &v.kexecs)
	case iRescue:
		v.rescue = &rescue{}
		return decode(kv, v.rescue)
	default:
		return decode(kv, &v.tokens)
	}
}

// wished is the generation that the node should have: 0 when it is not bound.
func (v *view) wished() int64 {
	if v.binding == nil {
		return 0
	}
	return v.binding.Generation
}

// satisfied says whether the node was observed to have done what is wished.
func (v *view) satisfied() bool { return satisfied(v.binding, v.status) }

func satisfied(binding *bound, status api.Status) bool {
	if binding == nil || binding.Generation != status.Generation {
		return false
	}
	return settled(status) == aim(binding.BindingSpec)
}

// aim is the phase that a wish ends in.
func aim(wish api.BindingSpec) api.Phase {
	switch {
	case wish.Capture != "":
		return api.Captured
	case wish.Image == "":
		return api.Wiped
	}
	return api.Operational
}

// enter changes the phase.
func (v *view) enter(phase api.Phase) {
	if v.status.Phase != phase {
		v.status.Phase = phase
		v.status.Since = v.now
		v.status.Before = ""
	}
}

// happened adds an event; MAC, time and phase are filled in.
func (v *view) happened(event api.Event) { v.events = append(v.events, event) }

// transaction is all that is to be written, on the condition that nothing that was looked at has changed.
func (v *view) transaction() store.Transaction {
	t := v.more
	v.put(&t, iStatus, key.Status+v.mac, encode(v.status), v.status != (api.Status{}))
	v.put(&t, iTokens, key.Tokens+v.mac, encode(v.tokens), len(v.tokens) > 0)
	v.put(&t, iKexecs, key.Kexecs+v.mac, encode(v.kexecs), v.kexecs != (kexecs{}))
	v.put(&t, iRescue, rescueKey(v.mac), encode(v.rescue), v.rescue != nil)
	putEvents(&t, v.mac, v.now, v.status.Phase, v.events)
	if len(t.Do) > 0 {
		for i, name := range []string{key.Nodes, key.Status, key.Bindings, key.Tokens, key.Kexecs, key.Rescues} {
			t.Unchanged(name+v.mac, v.read[i].Revision)
		}
	}
	return t
}

func (v *view) put(t *store.Transaction, i int, name string, value []byte, wanted bool) {
	switch {
	case wanted && !bytes.Equal(value, v.read[i].Value):
		t.Put(name, value)
	case !wanted && v.read[i].Revision != 0:
		t.Delete(name)
	}
}

// putEvents adds events to a transaction, a nanosecond apart, so that each has its key.
func putEvents(t *store.Transaction, mac string, now time.Time, phase api.Phase, list []api.Event) {
	for i, event := range list {
		event.MAC = mac
		event.Time = now.Add(time.Duration(i))
		if event.Phase == "" {
			event.Phase = phase
		}
		name := key.Event(mac, event.Time.UnixNano())
		t.Unchanged(name, 0)
		t.Put(name, encode(event))
	}
}

// update reads a node, lets decide change it, and commits that. A refusal of decide changes nothing.
func (f *Fleet) update(ctx context.Context, mac string, extra []store.Query, decide func(v *view) error) error {
	return retry(ctx, func(ctx context.Context) error {
		v, err := f.load(ctx, mac, extra...)
		if err != nil {
			return err
		}
		if err := decide(v); err != nil {
			return err
		}
		t := v.transaction()
		if len(t.Do) == 0 {
			return nil
		}
		if _, err = f.Store.Commit(ctx, t); err != nil {
			return err
		}
		for _, outcome := range v.outcomes {
			f.Observe.Kexec(outcome)
		}
		return nil
	})
}
