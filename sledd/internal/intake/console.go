// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"log/slog"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/console"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

const (
	// consolePause is the time between two searches of the consoles.
	consolePause = time.Second
	// consoleBytes of the end of a record are searched. A node repeats its code each minute.
	consoleBytes = 64 << 10
	// keptBytes of the end of a record are the log of a node whose payload did not confirm.
	keptBytes = 16 << 10
	// consoleTime is for storing what was found.
	consoleTime = 5 * time.Second
)

// consoles searches the records of consoles for the codes of claims, and for the words of payloads.
type consoles struct {
	in    *Intake
	codes searched
	words searched
	log   *slog.Logger
}

// searched is how far the consoles of some nodes were searched for something.
type searched struct {
	read   map[string]console.Mark // by MAC: the records as they were searched last
	failed map[string]string       // by MAC: why the last search failed
}

// WatchConsoles takes claim codes on the consoles of nodes as evidence for the claims, and ends the wait for payloads,
// until the context ends.
func (in *Intake) WatchConsoles(ctx context.Context, log *slog.Logger) {
	watch := consoles{in: in, log: log}
	ticker := time.NewTicker(consolePause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		watch.search(ctx)
	}
}

// search looks at the consoles of all nodes that have a claim or an incumbent without proof, and at the payloads that
// have started.
func (c *consoles) search(ctx context.Context) {
	c.each(ctx, &c.codes, c.in.Hub.Unproven(), func(address string, text []byte) error {
		return c.in.sawOnConsole(ctx, address, console.Sightings(text))
	})
	if err := c.payloads(ctx); err != nil && ctx.Err() == nil {
		c.log.Warn("it is not known which payloads have confirmed", "error", err)
	}
}

// each looks at the consoles of some nodes.
func (c *consoles) each(ctx context.Context, past *searched, addresses []string,
	take func(address string, text []byte) error) {
	now := searched{map[string]console.Mark{}, map[string]string{}}
	for _, address := range addresses {
		mark, err := c.look(address, past.read[address], take)
		now.read[address] = mark
		if err != nil && ctx.Err() == nil {
			now.failed[address] = err.Error()
			if past.failed[address] != err.Error() {
				c.log.Warn("the console of a node cannot be searched", "node", address, "error", err)
			}
		}
	}
	*past = now
}

// look searches the console of a node, unless it is as it was. It returns the mark of what was searched.
func (c *consoles) look(address string, before console.Mark, take func(address string, text []byte) error) (
	console.Mark, error) {
	mark, err := c.in.Consoles.Mark(address) // first: what is recorded from here on is searched next time
	if err != nil || mark == before {
		if console.Missing(err) {
			err = nil
		}
		return mark, err
	}
	text, err := c.in.Consoles.Tail(address, consoleBytes)
	if err == nil {
		err = take(address, text)
	}
	if err != nil {
		return console.Mark{}, err // it is searched again
	}
	return mark, nil
}

// sawOnConsole takes codes on the console of a node as evidence for the claims that have them.
func (in *Intake) sawOnConsole(ctx context.Context, address string, found []console.Sighting) error {
	if len(found) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, consoleTime)
	defer cancel()
	return in.DB.Update(ctx, address, nil, func(base *nodetx.Tx) error {
		tx := &nodeTx{Tx: base, in: in}
		for _, sighting := range found {
			tx.step(admission.Show{Code: sighting.Code, At: sighting.Time})
		}
		return nil
	})
}
