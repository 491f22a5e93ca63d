// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
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
	nodes := rack()
	booting := nodes[1]
	booting.Status = api.Status{Phase: api.Booting, Generation: 1, Since: noon}
	done := bound(node(2, api.Operational, 0), "debian-12-v2", 2)
	server := scenes(t, []api.Node{nodes[0], booting}, nil, []api.Node{nodes[0], nodes[1]},
		[]api.Node{nodes[0], nodes[1]}, []api.Node{nodes[0], done})
	got := sledctl(t, server, "", "watch", "--wait", "--interval", "1ms")
	if got.code != exitDone {
		t.Errorf("%+v", got)
	}
	golden(t, "watch-lines", got.out+got.err)
}

func TestWatchEndsWhenOneFailed(t *testing.T) {
	nodes := rack()
	got := sledctl(t, scenes(t, nodes[:3]), "", "watch", "--wait")
	if got.code != exitFailed || !strings.Contains(got.err, "sledctl: n3: wipe: code 4 disk: 2 disks match only") ||
		!strings.Contains(got.err, "sledctl log n3") {
		t.Errorf("%+v", got)
	}
}

func TestWatchGivesUp(t *testing.T) {
	nodes := rack()
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
	if got := run(stopped, scenes(t, nodes), "", Screen{}, "watch", "--wait"); got.code != exitFailed {
		t.Errorf("interrupted: %+v", got)
	}
}

func TestWatchEndsWithARefusal(t *testing.T) {
	server := double(t, map[string]any{"/v1/nodes": http.StatusUnauthorized})
	if got := sledctl(t, server, "", "watch"); got.code != exitDenied {
		t.Errorf("%+v", got)
	}
}

func TestWatchDrawsOverItself(t *testing.T) {
	screen := Screen{Terminal: true, Size: func() (int, int) { return 110, 24 }}
	nodes := rack()
	var out buffer
	v := &liveView{app: &app{System: System{Out: &out, Now: noonNow, Screen: screen}}, begin: noon.Add(-time.Minute)}
	v.draw(nodes, nil)
	v.draw(nodes[:2], errors.New("the store does not answer"))
	v.draw(nil, nil)
	golden(t, "watch-live", strings.ReplaceAll(out.String(), "\x1b", "ESC"))
}

func TestWatchDrawsOnATerminal(t *testing.T) {
	done := bound(node(1, api.Operational, 0), "debian-12-v1", 2)
	screen := Screen{Terminal: true, Size: func() (int, int) { return 110, 24 }}
	got := run(t.Context(), scenes(t, []api.Node{done}), "", screen, "watch", "--wait")
	if got.code != exitDone || !strings.Contains(got.out, "1 node: 1 operational   0:00\x1b[K") {
		t.Errorf("%+v", got)
	}
}

func TestJudge(t *testing.T) {
	at := func(phase api.Phase, observed int64) api.Node {
		n := node(1, phase, 0)
		n.Status.Generation = observed
		return n
	}
	for name, test := range map[string]struct {
		node api.Node
		want verdict
	}{
		"done":                              {bound(at(api.Operational, 2), "i", 2), verdictDone},
		"old system, new binding":           {bound(at(api.Operational, 1), "i", 2), verdictPending},
		"failed":                            {bound(at(api.Failed, 2), "i", 2), verdictFailed},
		"failed before this binding":        {bound(at(api.Failed, 1), "i", 2), verdictPending},
		"writing":                           {bound(at(api.Writing, 2), "i", 2), verdictPending},
		"operational, no binding":           {at(api.Operational, 1), verdictDone},
		"wiped, no binding":                 {at(api.Wiped, 1), verdictDone},
		"failed, no binding":                {at(api.Failed, 1), verdictFailed},
		"idle, no binding as yet":           {at(api.Idle, 0), verdictPending},
		"never seen, no binding, no status": {api.Node{}, verdictPending},
	} {
		if got := judge(test.node); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestRowsFitTheScreen(t *testing.T) {
	nodes := rack()
	nodes = append(nodes, nodes...)
	for _, width := range []int{40, 60, 80, 120, 200} {
		v := &liveView{app: &app{System: System{Now: noonNow, Screen: Screen{Colour: true}}}}
		for _, room := range []int{1, 4, 40} {
			rows := v.rows(nodes, width, room)
			if len(rows) > max(room, 2) {
				t.Errorf("%d rows in %d", len(rows), room)
			}
			for _, row := range rows {
				if cells := cells(row); cells > width {
					t.Errorf("%d cells in %d: %q", cells, width, row)
				}
			}
		}
	}
	v := &liveView{app: &app{System: System{Now: noonNow}}}
	if rows := v.rows(nodes, 80, 4); !strings.Contains(rows[0], "failed") || rows[3] != "and 9 more" {
		t.Errorf("what matters is not shown first: %q", rows)
	}
}
