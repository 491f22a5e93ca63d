// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
)

// hostKey is a key that ends as given.
func hostKey(end string) string {
	return nodetexttest.HostKey[:len(nodetexttest.HostKey)-len(end)] + end
}

func withSystem(n api.Node, address, key string) api.Node {
	n.Status.OS = &api.OS{Address: nodetexttest.Address(address), HostKey: nodetexttest.Key(key)}
	return n
}

func TestKnownHosts(t *testing.T) {
	one := withSystem(ctltest.Node(1, api.Operational, time.Hour), "10.77.0.101", hostKey("AAA0"))
	two := ctltest.Node(2, api.Starting, time.Minute) // it has not confirmed
	two.Status.Address = nodetexttest.Address("10.77.0.52")
	two.Status.OS = &api.OS{HostKey: nodetexttest.Key(hostKey("AAA1"))}
	three := withSystem(ctltest.Node(3, api.UnderRescue, time.Minute), "10.77.0.103", hostKey("AAA2"))
	three.Rescue = &api.Rescue{Address: nodetexttest.Address("10.77.0.53"), HostKey: nodetexttest.Key(hostKey("AAA3"))}
	four := withSystem(ctltest.Node(4, api.Operational, time.Hour), "10.77.0.101", hostKey("AAA4")) // the address of n1
	none := ctltest.Node(5, api.Wiped, time.Hour)
	server := double(t, map[string]any{
		"/v1/nodes":    map[string]any{"items": []api.Node{one, two, three, four, none}},
		"/v1/nodes/n1": one, "/v1/nodes/n3": three, "/v1/nodes/n5": none})
	lines := map[string]string{
		"n1":  "n1,10.77.0.101,52:54:00:77:00:01 " + hostKey("AAA0") + "\n",
		"-n1": "n1,52:54:00:77:00:01 " + hostKey("AAA0") + "\n",
		"n2":  "n2,10.77.0.52,52:54:00:77:00:02 " + hostKey("AAA1") + "\n",
		"n3":  "n3,10.77.0.53,52:54:00:77:00:03 " + hostKey("AAA3") + "\n",
		"-n4": "n4,52:54:00:77:00:04 " + hostKey("AAA4") + "\n",
	}
	for _, c := range []struct {
		args, out, err string
		code           int
	}{
		{"known-hosts", lines["-n1"] + lines["n2"] + lines["n3"] + lines["-n4"], "", exitDone},
		{"known-hosts n3 n1", lines["n3"] + lines["n1"], "", exitDone},
		{"known-hosts n1 n5", "", "n5 has no host key in sledd", exitFailed},
		{"known-hosts n9", "", "/v1/nodes/n9 is not known", exitNotFound},
	} {
		r := sledctl(t, server, "", strings.Fields(c.args)...)
		if r.code != c.code || r.out != c.out || !strings.Contains(r.err, c.err) {
			t.Errorf("%s: %+v\nwant %s", c.args, r, c.out)
		}
	}
	if r := sledctl(t, server, "", "known-hosts", "n1", "-o", "json"); !strings.Contains(r.out, `"name": "n1"`) ||
		!strings.Contains(r.out, `"host_key": "`+hostKey("AAA0")+`"`) {
		t.Errorf("%+v", r)
	}
}
