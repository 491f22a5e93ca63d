// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestGroupAndZeroAddressesAreRefusedEverywhere(t *testing.T) {
	s := fresh(t)
	before := dump(t, shared)
	for _, address := range []string{"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"} {
		hyphens := strings.ReplaceAll(address, ":", "-")
		for _, c := range []struct {
			method, path, token, body string
			want                      int
		}{
			{"GET", "/boot/" + hyphens + ".ipxe", "", "", 400},
			{"GET", "/node/v1/" + hyphens + "/plan", "", "", 400},
			{"POST", "/node/v1/" + hyphens + "/facts", "", "facts 1\nboot b\n", 400},
			{"PUT", "/v1/nodes/n1", adminToken, `{"mac":"` + address + `","name":"n1"}`, 422},
			{"GET", "/v1/nodes/" + hyphens, adminToken, "", 422},
			{"PUT", "/v1/bindings/" + hyphens, adminToken, `{"node":"` + address + `"}`, 422},
			{"PUT", "/v1/nodes/" + hyphens, adminToken, `{"mac":"52:54:00:77:00:01","name":"` + hyphens + `"}`, 422},
		} {
			if a := s.Ask(c.method, c.path, c.token, c.body); a.Status != c.want {
				t.Errorf("%s %s: got %d, want %d: %s", c.method, c.path, a.Status, c.want, a.Body)
			}
		}
	}
	if after := dump(t, shared); after != before {
		t.Errorf("something was stored:\n%s", after)
	}
	s.admin(404, "GET", "/v1/nodes/02-00-00-00-00-00", nil) // locally administered, and a machine's
	s.admin(200, "PUT", "/v1/nodes/n1", api.NodeSpec{MAC: "02:00:00:00:00:00", Name: "n1"})
}
