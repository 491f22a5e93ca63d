// SPDX-License-Identifier: Apache-2.0

// Package events watches the store once and tells everybody in this process who waits: long polls, event streams, metrics. It
// also keeps the number of events of a node bounded, and computes timelines.
package events

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
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
	// pause before a broken watch is begun again.
	pause = 500 * time.Millisecond
)

// Batch is the events of whole revisions of the store, in order.
type Batch struct {
	Revision int64
	Events   []api.Event
}

// Listener is told of events until it is cut off, which closes the channel: when it is too slow, or when history was lost.
type Listener struct {
	C    chan Batch
	node string // empty: all
}

// Hub fans one watch out.
type Hub struct {
	store store.Store
	log   *slog.Logger
	trim  *trimmer

	started chan struct{} // closed when the watch has begun for the first time
	once    sync.Once

	mu        sync.Mutex
	revision  int64
	phases    map[string]api.Phase // by MAC
	waiting   map[string]map[chan struct{}]bool
	listeners map[*Listener]bool
}

// New makes a Hub; Run makes it work.
func New(s store.Store, log *slog.Logger) *Hub {
	return &Hub{store: s, log: log, trim: newTrimmer(s, log), started: make(chan struct{}), phases: map[string]api.Phase{},
		waiting: map[string]map[chan struct{}]bool{}, listeners: map[*Listener]bool{}}
}

// Run watches until the context ends, through any failure of the store.
func (h *Hub) Run(ctx context.Context) {
	go h.trim.run(ctx)
	for ctx.Err() == nil {
		err := h.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		h.log.Warn("the watch of the store broke and begins again", "error", err)
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
		revision = h.revision
	}
	err := h.store.Watch(ctx, key.Root, revision, h.see)
	if errors.Is(err, store.ErrCompacted) {
		h.mu.Lock()
		h.revision = 0 // what happened in between is lost: read all phases again, and let everybody look for themselves
		h.mu.Unlock()
	}
	return err
}

// begin reads all phases, wakes all long polls and cuts off all listeners, who will ask for what they missed.
func (h *Hub) begin(ctx context.Context) error {
	snapshot, err := h.store.Read(ctx, store.Prefix(key.Status))
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision = snapshot.Revision
	clear(h.phases)
	for _, kv := range snapshot.Results[0] {
		h.phase(kv, false)
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
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision = batch.Revision
	var list []api.Event
	for _, change := range batch.Changes {
		switch {
		case strings.HasPrefix(change.Key, key.Bindings):
			h.wake(strings.TrimPrefix(change.Key, key.Bindings))
		case strings.HasPrefix(change.Key, key.Rescues):
			h.wake(strings.TrimPrefix(change.Key, key.Rescues))
		case strings.HasPrefix(change.Key, key.Status):
			h.phase(change.KV, change.Deleted)
		case strings.HasPrefix(change.Key, key.Events) && !change.Deleted:
			if event, ok := h.event(change.KV); ok {
				list = append(list, event)
			}
		}
	}
	if len(list) > 0 {
		h.tell(Batch{Revision: batch.Revision, Events: list})
	}
}

func (h *Hub) event(kv store.KV) (api.Event, bool) {
	var event api.Event
	if err := json.Unmarshal(kv.Value, &event); err != nil {
		h.log.Error("an event cannot be read", "key", kv.Key, "error", err)
		return event, false
	}
	event.ID = kv.Revision
	h.trim.added(event.MAC)
	return event, true
}

func (h *Hub) phase(kv store.KV, deleted bool) {
	mac := strings.TrimPrefix(kv.Key, key.Status)
	var status api.Status
	if err := json.Unmarshal(kv.Value, &status); deleted || err != nil || status.Phase == "" {
		delete(h.phases, mac)
		return
	}
	h.phases[mac] = status.Phase
}

func (h *Hub) tell(batch Batch) {
	for listener := range h.listeners {
		mine := batch
		if listener.node != "" {
			mine.Events = nil
			for _, event := range batch.Events {
				if event.MAC == listener.node {
					mine.Events = append(mine.Events, event)
				}
			}
		}
		if len(mine.Events) == 0 {
			continue
		}
		select {
		case listener.C <- mine:
		default:
			h.cut(listener)
		}
	}
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

// Wait gives a channel that is told when the wish for a node changed, and a function to call in the end.
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

// Listen tells of all events from now on, of one node or (empty) of all. Call Leave in the end. It waits for the watch to have begun.
func (h *Hub) Listen(ctx context.Context, node string) (*Listener, error) {
	select {
	case <-h.started:
	case <-ctx.Done():
		return nil, &store.UnavailableError{Operation: "watch", Err: ctx.Err()}
	}
	listener := &Listener{C: make(chan Batch, backlog), node: node}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners[listener] = true
	return listener, nil
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

// Phases counts the nodes in each phase.
func (h *Hub) Phases() map[api.Phase]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := map[api.Phase]int{}
	for phase := range maps.Values(h.phases) {
		count[phase]++
	}
	return count
}
