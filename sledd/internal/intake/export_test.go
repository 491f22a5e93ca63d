// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"log/slog"

	"github.com/sled-fleet/sled/sledd/internal/console"
)

// SetRoom changes how many machines may be discovered, without and with facts.
func (in *Intake) SetRoom(bare, described int) { in.maxBare, in.maxDiscovered = bare, described }

// PauseFor is the pause between two reports of each of so many nodes.
var PauseFor = pauseFor

// Consoles returns a search of the consoles in a directory.
func (in *Intake) Consoles(directory console.Directory) (search func(ctx context.Context)) {
	watch := consoles{in: in, directory: directory, log: slog.New(slog.DiscardHandler)}
	return watch.search
}
