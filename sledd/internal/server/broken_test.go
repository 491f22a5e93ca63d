// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// broken is a store that can be made to fail, or to hang until the deadline.
type broken struct {
	store.Store
	reads, commits, hangs atomic.Bool
}

func (b *broken) fail(ctx context.Context, what string) error {
	err := errors.New("connection refused")
	if b.hangs.Load() {
		ctx, cancel := context.WithTimeout(ctx, store.Deadline)
		defer cancel()
		<-ctx.Done()
		err = ctx.Err()
	}
	return &store.UnavailableError{Operation: what, Err: err}
}

func (b *broken) Read(ctx context.Context, queries ...store.Query) (store.Snapshot, error) {
	if b.reads.Load() {
		return store.Snapshot{}, b.fail(ctx, "read")
	}
	return b.Store.Read(ctx, queries...)
}

func (b *broken) Commit(ctx context.Context, t store.Transaction) (int64, error) {
	if b.commits.Load() {
		return 0, b.fail(ctx, "commit")
	}
	return b.Store.Commit(ctx, t)
}

// dump is all that is stored.
func dump(t *testing.T, s store.Store) string {
	t.Helper()
	snapshot, err := s.Read(t.Context(), store.Prefix("/"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, kv := range snapshot.Results[0] {
		fmt.Fprintf(&text, "%s@%d=%s\n", kv.Key, kv.Revision, kv.Value)
	}
	return text.String()
}

type call struct {
	method, path, token, body string
	writes                    bool
}

// everything calls every endpoint in a way that works while the store does.
func everything(m *sleddtest.Machine) []call {
	image := fmt.Sprintf(`{"name":"d13","digest":"%s","urls":["http://10.77.0.1/x"],"bytes":1024,"file_bytes":10}`, digest)
	node := "/node/v1/" + m.MAC
	return []call{
		{"GET", "/v1/nodes", adminToken, "", false},
		{"GET", "/v1/nodes/n1", adminToken, "", false},
		{"PUT", "/v1/nodes/n9", adminToken, `{"mac":"52:54:00:77:00:09","name":"n9"}`, true},
		{"GET", "/v1/nodes/n1/events", adminToken, "", false},
		{"POST", "/v1/nodes/n1/events", adminToken, `{"kind":"power","detail":"on"}`, true},
		{"GET", "/v1/nodes/n1/log", adminToken, "", false},
		{"GET", "/v1/nodes/n1/timeline", adminToken, "", false},
		{"DELETE", "/v1/nodes/n3", adminToken, "", true},
		{"GET", "/v1/images", adminToken, "", false},
		{"GET", "/v1/images/d12", adminToken, "", false},
		{"PUT", "/v1/images/d13", adminToken, image, true},
		{"DELETE", "/v1/images/free", adminToken, "", true},
		{"GET", "/v1/bindings", adminToken, "", false},
		{"GET", "/v1/bindings/n1", adminToken, "", false},
		{"PUT", "/v1/bindings/n2", adminToken, `{"node":"n2","image":"d12"}`, true},
		{"POST", "/v1/bindings", adminToken, `{"items":[{"node":"n2","image":"d12"}]}`, true},
		{"DELETE", "/v1/bindings/n4", adminToken, "", true},
		{"GET", "/v1/events?node=n1", adminToken, "", false},
		{"GET", "/v1/rollouts", adminToken, "", false},
		{"GET", "/v1/rollouts/reimage-1", adminToken, "", false},
		{"PUT", "/v1/rollouts/reimage-1/runs", adminToken, `{"items":[{"node":"n2","state":"running"}]}`, true},
		{"POST", "/v1/rollouts/reimage-1/abort", adminToken, "", true},
		{"POST", "/v1/rollouts", adminToken, `{"nodes":["n4"],"desired":"image d13"}`, true},
		{"GET", "/v1/operators", adminToken, "", false},
		{"GET", "/v1/operators/admin", adminToken, "", false},
		{"PUT", "/v1/operators/a", adminToken, `{"name":"a","role":"read"}`, true},
		{"DELETE", "/v1/operators/b", adminToken, "", true},
		{"GET", node + fmt.Sprintf("/plan?run=%d", m.Run), m.Token, "", true},
		{"POST", node + "/operational", m.Installed, "operational 1\ngeneration 1\nos id=x\n", true},
		{"GET", node + "/seed", m.Token, "", true},
		{"POST", node + "/report", m.Token, m.Text("begin step=1 of=4 verb=wipe"), true},
		{"POST", node + "/facts", m.Token, "facts 1\nboot new\n", true},
		{"POST", node + "/log", m.Token, "x\n", true},
		{"POST", node + "/hello", "", "hello 1\nboot id=b9 nic=" + address(1) + "\n", true},
		{"GET", "/boot/" + m.MAC + ".ipxe", "", "", false},
		{"GET", "/boot/52-54-00-77-00-99.ipxe", "", "", false},
		{"GET", "/readyz", "", "", true},
	}
}

// prepare makes a store in which everything() would work.
func prepare(t *testing.T) (*sledd, *sleddtest.Machine, *broken) {
	t.Helper()
	whole := fresh(t)
	b := &broken{Store: shared}
	s := run(t, b)
	for i := range 4 {
		whole.Declare(i + 1)
	}
	whole.Register("d12")
	whole.Register("free")
	whole.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	whole.Bind(api.BindingSpec{Node: "n4", Image: "d12"})
	whole.admin(201, "POST", "/v1/rollouts", api.RolloutSpec{Nodes: []string{"n1", "n2"}, Desired: "image d12"})
	whole.admin(200, "PUT", "/v1/operators/b", api.Operator{Name: "b", Role: api.Read})
	m := s.Machine(1)
	m.Poll(0)
	wrote(m)
	m.Seed()
	m.Say("log", "x\n")
	again := s.Machine(1) // whose seed was not given yet
	again.Poll(0)
	again.Installed = m.Installed
	return s, again, b
}

func TestStoreThatCannotBeReadChangesNothing(t *testing.T) {
	s, m, b := prepare(t)
	before := dump(t, shared)
	b.reads.Store(true)
	for _, c := range everything(m) {
		unavailable(t, c, s.Ask(c.method, c.path, c.token, c.body))
	}
	if after := dump(t, shared); after != before {
		t.Errorf("changed:\n%s\nto:\n%s", before, after)
	}
	if a := s.Ask("GET", "/healthz", "", ""); a.Status != 200 {
		t.Errorf("healthz: %d", a.Status)
	}
}

func TestStoreThatCannotBeWrittenChangesNothing(t *testing.T) {
	s, m, b := prepare(t)
	before := dump(t, shared)
	b.commits.Store(true)
	for _, c := range everything(m) {
		if c.writes {
			unavailable(t, c, s.Ask(c.method, c.path, c.token, c.body))
		}
	}
	if after := dump(t, shared); after != before {
		t.Errorf("changed:\n%s\nto:\n%s", before, after)
	}
}

func unavailable(t *testing.T, c call, a sleddtest.Answer) {
	t.Helper()
	if a.Status != http.StatusServiceUnavailable {
		t.Errorf("%s %s: got %d, want 503: %s", c.method, c.path, a.Status, a.Body)
	}
	kind := "application/problem+json"
	if strings.HasPrefix(c.path, "/boot/") {
		kind = "text/plain; charset=utf-8"
	}
	if got := a.Header.Get("Content-Type"); got != kind {
		t.Errorf("%s %s: content type %q, want %q", c.method, c.path, got, kind)
	}
}

func TestHangingStoreIsAnsweredForInTime(t *testing.T) {
	s, m, b := prepare(t)
	b.reads.Store(true)
	b.hangs.Store(true)
	calls := everything(m)
	answers := make(chan error, len(calls))
	for _, c := range calls {
		go func() {
			begin := time.Now()
			a, err := s.Try(c.method, c.path, c.token, c.body)
			if took := time.Since(begin); err == nil && (a.Status != 503 || took > time.Minute) {
				err = fmt.Errorf("%s %s: %d after %s", c.method, c.path, a.Status, took)
			}
			answers <- err
		}()
	}
	for range calls {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

func TestEverythingWorksWhenTheStoreDoes(t *testing.T) {
	s, m, _ := prepare(t)
	for _, c := range everything(m) {
		if strings.HasPrefix(c.path, "/v1/events") || strings.HasSuffix(c.path, "/seed") {
			// the stream does not end, and a seed revokes earlier tokens of the installed system: both have
			// separate tests
			continue
		}
		if a := s.Ask(c.method, c.path, c.token, c.body); a.Status >= 300 {
			t.Errorf("%s %s: %d: %s", c.method, c.path, a.Status, a.Body)
		}
	}
}
