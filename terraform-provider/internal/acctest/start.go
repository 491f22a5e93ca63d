// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// Start runs a sledd for one test, and puts its token where the provider looks for it. Without TF_ACC the test is skipped.
func Start(t *testing.T) *sleddtest.Sledd {
	t.Helper()
	needCLI(t)
	s := sleddtest.Start(t)
	t.Setenv("SLED_TOKEN", s.Token)
	return s
}
