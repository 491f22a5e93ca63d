// SPDX-License-Identifier: Apache-2.0

package store

import "context"

// Dry is a store that is read, and in which every commit succeeds without changing anything.
type Dry struct{ Store }

// Commit implements Store. Revision 0: nothing was written.
func (Dry) Commit(context.Context, Transaction) (int64, error) { return 0, nil }
