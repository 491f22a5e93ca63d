// SPDX-License-Identifier: Apache-2.0

// Package capacity keeps room in the store: it counts how full it is, refuses writes that others can cause before the
// writes of operators fail, and heals a store that has reached its quota.
package capacity

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Class is who causes a write.
type Class int

// The classes. Writes of no class, such as those of operators, are never refused.
const (
	Undeclared Class = iota + 1 // machines that no operator has declared
	Claims                      // claims to be a node, without evidence
	Logs                        // logs of declared nodes
)

// limits are the parts of the quota, in percent, above which a class is refused.
var limits = map[Class]int64{Undeclared: 50, Claims: 50, Logs: 80}

var names = map[Class]string{Undeclared: "machines that are not declared", Claims: "claims", Logs: "logs of nodes"}

const (
	// busy and idle are how often the size is read while something is written, and otherwise.
	busy = time.Second
	idle = 10 * time.Second
	// pressed is the part of the quota, in percent, above which history is dropped early: otherwise those who send a lot
	// would fill the store with former values.
	pressed = 25
	// recent is how much history is kept then, for watches that resume, and how often it is dropped.
	recent = 30 * time.Second
	// again is the shortest time between two heals that nobody requested.
	again = time.Hour
	// healTime bounds one heal: a defragmentation copies all that is in use.
	healTime = 5 * time.Minute
)

// Sized is a store that knows its size.
type Sized interface {
	Usage(ctx context.Context) (store.Usage, error)
	Compact(ctx context.Context, revision int64) error
	Heal(ctx context.Context) error
}

// Gauge is the one counter of the size of a store.
type Gauge struct {
	sized Sized
	log   *slog.Logger
	now   func() time.Time
	full  chan struct{} // a write was refused for want of room

	healing sync.Mutex // one heal at a time

	older, newer mark // of Run

	mu      sync.Mutex
	usage   store.Usage
	written int64 // bytes since the usage was read
	healed  time.Time
	refused time.Time // when a write last found no room
}

// mark is the newest revision at a time.
type mark struct {
	at       time.Time
	revision int64
}

// New makes a Gauge; Run makes it work.
func New(sized Sized, log *slog.Logger) *Gauge {
	return &Gauge{sized: sized, log: log, now: time.Now, full: make(chan struct{}, 1)}
}

// Allow refuses a write of a class when the store is too full for it.
func (g *Gauge) Allow(class Class) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.allowed(class) {
		return nil
	}
	return refusal.New(refusal.Full, "%d%% of the store are in use, and %s may write up to %d%%: see sledctl store",
		g.percent(), names[class], limits[class])
}

func (g *Gauge) allowed(class Class) bool {
	return g.usage.Quota == 0 || (g.usage.InUse+g.written)*100 <= g.usage.Quota*limits[class]
}

func (g *Gauge) percent() int64 { return (g.usage.InUse + g.written) * 100 / g.usage.Quota }

// Refused names whose writes are refused now.
func (g *Gauge) Refused() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	refused := []string{}
	for _, class := range []Class{Undeclared, Claims, Logs} {
		if !g.allowed(class) {
			refused = append(refused, names[class])
		}
	}
	return refused
}

// Usage reads how full the store is.
func (g *Gauge) Usage(ctx context.Context) (store.Usage, error) {
	usage, err := g.sized.Usage(ctx)
	if err != nil {
		return usage, fmt.Errorf("size of the store: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.usage, g.written = usage, 0
	return usage, nil
}

// Known returns the usage as it was read last.
func (g *Gauge) Known() store.Usage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.usage
}

// FullSince tells whether a write has found no room since a time.
func (g *Gauge) FullSince(at time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused.After(at)
}

// Full tells whether no write finds room.
func (g *Gauge) Full() bool {
	alarms := g.Known().Alarms
	return slices.Contains(alarms, store.NoSpace) || slices.Contains(alarms, store.Disk)
}

// Heal makes room in the store. It continues when the caller does not wait for its end.
func (g *Gauge) Heal(ctx context.Context) error {
	g.healing.Lock()
	defer g.healing.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healTime)
	defer cancel()
	if err := g.sized.Heal(ctx); err != nil {
		return fmt.Errorf("heal the store: %w", err)
	}
	_, err := g.Usage(ctx)
	return err
}

// Run reads the size of the store until the context ends, and heals a store that is full: once, because one that is
// full again soon needs somebody who looks why.
func (g *Gauge) Run(ctx context.Context) {
	for ctx.Err() == nil {
		usage, err := g.Usage(ctx)
		if err != nil && ctx.Err() == nil {
			g.log.Warn("the size of the store is not known", "error", err)
		}
		if slices.Contains(usage.Alarms, store.NoSpace) {
			g.healOnce(ctx)
		} else if err == nil {
			g.relieve(ctx, usage)
		}
		g.rest(ctx)
	}
}

// relieve drops history that is not recent any more, if much of the store is in use.
func (g *Gauge) relieve(ctx context.Context, usage store.Usage) {
	now := g.now()
	if now.Sub(g.newer.at) < recent {
		return
	}
	g.older, g.newer = g.newer, mark{now, usage.Revision}
	if g.older.revision == 0 || usage.InUse*100 < usage.Quota*pressed {
		return
	}
	if err := g.sized.Compact(ctx, g.older.revision); err != nil && ctx.Err() == nil {
		g.log.Warn("the history of the store was not dropped early", "error", err)
	}
}

// rest waits until the size should be read again.
func (g *Gauge) rest(ctx context.Context) {
	ticker := time.NewTicker(busy)
	defer ticker.Stop()
	for range idle / busy {
		select {
		case <-ctx.Done():
			return
		case <-g.full:
			return
		case <-ticker.C:
		}
		if g.dirty() {
			return
		}
	}
}

func (g *Gauge) dirty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.written > 0
}

func (g *Gauge) healOnce(ctx context.Context) {
	g.mu.Lock()
	late := g.now().Sub(g.healed) < again
	if !late {
		g.healed = g.now()
	}
	g.mu.Unlock()
	if late {
		g.log.Error("the store is full again: see sledctl store, delete what is not needed, then run sledctl store heal")
		return
	}
	g.log.Warn("the store is full and is healed: it is compacted and defragmented")
	if err := g.Heal(ctx); err != nil {
		g.log.Error("the store is full and could not be healed: run sledctl store heal", "error", err)
		return
	}
	usage := g.Known()
	g.log.Info("the store is healed", "in_use", usage.InUse, "quota", usage.Quota)
}

// overflow remembers that a write found no room, and wakes Run.
func (g *Gauge) overflow() {
	g.mu.Lock()
	g.refused = g.now()
	g.mu.Unlock()
	select {
	case g.full <- struct{}{}:
	default:
	}
}

// counted is a store whose writes are counted.
type counted struct {
	store.Store
	gauge *Gauge
}

// Count wraps the store whose size the Gauge knows.
func (g *Gauge) Count(s store.Store) store.Store { return counted{s, g} }

// Commit implements store.Store.
func (c counted) Commit(ctx context.Context, t store.Transaction) (int64, error) {
	revision, err := c.Store.Commit(ctx, t)
	if errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrDiskFull) {
		c.gauge.overflow()
	}
	if err != nil {
		return revision, err //nolint:wrapcheck // is the store
	}
	var size int64
	for _, operation := range t.Do {
		size += int64(len(operation.Key) + len(operation.Value))
	}
	c.gauge.mu.Lock()
	c.gauge.written += size
	c.gauge.mu.Unlock()
	return revision, nil
}
