// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
)

func TestWait(t *testing.T) {
	nodes := ctltest.Rack()
	writing, failed := nodes[1], nodes[2]
	done := ctltest.Bound(ctltest.Node(2, api.Operational, 0), "debian-12-v2", 2)
	idle := writing
	idle.Status.Phase = api.Idle
	label := []string{"-l", "rack=a"}
	for name, c := range map[string]struct {
		states [][]api.Node
		args   []string
		code   int
		out    string
		err    string
	}{
		"until the binding is satisfied": {[][]api.Node{{writing}, nil, {done}}, nil, exitDone, "n2 is operational\n", ""},
		"until a phase": {[][]api.Node{{writing}, {idle}}, []string{"--for", "idle"}, exitDone,
			"n2 is idle\n", ""},
		"a node failed": {[][]api.Node{{done, failed}}, nil, exitFailed, "",
			"n3: wipe: code 4 disk: 2 disks match only"},
		"failed instead of idle": {[][]api.Node{{failed}}, []string{"--for", "idle"}, exitFailed, "",
			"n3: wipe: code 4 disk: 2 disks match only"},
		"failed was requested": {[][]api.Node{{failed}}, []string{"--for", "failed"}, exitDone, "n3 is failed\n", ""},
		"too late": {[][]api.Node{{writing}}, []string{"--timeout", "1ms"}, exitFailed, "",
			"not done within 1ms: n2 is writing"},
		"no node": {[][]api.Node{{}}, nil, exitFailed, "", "no node to wait for"},
	} {
		got := sledctl(t, scenes(t, c.states...), "", append(append([]string{"wait"}, label...), c.args...)...)
		if got.code != c.code || got.out != c.out || !strings.Contains(got.err, c.err) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, args := range [][]string{{"wait"}, {"wait", "n1", "--for", "done"}} {
		if got := sledctl(t, "", "", args...); got.code != exitUsage {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
