// SPDX-License-Identifier: Apache-2.0

package desired_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// A hash is another one in each fleet, the same again in one, and only the SHA-256 of user data is keyed.
func TestKey(t *testing.T) {
	sum, one, two := desired.Sum("password: secret"), desired.Key("1"), desired.Key("2")
	keyed := one.Hash(sum)
	if keyed == one.Hash(desired.Sum("other")) || keyed == two.Hash(sum) || strings.Contains(keyed, sum) || keyed == sum {
		t.Error(keyed)
	}
	for _, same := range []string{"", "version 7", keyed} {
		if got := one.Hash(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	binding := api.Binding{UserDataSHA256: sum}
	if one.Hide(&binding); desired.Of(binding).UserDataSHA256 != keyed {
		t.Errorf("%+v", binding)
	}
	one.Hide(nil)
}
