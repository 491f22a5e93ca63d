// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// awaited is the wait for a payload or a kernel that was started.
type awaited struct {
	tx           *nodetx.Tx
	confirm      string // how it confirms
	text         string // that its console shows then
	since, until time.Time
	confirmed    func(tx *nodeTx)
	over         func(tx *nodeTx)
}

// await returns the wait of a node; nil: it waits for neither.
func (c *consoles) await(tx *nodetx.Tx) *awaited {
	if job := tx.Job(); job.Jumped() {
		return &awaited{tx, job.Confirm, job.Payload().Console, job.Started, job.Until(),
			func(tx *nodeTx) { tx.endPayload(api.JobDone, endedByPayload, "", 0) },
			func(tx *nodeTx) { tx.payloadOver() }}
	}
	payload, since := tx.Awaited(), tx.Status().Since
	if tx.AwaitsKernel() {
		return &awaited{tx: tx, since: since, until: since.Add(api.Starting.Limit()),
			over: func(tx *nodeTx) { tx.silentOnKernel() }}
	}
	if payload == nil {
		return nil
	}
	return &awaited{tx, payload.Confirm, payload.Console, since, payload.Until(since),
		func(tx *nodeTx) { tx.confirmed("by console") },
		func(tx *nodeTx) { tx.unheard() }}
}

// payloads ends the wait for those that have started: by what their console shows, or by their timeout.
func (c *consoles) payloads(ctx context.Context) error {
	addresses := c.in.Hub.Starting()
	if len(addresses) == 0 {
		c.words = searched{}
		return nil
	}
	waits, listened, err := c.waits(ctx, addresses)
	if err != nil {
		return err
	}
	c.each(ctx, &c.words, listened, func(address string, text []byte) error {
		wait := waits[address]
		if !console.Shows(text, wait.since, wait.text) {
			return nil
		}
		delete(waits, address)
		return c.settle(ctx, wait, wait.confirmed)
	})
	for _, wait := range waits {
		if !wait.tx.Now.After(wait.until) {
			continue
		}
		if err := c.settle(ctx, wait, wait.over); err != nil {
			return err
		}
	}
	return nil
}

// waitsTogether is how many nodes are read at once: each has three records, and all share one.
const waitsTogether = (store.MaxOperations - 1) / 3

// waits returns those of some nodes, and the nodes whose consoles confirm.
func (c *consoles) waits(ctx context.Context, addresses []string) (map[string]*awaited, []string, error) {
	waits, listened := map[string]*awaited{}, []string{}
	for some := range slices.Chunk(addresses, waitsTogether) {
		nodes, err := c.in.DB.LoadMany(ctx, some, nodetx.Status, nodetx.BindingOf, nodetx.DetourOf)
		if err != nil {
			return nil, nil, err
		}
		for _, tx := range nodes {
			wait := c.await(tx)
			if wait == nil {
				continue
			}
			waits[tx.MAC] = wait
			if wait.confirm == api.ConfirmConsole {
				listened = append(listened, tx.MAC)
			}
		}
	}
	return waits, listened, nil
}

// settle ends the wait for the payload of a node, unless it has ended since the node was read.
func (c *consoles) settle(ctx context.Context, seen *awaited, end func(tx *nodeTx)) error {
	ctx, cancel := context.WithTimeout(ctx, consoleTime)
	defer cancel()
	return c.in.update(ctx, seen.tx.MAC, nil, func(tx *nodeTx) error {
		if now := c.await(tx.Tx); now != nil && now.since.Equal(seen.since) {
			end(tx)
		}
		return nil
	})
}

// unheard notes that the payload of the node has not confirmed in time.
func (tx *nodeTx) unheard() {
	payload, since := tx.Awaited(), tx.Status().Since
	why := fmt.Sprintf("its payload did not confirm by %s within %.0f s", payload.Confirm,
		payload.Until(since).Sub(since).Seconds())
	reason := nodetext.Clean(tx.withConsole(why))
	tx.Lose(reason)
	tx.AddEvent(api.Event{Kind: "lost", Generation: tx.Generation(), Detail: reason})
}

// withConsole adds the last lines of the console to why the node is not heard, and stores more of it as the log.
func (tx *nodeTx) withConsole(why string) string {
	if shown, err := tx.in.Consoles.Tail(tx.MAC, keptBytes); err == nil {
		tx.Keep(nodetext.RawOf(shown))
	}
	return why + tx.lastWords(tx.Now)
}
