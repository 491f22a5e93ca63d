// SPDX-License-Identifier: Apache-2.0

package desired_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

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
	if got := desired.Key("").Hash(sum); got != sum {
		t.Errorf("a sledd without a key: %q", got)
	}
	binding := api.Binding{UserDataSHA256: sum}
	if one.Hide(&binding); desired.Of(binding).UserDataSHA256 != keyed {
		t.Errorf("%+v", binding)
	}
	one.Hide(nil)
	if got := (desired.State{UserDataSHA256: sum}).Keyed(one).UserDataSHA256; got != keyed {
		t.Error(got)
	}
}

// What an earlier version wrote is keyed by a refresh and left alone by a plan.
func TestKeyOfAnEarlierState(t *testing.T) {
	key := desired.Key("1")
	plain, keyed := types.StringValue(desired.Sum("x")), types.StringValue(key.Hash(desired.Sum("x")))
	for _, c := range []struct{ state, planned, want types.String }{
		{plain, keyed, plain}, {keyed, keyed, keyed}, {types.StringNull(), keyed, keyed},
		{plain, types.StringValue(key.Hash(desired.Sum("y"))), types.StringValue(key.Hash(desired.Sum("y")))},
		{plain, types.StringUnknown(), types.StringUnknown()}, {plain, types.StringNull(), types.StringNull()},
	} {
		planned := desired.Shared{UserDataSHA256: c.planned}
		if planned.Unkeyed(desired.Shared{UserDataSHA256: c.state}, key); !planned.UserDataSHA256.Equal(c.want) {
			t.Errorf("%s after %s: got %s, want %s", c.planned, c.state, planned.UserDataSHA256, c.want)
		}
	}
	for was, want := range map[types.String]types.String{plain: keyed, keyed: keyed,
		types.StringNull(): types.StringNull(), types.StringUnknown(): types.StringUnknown()} {
		state := desired.Shared{UserDataSHA256: was}
		if state.Keyed(key); !state.UserDataSHA256.Equal(want) {
			t.Errorf("%s: got %s, want %s", was, state.UserDataSHA256, want)
		}
	}
}
