// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// payloads ends the wait for those that have started: by what their console shows, or by their timeout.
func (c *consoles) payloads(ctx context.Context) error {
	addresses := c.in.Hub.Starting()
	if len(addresses) == 0 {
		c.words = searched{}
		return nil
	}
	nodes, err := c.in.DB.LoadMany(ctx, addresses, nodetx.Status, nodetx.BindingOf)
	if err != nil {
		return err
	}
	awaited, listened := map[string]*nodetx.Tx{}, []string{}
	for _, tx := range nodes {
		payload := tx.Awaited()
		if payload == nil {
			continue
		}
		awaited[tx.MAC] = tx
		if payload.Confirm == api.ConfirmConsole {
			listened = append(listened, tx.MAC)
		}
	}
	c.each(ctx, &c.words, listened, func(address string, text []byte) error {
		tx := awaited[address]
		if !console.Shows(text, tx.Status().Since, tx.Awaited().Console) {
			return nil
		}
		delete(awaited, address)
		return c.in.settle(ctx, tx, func(tx *nodeTx) { tx.confirmed("by console") })
	})
	for _, tx := range awaited {
		if !tx.Now.After(tx.Awaited().Until(tx.Status().Since)) {
			continue
		}
		if err := c.in.settle(ctx, tx, func(tx *nodeTx) { tx.unheard(c.directory) }); err != nil {
			return err
		}
	}
	return nil
}

// settle ends the wait for the payload of a node, unless it has ended since the node was read.
func (in *Intake) settle(ctx context.Context, seen *nodetx.Tx, end func(tx *nodeTx)) error {
	ctx, cancel := context.WithTimeout(ctx, consoleTime)
	defer cancel()
	return in.update(ctx, seen.MAC, nil, func(tx *nodeTx) error {
		if tx.Awaited() != nil && tx.Status().Since.Equal(seen.Status().Since) {
			end(tx)
		}
		return nil
	})
}

// unheard notes that the payload of the node has not confirmed in time.
func (tx *nodeTx) unheard(consoles console.Directory) {
	payload, since := tx.Awaited(), tx.Status().Since
	why := fmt.Sprintf("its payload did not confirm by %s within %.0f s", payload.Confirm,
		payload.Until(since).Sub(since).Seconds())
	if last := lastOf(consoles, tx.MAC); last != "" {
		why += "; its console ends: " + last
	}
	reason := nodetext.Clean(why)
	tx.Lose(reason)
	if shown, err := consoles.Tail(tx.MAC, keptBytes); err == nil {
		tx.Keep(nodetext.RawOf(shown))
	}
	tx.AddEvent(api.Event{Kind: "lost", Generation: tx.Generation(), Detail: reason})
}
