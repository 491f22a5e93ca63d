// SPDX-License-Identifier: Apache-2.0

// Package events watches the store once and notifies all waiters in this process: long polls, event
// streams, metrics. It also bounds the number of events of a node, and computes timelines.
package events

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// backlog is how many batches a slow listener may be behind before it is cut off.
	backlog = 256
	// pause before a broken watch is started again.
	pause = 500 * time.Millisecond
	// tailSize is how many events are held for streams that resume; at 300 bytes each, this is 15 MB.
	tailSize = 50_000
	// replayed revisions of the store fill the tail when sledd starts, as far as the store still has them.
	replayed = 20_000
)

// ErrGone is returned to a listener that resumes after an event so old that the ones since are not all held.
var ErrGone = errors.New("the events since are not held any more")

// Listener receives events until it is cut off, which closes the channel: when it is too slow, or
// when history was lost.
type Listener struct {
	C     chan []Record // of whole revisions, in order
	node  string        // empty: all
	after int64         // revision; earlier events are not for it
}

// Hub fans one watch out.
type Hub struct {
	store store.Store
	log   *slog.Logger
	trim  *trimmer

	followers []Follower

	started chan struct{} // closed when the watch was started for the first time
	once    sync.Once

	mu        sync.Mutex
	revision  int64 // up to which the watch has come
	known     int64 // at which the phases were read: what the watch shows of earlier ones only fills the tail
	tail      tail
	phases    map[string]api.Phase // by MAC
	due       map[string]time.Time // when a node became overdue, or will
	found     map[string]Discovered
	waiting   map[string]map[chan struct{}]bool
	listeners map[*Listener]bool
	calls     map[string]string   // the newest of each node: what its admission calls for
	alarms    map[string][]string // kinds of those that no operator has acknowledged, by MAC
	starting  map[string]bool     // by MAC: its system was started from memory, and has not confirmed
	unproven  map[string]bool     // by MAC: a claim or the incumbent has no evidence of level proven
}

// New makes a Hub; Run makes it work.
func New(s store.Store, log *slog.Logger) *Hub {
	return &Hub{store: s, log: log, trim: newTrimmer(s, log), started: make(chan struct{}), phases: map[string]api.Phase{},
		due:     map[string]time.Time{},
		found:   map[string]Discovered{},
		waiting: map[string]map[chan struct{}]bool{}, calls: map[string]string{}, alarms: map[string][]string{},
		starting:  map[string]bool{},
		unproven:  map[string]bool{},
		listeners: map[*Listener]bool{}, tail: tail{size: tailSize}}
}

// Run watches until the context ends, through any failure of the store.
func (h *Hub) Run(ctx context.Context) {
	go h.trim.run(ctx)
	for ctx.Err() == nil {
		err := h.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		h.log.Warn("the watch of the store broke and is started again", "error", err)
		h.reset()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (h *Hub) watch(ctx context.Context) error {
	h.mu.Lock()
	revision := h.revision
	h.mu.Unlock()
	if revision == 0 {
		if err := h.begin(ctx); err != nil {
			return err
		}
		h.mu.Lock()
		revision = h.revision
		h.mu.Unlock()
	}
	err := h.store.Watch(ctx, key.Root, revision, h.see)
	var compacted *store.CompactedError
	if errors.As(err, &compacted) {
		return h.compacted(compacted.Revision)
	}
	return err
}

// compacted continues after a watch whose history the store holds only after a revision. The events before that are
// missing from the tail, and nothing else. If changes since the start are lost, all phases are read again, and every
// waiter checks for itself.
func (h *Hub) compacted(after int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.revision < h.known && after <= h.known {
		h.revision = max(after, h.revision+1)
		h.tail.restart(h.revision)
		return nil
	}
	h.revision = 0
	return store.ErrCompacted
}

// begin reads all phases, wakes all long polls and cuts off all listeners, who will ask for what they missed.
func (h *Hub) begin(ctx context.Context) error {
	snapshot, err := h.store.Read(ctx, store.Prefix(key.Status), store.Prefix(key.Admissions))
	if err != nil {
		return err
	}
	h.reset() // after the read: what they read from now on is not older than the watch
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = snapshot.Revision
	h.revision = max(0, h.known-replayed)
	h.tail.restart(h.revision)
	clear(h.phases)
	clear(h.due)
	clear(h.found)
	clear(h.alarms)
	clear(h.starting)
	clear(h.unproven)
	for _, kv := range snapshot.Results[0] {
		h.phase(kv, false)
	}
	for _, kv := range snapshot.Results[1] {
		h.admission(kv)
	}
	for mac := range h.waiting {
		h.wake(mac)
	}
	for listener := range h.listeners {
		h.cut(listener)
	}
	h.once.Do(func() { close(h.started) })
	return nil
}

func (h *Hub) see(batch store.Batch) {
	for _, follower := range h.followers {
		follower.See(batch)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision = batch.Revision
	var list []Record
	for _, change := range batch.Changes {
		isNew := change.Revision > h.known
		switch {
		case strings.HasPrefix(change.Key, key.Events) && !change.Deleted:
			if record, ok := h.record(change.KV, isNew); ok {
				list = append(list, record)
			}
		case !isNew:
		case strings.HasPrefix(change.Key, key.Bindings):
			h.wake(strings.TrimPrefix(change.Key, key.Bindings))
		case strings.HasPrefix(change.Key, key.Detours):
			h.wake(strings.TrimPrefix(change.Key, key.Detours))
		case strings.HasPrefix(change.Key, key.Admissions):
			h.admission(change.KV)
		case strings.HasPrefix(change.Key, key.Status):
			h.phase(change.KV, change.Deleted)
		}
	}
	if len(list) > 0 {
		h.tail.add(list)
		h.tell(list)
	}
}

// record encodes an event for everybody who follows.
func (h *Hub) record(kv store.KV, isNew bool) (Record, bool) {
	event, err := Read(kv)
	var data []byte
	if err == nil {
		data, err = json.Marshal(event)
	}
	if err != nil {
		h.log.Error("an event cannot be read", "key", kv.Key, "error", err)
		return Record{}, false
	}
	if mac, copied := copiedTo(kv); copied {
		h.trim.forget(mac)
		return Record{}, false
	}
	if isNew {
		h.trim.added(event.MAC)
	}
	return Record{ID: event.ID, MAC: event.MAC, Data: data}, true
}

func (h *Hub) tell(list []Record) {
	for listener := range h.listeners {
		mine := ofNode(newer(list, listener.after), listener.node)
		if len(mine) == 0 {
			continue
		}
		select {
		case listener.C <- mine:
		default:
			h.cut(listener)
		}
	}
}

// newer leaves out the events up to a revision.
func newer(list []Record, after int64) []Record {
	first := sort.Search(len(list), func(i int) bool { return list[i].ID > after })
	return list[first:]
}

func (h *Hub) cut(listener *Listener) {
	if h.listeners[listener] {
		delete(h.listeners, listener)
		close(listener.C)
	}
}

func (h *Hub) wake(mac string) {
	for channel := range h.waiting[mac] {
		select {
		case channel <- struct{}{}:
		default:
		}
	}
}

// Wait returns a channel that receives a value when the binding of a node changed, and a function that ends the wait.
func (h *Hub) Wait(mac string) (wake <-chan struct{}, forget func()) {
	channel := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[mac] == nil {
		h.waiting[mac] = map[chan struct{}]bool{}
	}
	h.waiting[mac][channel] = true
	return channel, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.waiting[mac], channel)
		if len(h.waiting[mac]) == 0 {
			delete(h.waiting, mac)
		}
	}
}

// Listen delivers the events of a node or (empty) of all. After an event's ID it also returns those
// that were missed since then, or ErrGone; with 0 it delivers those from now on. It waits until the
// watch has started. The caller must call Leave in the end.
func (h *Hub) Listen(ctx context.Context, node string, after int64) (*Listener, []Record, error) {
	select {
	case <-h.started:
	case <-ctx.Done():
		return nil, nil, &store.UnavailableError{Operation: "watch", Err: ctx.Err()}
	}
	listener := &Listener{C: make(chan []Record, backlog), node: node, after: after}
	now, err := h.now(ctx)
	if err != nil {
		return nil, nil, err
	}
	if after > now { // an event of another store, or of this one before it was put back to an earlier state
		return nil, nil, ErrGone
	}
	if after == 0 {
		listener.after = now
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	missed, held := h.tail.since(listener.after, node)
	if !held && after > 0 {
		return nil, nil, ErrGone
	}
	h.listeners[listener] = true
	return listener, missed, nil
}

// now returns the revision of the store: the watch of this process may be behind it.
func (h *Hub) now(ctx context.Context) (int64, error) {
	query := store.Prefix(key.Operators)
	query.Limit, query.KeysOnly = 1, true
	snapshot, err := h.store.Read(ctx, query)
	return snapshot.Revision, err
}

// Leave ends a Listen.
func (h *Hub) Leave(listener *Listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut(listener)
}

// Waiting is the number of long polls that wait.
func (h *Hub) Waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, channels := range h.waiting {
		n += len(channels)
	}
	return n
}
