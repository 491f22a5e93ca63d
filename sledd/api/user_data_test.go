// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// The hash is that of RFC 2104, as Ansible's modules compute it too.
func TestUserDataHash(t *testing.T) {
	if got := api.UserDataHash("Jefe", "what do ya want for nothing?"); got !=
		"hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Error(got)
	}
	if got := api.UserDataHash("key", ""); got != "" {
		t.Errorf("none: %q", got)
	}
}
