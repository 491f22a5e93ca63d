// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// scenes answers one state of the nodes after the other, and the last for ever. A nil state is a store that is down.
func scenes(t *testing.T, states ...[]api.Node) string {
	t.Helper()
	var at atomic.Int64
	return double(t, map[string]any{
		"/v1/nodes": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			i := min(int(at.Add(1)), len(states)) - 1
			if states[i] == nil {
				refuse(w, http.StatusServiceUnavailable, "the store does not answer")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(api.NodeList{Items: states[i]})
		}),
		"/v1/events": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("id: 1\ndata: {\"id\":1}\n\n"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}),
	})
}

func TestWatchWaitsUntilAllAreDone(t *testing.T) {
	nodes := ctltest.Rack()
	booting := nodes[1]
	booting.Status = api.Status{Phase: api.Booting, Generation: 1, Since: ctltest.Noon}
	done := ctltest.Bound(ctltest.Node(2, api.Operational, 0), "debian-12-v2", 2)
	server := scenes(t, []api.Node{nodes[0], booting}, nil, []api.Node{nodes[0], nodes[1]},
		[]api.Node{nodes[0], nodes[1]}, []api.Node{nodes[0], done})
	got := sledctl(t, server, "", "watch", "--wait", "--interval", "1ms")
	if got.code != exitDone {
		t.Errorf("%+v", got)
	}
	ctltest.Golden(t, "watch-lines", got.out+got.err)
}

func TestWatchEndsWhenOneFailed(t *testing.T) {
	nodes := ctltest.Rack()
	got := sledctl(t, scenes(t, nodes[:3]), "", "watch", "--wait")
	if got.code != exitFailed || !strings.Contains(got.err, "sledctl: n3: wipe: code 4 disk: 2 disks match only") ||
		!strings.Contains(got.err, "sledctl log n3") {
		t.Errorf("%+v", got)
	}
}

func TestWatchGivesUp(t *testing.T) {
	nodes := ctltest.Rack()
	got := sledctl(t, scenes(t, nodes[1:2], nil), "", "watch", "--wait", "--timeout", "1ms")
	if got.code != exitFailed || !strings.Contains(got.err, "not done within 1ms: n2 is writing") {
		t.Errorf("%+v", got)
	}
	if got := sledctl(t, scenes(t, nodes), "", "watch", "--timeout", "1ms"); got.code != exitDone {
		t.Errorf("without --wait: %+v", got)
	}
	if got := sledctl(t, scenes(t, []api.Node{}), "", "watch", "--wait"); got.code != exitFailed ||
		!strings.Contains(got.err, "no node") {
		t.Errorf("without nodes: %+v", got)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if got := run(stopped, scenes(t, nodes), "", show.Screen{}, "watch", "--wait"); got.code != exitFailed {
		t.Errorf("interrupted: %+v", got)
	}
}

func TestWatchEndsWithARefusal(t *testing.T) {
	server := double(t, map[string]any{"/v1/nodes": http.StatusUnauthorized})
	if got := sledctl(t, server, "", "watch"); got.code != exitDenied {
		t.Errorf("%+v", got)
	}
}

func TestWatchDrawsOnATerminal(t *testing.T) {
	done := ctltest.Bound(ctltest.Node(1, api.Operational, 0), "debian-12-v1", 2)
	screen := show.Screen{Terminal: true, Size: func() (int, int) { return 110, 24 }}
	got := run(t.Context(), scenes(t, []api.Node{done}), "", screen, "watch", "--wait")
	if got.code != exitDone || !strings.Contains(got.out, "1 node: 1 operational   0:00\x1b[K") {
		t.Errorf("%+v", got)
	}
}
