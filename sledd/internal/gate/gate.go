// SPDX-License-Identifier: Apache-2.0

// Package gate bounds the requests of nodes that work at the same time. The rest wait by class, or are refused before
// any work is done for them: at the store each would run into its deadline, for work that was done in vain. Operators
// do not pass it, so what they find at the store is bounded.
package gate

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

// Class of a request. A lower one goes first.
type Class int

// All classes.
const (
	Step     Class = iota // begin and end of steps, operational
	Script                // boot scripts
	Claim                 // hello, facts
	Transfer              // seeds, captured images, logs
	Poll                  // waits as long as its sender does
	Progress
	classes
)

var names = [classes]string{"step", "script", "claim", "transfer", "poll", "progress"}

func (c Class) String() string { return names[c] }

// patience is how long a request waits for a place: with the deadline of the store it is shorter than the time that
// sledc waits for a response, and for boot scripts and transfers that nginx does. A poll waits as long as its sender.
var patience = [classes]time.Duration{Step: 5 * time.Second, Script: 2 * time.Second, Claim: 10 * time.Second,
	Transfer: 6 * time.Second, Progress: 2 * time.Second}

const (
	places = 64
	// longest time after which a refused request is to be repeated.
	longest = 30 * time.Second
	// firstTime is what a request takes at a place, until that is measured over about smooth requests.
	firstTime = 20 * time.Millisecond
	smooth    = 32
)

// BusyError refuses a request for which there is no place in time.
type BusyError struct {
	Class Class
	After time.Duration // when to repeat it
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("too many requests of class %s wait: repeat this one after %s", e.Class,
		e.After.Round(time.Second))
}

// Gate is one for all nodes.
type Gate struct {
	mu       sync.Mutex
	free     int
	waiting  [classes]list.List // of chan struct{}: closed when the place is handed over
	refused  [classes]int
	took     time.Duration // mean of what a request takes at a place
	promised time.Time     // up to when places are promised to requests that were refused
}

// New makes a gate.
func New() *Gate { return &Gate{free: places, took: firstTime} }

// Enter waits for a place, which leave returns. Errors are *BusyError, and that of the context.
func (g *Gate) Enter(ctx context.Context, class Class) (leave func(), err error) {
	g.mu.Lock()
	if g.free > 0 {
		g.free--
		g.mu.Unlock()
		return g.leaving(), nil
	}
	var limit <-chan time.Time
	if class != Poll {
		if g.ahead(class) > patience[class] {
			defer g.mu.Unlock()
			return nil, g.refuse(class)
		}
		limit = time.After(patience[class])
	}
	place := make(chan struct{})
	waiter := g.waiting[class].PushBack(place)
	g.mu.Unlock()
	select {
	case <-place:
		return g.leaving(), nil
	case <-limit:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-place: // just now
		return g.leaving(), nil
	default:
	}
	g.waiting[class].Remove(waiter)
	if ctx.Err() != nil {
		return nil, ctx.Err() //nolint:wrapcheck // the client is gone
	}
	return nil, g.refuse(class)
}

// ahead is the time until those have worked that would go first.
func (g *Gate) ahead(class Class) time.Duration {
	count := 0
	for c := range class + 1 {
		count += g.waiting[c].Len()
	}
	return time.Duration(count) * g.took / places
}

// refuse promises the next place that is not promised yet: requests that come at the same time return one by one, once
// half of the queue has left. Once all places up to the longest time are promised, it starts again: more requests than
// that must not return together.
func (g *Gate) refuse(class Class) *BusyError {
	g.refused[class]++
	now := time.Now()
	g.promised = g.promised.Add(g.took / places)
	if first := now.Add(patience[class] / 2); g.promised.Before(first) || g.promised.After(now.Add(longest)) {
		g.promised = first
	}
	return &BusyError{Class: class, After: g.promised.Sub(now)}
}

func (g *Gate) leaving() func() {
	begin := time.Now()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.took += (time.Since(begin) - g.took) / smooth
		for class := range classes {
			if first := g.waiting[class].Front(); first != nil {
				close(g.waiting[class].Remove(first).(chan struct{}))
				return
			}
		}
		g.free++
	}
}

// Each calls with every class, how many of it wait, and how many were refused.
func (g *Gate) Each(see func(class string, waiting, refused int)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for class := range classes {
		see(class.String(), g.waiting[class].Len(), g.refused[class])
	}
}
