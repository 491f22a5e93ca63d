// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

const (
	adminToken = sleddtest.AdminToken
	digest     = sleddtest.Digest
)

// shared is the store of a test. Tests run one after the other; each makes it anew.
var shared *storetest.Memory

// sledd is a running one whose clock can be set forward.
type sledd struct {
	*testing.T
	*sleddtest.Sledd

	mu    sync.Mutex
	ahead time.Duration // of the real clock
}

func (s *sledd) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.ahead)
}

func (s *sledd) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += d
}

// fresh runs a sledd on an empty store.
func fresh(t *testing.T) *sledd {
	t.Helper()
	return runWith(t, sleddtest.Options{})
}

// run runs a sledd on a store until the test ends.
func run(t *testing.T, on store.Store) *sledd {
	t.Helper()
	return runWith(t, sleddtest.Options{Store: on})
}

// runWith is run with options, on an empty store if they have none.
func runWith(t *testing.T, options sleddtest.Options) *sledd {
	t.Helper()
	if options.Store == nil {
		shared = &storetest.Memory{}
		options.Store = shared
	}
	s := &sledd{T: t}
	options.Now, options.Socket = s.now, socket(t)
	s.Sledd = sleddtest.StartWith(t, options)
	return s
}

// socket is a path for a unix socket. It is short: t.TempDir contains the name of the test.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sledd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// admin asks as admin and wants a status.
func (s *sledd) admin(want int, method, path string, body any, headers ...string) sleddtest.Answer {
	s.Helper()
	text := ""
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		text = string(data)
	}
	a := s.Ask(method, path, adminToken, text, headers...)
	if a.Status != want {
		s.Fatalf("%s %s: got %d, want %d: %s", method, path, a.Status, want, a.Body)
	}
	return a
}

// as decodes an answer.
func as[T any](t *testing.T, a sleddtest.Answer) T {
	t.Helper()
	var value T
	if err := json.Unmarshal([]byte(a.Body), &value); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return value
}

func address(i int) string { return sleddtest.MAC(i) }

func (s *sledd) phase(i int, want api.Phase) {
	s.Helper()
	if node := s.Node(i); node.Status.Phase != want {
		s.Fatalf("phase of n%d is %q, want %q", i, node.Status.Phase, want)
	}
}

// wrote reports that the boot has written the image.
func wrote(m *sleddtest.Machine) { m.Report("end step=2 verb=write code=0 seconds=1") }

// install runs the steps of an image plan up to the jump.
func install(m *sleddtest.Machine) {
	for i, verb := range []string{"wipe", "write", "configure", "kexec"} {
		if verb == "configure" {
			m.Seed()
		}
		m.Report(fmt.Sprintf("begin step=%d of=4 verb=%s", i+1, verb),
			fmt.Sprintf("end step=%d verb=%s code=0 seconds=1.5", i+1, verb))
	}
}

// bulk makes bindings the items of one call.
func bulk(specs ...api.BindingSpec) api.BulkBindings {
	items := make([]api.BulkBinding, len(specs))
	for i, spec := range specs {
		items[i].BindingSpec = spec
	}
	return api.BulkBindings{Items: items}
}
