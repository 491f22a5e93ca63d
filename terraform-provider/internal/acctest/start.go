// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"os"
	"sync"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// Start runs a sledd for one test, beside other tests. Without TF_ACC the test is skipped.
func Start(t *testing.T) *sleddtest.Sledd {
	t.Helper()
	needCLI(t)
	t.Parallel()
	return StartAlone(t)
}

// StartAlone is Start for a test that changes what all tests of the process share, such as the environment.
func StartAlone(t *testing.T) *sleddtest.Sledd {
	t.Helper()
	needCLI(t)
	setToken()
	return sleddtest.Start(t)
}

// setToken puts the token of every sledd where the provider reads it: tests that run side by side cannot each set it.
var setToken = sync.OnceFunc(func() {
	if err := os.Setenv("SLED_TOKEN", sleddtest.AdminToken); err != nil {
		panic(err)
	}
})
