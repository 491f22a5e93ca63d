// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

const userData = "#cloud-config\npassword: hunter2\n"

// sealing runs a sledd with a key for user data, on the store of the package as it is.
func sealing(t *testing.T, key string) *sledd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(strings.Repeat(key, 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &sledd{T: t}
	s.Sledd = sleddtest.StartWith(t, sleddtest.Options{Store: shared, Now: s.now, UserDataKeys: file})
	return s
}

func TestUserDataIsSealedInTheStore(t *testing.T) {
	fresh(t)
	s := sealing(t, "01")
	s.Declare(1)
	s.Register("d12")
	spec := api.BindingSpec{Node: "n1", Image: "d12", UserData: userData}
	first := s.Bind(spec)
	if stored := dump(t, shared); strings.Contains(stored, "hunter2") || !strings.Contains(stored, "sealed_user_data") {
		t.Errorf("the user data can be read from the store:\n%s", stored)
	}
	before := unaudited(dump(t, shared))
	if same := s.Bind(spec); same.Generation != first.Generation || same.Revision != first.Revision ||
		unaudited(dump(t, shared)) != before {
		t.Errorf("the same binding is a change: %+v", same)
	}
	if other := s.Bind(api.BindingSpec{Node: "n1", Image: "d12", UserData: userData + "# x",
		SeedChanges: api.SeedReimages}); other.Generation != 2 {
		t.Errorf("other user data: generation %d", other.Generation)
	}
	s.Bind(spec)
	s.admin(200, "POST", "/v1/bindings/n1/reimage", nil)
	m := s.Machine(1)
	m.Poll(0)
	if files := m.Seed(); files["user-data"] != userData {
		t.Errorf("seed: %q", files["user-data"])
	}
}

func TestSealedUserDataNeedsItsKey(t *testing.T) {
	fresh(t)
	s := sealing(t, "01")
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", UserData: userData})
	other := sealing(t, "02")
	m := other.Machine(1)
	m.Poll(0)
	a := other.Ask("GET", "/node/v1/"+m.MAC+"/seed", m.Token, "")
	if a.Status != 500 || !strings.Contains(a.Body, "none of the keys in --user-data-key-file opens it") {
		t.Errorf("seed: %d: %s", a.Status, a.Body)
	}
	other.Bind(api.BindingSpec{Node: "n1", Image: "d12", UserData: userData}) // the way out
	if files := m.Seed(); files["user-data"] != userData {
		t.Errorf("seed after another bind: %q", files["user-data"])
	}
}
