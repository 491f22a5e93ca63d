// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

const quota = 24 << 20

// cramped runs a sledd whose store has little room, and returns both.
func cramped(t *testing.T) (*sledd, *store.Etcd) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sledd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	own, err := store.Embed(t.Context(), store.Embedded{Dir: dir, NoSync: true, Quota: quota})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	return run(t, own), own
}

func (s *sledd) used() api.Store {
	s.Helper()
	return as[api.Store](s.T, s.admin(200, "GET", "/v1/store", nil))
}

// usable is that operators can change what they like, and that declared nodes get their plans.
func (s *sledd) usable() {
	s.Helper()
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	if plan := m.Poll(0); !strings.Contains(plan, "image=") && !strings.Contains(plan, "write ") {
		s.Errorf("no plan: %s", plan)
	}
	s.admin(204, "DELETE", "/v1/bindings/n1", nil)
	s.admin(204, "DELETE", "/v1/nodes/n1", nil)
}

func TestUndeclaredMachinesFillHalfOfTheStoreAtMost(t *testing.T) {
	s, _ := cramped(t)
	var facts strings.Builder
	for i := range 18 {
		fmt.Fprintf(&facts, "disk name=d%d", i)
		for key := range 14 {
			fmt.Fprintf(&facts, " k%c=%s", 'a'+key, strings.Repeat("x", 230))
		}
		facts.WriteByte('\n')
	}
	var refused sleddtest.Answer
	for machine := 100; machine < 400 && refused.Status != 503; machine++ {
		node := "/node/v1/" + mac.Hyphens(address(machine))
		refused = s.Ask("POST", node+"/hello", "", "hello 1\nboot id=b nic="+address(machine)+"\n")
		if refused.Status == 200 {
			refused = s.Ask("GET", node+"/plan", refused.Header.Get("Sled-Token"), "")
		}
		token := refused.Header.Get("Sled-Token")
		for boot := 0; boot < 4 && refused.Status < 300; boot++ {
			refused = s.Ask("POST", node+"/facts", token, fmt.Sprintf("facts 1\nboot b%d\n%s", boot, facts.String()))
		}
	}
	if refused.Status != 503 {
		t.Fatalf("%d: %s", refused.Status, refused.Body)
	}
	usage := s.used()
	patience.Until(t, "etcd has written and counted its pages", func() bool {
		usage = s.used()
		return usage.InUse >= quota*40/100
	})
	if usage.InUse > quota*60/100 {
		t.Errorf("%+v", usage)
	}
	s.usable()
}

// filled is a store that claims to be as full as it is told.
type filled struct {
	store.Store
	percent int64
}

func (f filled) Usage(context.Context) (store.Usage, error) {
	return store.Usage{InUse: quota * f.percent / 100, Quota: quota}, nil
}

func (filled) Compact(context.Context, int64) error { return nil }

func (filled) Heal(context.Context) error { return nil }

func TestLogsOfNodesFillMostOfTheStoreAtMost(t *testing.T) {
	fresh(t)
	s := run(t, filled{shared, 81})
	s.Declare(2)
	m := s.Machine(2)
	m.Poll(0)
	s.used()
	for _, what := range []string{"log", "lastwords"} {
		a := s.Ask("POST", "/node/v1/"+m.MAC+"/"+what, m.Token, "x\n")
		if a.Status != 503 || !strings.Contains(a.Body, "logs of nodes may write up to 80%") {
			t.Errorf("%s: %d: %s", what, a.Status, a.Body)
		}
	}
	s.usable()
}

// fillUp writes until nothing can be written.
func fillUp(t *testing.T, own *store.Etcd) {
	t.Helper()
	for range 1000 {
		value := store.Transaction{Do: []store.Operation{{Key: "/filled", Value: make([]byte, 256<<10)}}}
		if _, err := own.Commit(t.Context(), value); errors.Is(err, store.ErrFull) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the store is not full")
}

// becomes waits until /readyz answers with a status.
func (s *sledd) becomes(want int) {
	s.Helper()
	patience.Until(s, fmt.Sprintf("/readyz answers %d", want), func() bool {
		return s.Ask("GET", "/readyz", "", "").Status == want
	})
}

// brim is a store that can be made to have no room.
type brim struct {
	filled
	full atomic.Bool
	err  error // of a write then
}

func (b *brim) Commit(ctx context.Context, t store.Transaction) (int64, error) {
	if b.full.Load() {
		return 0, &store.UnavailableError{Operation: "commit", Err: b.err}
	}
	return b.filled.Commit(ctx, t)
}

func TestReadyKnowsOfARefusedWriteAtOnce(t *testing.T) {
	for _, err := range []error{store.ErrFull, store.ErrDiskFull} {
		t.Run(err.Error(), func(t *testing.T) { readyKnows(t, err) })
	}
}

func readyKnows(t *testing.T, err error) {
	t.Helper()
	fresh(t)
	b := &brim{filled: filled{shared, 1}, err: err}
	s := run(t, b)
	s.becomes(200)
	b.full.Store(true)
	if a := s.Ask("PUT", "/v1/nodes/n1", adminToken, `{"mac":"52:54:00:77:00:01","name":"n1"}`); a.Status != 503 {
		t.Fatalf("%d: %s", a.Status, a.Body)
	}
	if a := s.Ask("GET", "/readyz", "", ""); a.Status != 503 {
		t.Errorf("/readyz: %d: %s", a.Status, a.Body)
	} else if !strings.Contains(a.Body, err.Error()) {
		t.Errorf("/readyz: %s", a.Body)
	}
	b.full.Store(false)
	s.becomes(200)
}

func TestFullStoreIsNotReadyAndHeals(t *testing.T) {
	s, own := cramped(t)
	s.becomes(200)
	fillUp(t, own)
	patience.Until(t, "sledd has healed its store", func() bool {
		s.Ask("GET", "/readyz", "", "") // which finds the store full, if sledd has not seen it yet
		_, err := own.Commit(t.Context(), store.Transaction{Do: []store.Operation{{Key: "/filled"}}})
		return err == nil
	})
	s.becomes(200)
	s.usable()
	fillUp(t, own) // and sledd does not heal it again within the hour
	s.becomes(503)
	if usage := s.used(); len(usage.Alarms) != 1 || usage.Alarms[0] != store.NoSpace {
		t.Errorf("%+v", usage)
	}
	a := s.Ask("PUT", "/v1/nodes/n1", adminToken, `{"mac":"52:54:00:77:00:01","name":"n1"}`)
	if a.Status != 503 || !strings.Contains(a.Body, "sledctl store heal") {
		t.Errorf("%d: %s", a.Status, a.Body)
	}
	usage := as[api.Store](t, s.admin(200, "POST", "/v1/store/heal", nil))
	if len(usage.Alarms) > 0 || usage.InUse > quota/2 {
		t.Errorf("%+v", usage)
	}
	s.becomes(200)
	s.usable()
}
