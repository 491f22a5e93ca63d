// SPDX-License-Identifier: Apache-2.0

package intake

// SetRoom changes how many machines may be discovered, without and with facts.
func (in *Intake) SetRoom(bare, described int) { in.maxBare, in.maxDiscovered = bare, described }
