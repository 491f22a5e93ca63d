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
	// consoleTime is for storing what was found.
	consoleTime = 5 * time.Second
)

// consoles searches the records of consoles for the codes of claims.
type consoles struct {
	in        *Intake
	directory console.Directory
	read      map[string]console.Mark // by MAC: the records as they were searched last
	failed    map[string]string       // by MAC: why the last search failed
	log       *slog.Logger
}

// WatchConsoles takes a claim code on the console of the node as evidence for the claim, until the context ends.
func (in *Intake) WatchConsoles(ctx context.Context, directory console.Directory, log *slog.Logger) {
	if directory == "" {
		return
	}
	watch := consoles{in: in, directory: directory, log: log, read: map[string]console.Mark{},
		failed: map[string]string{}}
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

// search looks at the consoles of all nodes that have a claim or an incumbent without proof.
func (c *consoles) search(ctx context.Context) {
	read, failed := map[string]console.Mark{}, map[string]string{}
	for _, address := range c.in.Hub.Unproven() {
		mark, err := c.look(ctx, address)
		read[address] = mark
		if err != nil && ctx.Err() == nil {
			failed[address] = err.Error()
			if c.failed[address] != err.Error() {
				c.log.Warn("the console of a node cannot be searched for its claim code", "node", address, "error", err)
			}
		}
	}
	c.read, c.failed = read, failed
}

// look searches the console of a node, unless it is as it was. It returns the mark of what was searched.
func (c *consoles) look(ctx context.Context, address string) (console.Mark, error) {
	mark, err := c.directory.Mark(address) // first: what is recorded from here on is searched next time
	if err != nil || mark == c.read[address] {
		if console.Missing(err) {
			err = nil
		}
		return mark, err
	}
	text, err := c.directory.Tail(address, consoleBytes)
	if err == nil {
		err = c.in.sawOnConsole(ctx, address, console.Sightings(text))
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
