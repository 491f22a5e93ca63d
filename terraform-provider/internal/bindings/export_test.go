// SPDX-License-Identifier: Apache-2.0

package bindings

import "testing"

// SetMost makes calls smaller until the test ends.
func SetMost(t *testing.T, machines int) {
	before := most
	most = machines
	t.Cleanup(func() { most = before })
}
