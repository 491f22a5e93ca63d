// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"log/slog"
)

// SetRoom changes how many machines may be discovered, without and with facts.
func (in *Intake) SetRoom(bare, described int) { in.maxBare, in.maxDiscovered = bare, described }

// PauseFor is the pause between two reports of each of so many nodes.
var PauseFor = pauseFor

// SearchOfConsoles returns a search of the consoles.
func (in *Intake) SearchOfConsoles() (search func(ctx context.Context)) {
	watch := consoles{in: in, log: slog.New(slog.DiscardHandler)}
	return watch.search
}
