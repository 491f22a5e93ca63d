// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// What an import found and the configuration does not name stays, with each later change: keys, user data and host
// names. Machines that would not get the user data are refused.
func TestAccImportKeepsTheSeed(t *testing.T) {
	s := start(t)
	for _, one := range []api.BindingSpec{{Node: "n1", Hostname: "h.example"}, {Node: "n2"}} {
		one.Image, one.Owner, one.UserData, one.Mode = "d12", "terraform:x", "#cloud-config\n", "delta"
		one.AuthorizedKeys = []string{sshkeys.Alice + " a"}
		s.Bind(one)
	}
	seed := func(keys int, userData string, hostnames ...string) {
		t.Helper()
		if userData != "" {
			userData = s.HashOf(userData)
		}
		for i, hostname := range hostnames {
			b := s.node(i + 1).Binding
			if b.Hostname != hostname || len(b.AuthorizedKeys) != keys || b.UserDataSHA256 != userData {
				t.Errorf("n%d has host name %q, %d keys and user data %q, want %q, %d and %q", i+1, b.Hostname,
					len(b.AuthorizedKeys), b.UserDataSHA256, hostname, keys, userData)
			}
		}
	}
	mode := `mode = "delta"`
	s.declare(block("x", images("d12", "d12"), mode))
	s.Must("import", "sled_bindings.x", "x")
	s.Empty()
	hasNot(t, s.apply(block("x", images("d13", "d12"), mode)), "What was imported", "user_data_sha256", "Somebody else")
	s.bound("d13@2", "d12@1")
	seed(1, "#cloud-config\n", "h.example", "")
	s.Empty()
	s.apply(block("x", images("d13", "d13"), `mode = "full"`))
	s.bound("d13@2", "d13@2")
	seed(1, "#cloud-config\n", "h.example", "")
	s.declare(block("x", images("d13", "d13", "d13")))
	s.Fails("Machines would not get the user data of the others: n3.*Declare user_data|"+
		"Machines would not get the user data of the others.*n3", "plan")
	s.apply(block("x", images("d13", "d13", "d13"), `user_data = ""`, "authorized_keys = []"))
	seed(0, "", "h.example", "", "")
	s.bound("d13@2", "d13@2", "d13@1")
	s.Empty()
}

// A first change after an import that takes something away says what.
func TestAccImportNamesWhatAChangeDrops(t *testing.T) {
	s := start(t)
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12", Owner: "terraform:x", Mode: "delta",
		AuthorizedKeys: []string{sshkeys.Alice + " a"}})
	s.declare(block("x", images("d12"), "authorized_keys = []"))
	s.Must("import", "sled_bindings.x", "x")
	has(t, s.Must("plan"), `What was imported of x is changed: authorized_keys \(1\), mode \("delta"\)`)
}
