// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"

	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// expect lets a plan that receives multicast state how many nodes do, so that the first of a wave does not fetch alone
// what all of them will have.
func (in *Intake) expect(ctx context.Context, tx *nodeTx, desired *plan.Plan) error {
	if !desired.Receives() {
		return nil
	}
	others, err := in.DB.Imaged(ctx, tx.Binding().Digest, tx.MAC)
	desired.Expect(1 + others)
	return err
}
