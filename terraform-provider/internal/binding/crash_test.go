// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const binds = "/v1/bindings/"

// alike is so many bindings of one image.
func alike(count int, image string) string {
	return fmt.Sprintf(`resource "sled_binding" "b" {
  count = %d
  node  = format("52:54:00:77:%%02x:%%02x", floor(count.index / 256), count.index %% 256)
  image = %q
}
`, count, image)
}

// recorded is the generation of each binding in the state, by MAC; a tainted one is an error.
func (l *lab) recorded() map[string]int64 {
	l.Helper()
	var state struct {
		Resources []struct {
			Instances []struct {
				Status     string
				Attributes struct {
					MAC        string
					Generation int64
				}
			}
		}
	}
	if text := l.State(); text != "" {
		if err := json.Unmarshal([]byte(text), &state); err != nil {
			l.Fatal(err)
		}
	}
	all := map[string]int64{}
	for _, resource := range state.Resources {
		for _, one := range resource.Instances {
			if one.Status != "" {
				l.Errorf("%s is %s", one.Attributes.MAC, one.Status)
			}
			all[one.Attributes.MAC] = one.Attributes.Generation
		}
	}
	return all
}

// stored is the same, of sledd.
func (l *lab) stored() map[string]int64 {
	l.Helper()
	all := map[string]int64{}
	for binding, err := range l.sledd.Client().Bindings(l.Context(), api.Filter{}) {
		if err != nil {
			l.Fatal(err)
		}
		all[binding.MAC] = binding.Generation
	}
	return all
}

// agree wants the state to be what sledd has, and returns how many bindings that are.
func (l *lab) agree(when string) int {
	l.Helper()
	state, sledd := l.recorded(), l.stored()
	if !maps.Equal(state, sledd) {
		l.Fatalf("%s: the state has %d bindings, sledd %d, and they differ", when, len(state), len(sledd))
	}
	l.Logf("%s: %d bindings, the state equals sledd", when, len(state))
	return len(state)
}

// An apply of many bindings is interrupted, loses sledd, and loses its token. Each time the state equals sledd, the
// next apply goes on, and the last plan is empty. SLED_MACHINES is their number.
func TestAccAppliesThatEndEarly(t *testing.T) {
	l, count := alone(t), machines(t)
	l.sledd.DeclareMany(count)
	operator, err := l.sledd.Client().PutOperator(t.Context(), api.Operator{Name: "ci", Role: api.Operate})
	if err != nil {
		t.Fatal(err)
	}
	proxy := acctest.NewProxy(t, l.sledd.URL)
	l.head = acctest.Header(proxy.URL)
	l.declare(alike(count, "v1"))
	had, restarts := 0, sync.WaitGroup{}
	early := func(name string, started func(*os.Process)) {
		t.Helper()
		saved := l.save()
		if out := l.RunWith(started, "apply", saved); out.Code == 0 {
			t.Fatalf("%s: the apply ended well:\n%s", name, out.Text)
		}
		proxy.Mend()
		restarts.Wait()
		now := l.agree(name)
		if now <= had || now >= count {
			t.Fatalf("%s: %d bindings after %d, of %d: it did not end in the middle", name, now, had, count)
		}
		had = now
	}
	early("Ctrl-C", func(cli *os.Process) {
		proxy.After(count/5, "PUT", binds, func() { _ = cli.Signal(syscall.SIGINT) })
	})
	early("sledd is killed", func(*os.Process) {
		proxy.After(count/5, "PUT", binds, func() {
			l.sledd.Stop()
			restarts.Go(func() { // as a service manager does
				time.Sleep(time.Second)
				l.sledd.Resume()
			})
		})
	})
	t.Setenv("SLED_TOKEN", operator.Token)
	early("the token is revoked", func(*os.Process) {
		proxy.After(count/5, "PUT", binds, func() {
			if err := l.sledd.Client().DeleteOperator(t.Context(), "ci"); err != nil {
				t.Error(err)
			}
		})
	})
	t.Setenv("SLED_TOKEN", sleddtest.AdminToken)
	l.Apply()
	if l.agree("the last apply") != count {
		t.Error("some are missing")
	}
	l.Empty()
}

// Two users apply the same change at once, from copies of one state, and one of them has a plan of before: each machine
// gets one generation, and what either state lacks is found by its next plan.
func TestAccTwoUsersAtOnce(t *testing.T) {
	l, count := start(t), machines(t)
	l.sledd.DeclareMany(count)
	l.declare(alike(count, "v1"))
	l.Apply()
	other := &lab{CLI: acctest.NewCLI(t, ""), sledd: l.sledd, head: l.head}
	other.restore(l.State())
	l.declare(alike(count, "v3"))
	saved := l.save()
	var both sync.WaitGroup
	outputs := make([]acctest.Output, 2)
	for i, user := range []*lab{l, other} {
		user.declare(alike(count, "v2"))
		both.Go(func() { outputs[i] = user.Run("apply", "-auto-approve") })
	}
	both.Wait()
	one, two := l.recorded(), other.recorded()
	for mac, generation := range l.stored() {
		if generation != 2 || one[mac]+two[mac] != 3 {
			t.Errorf("%s has generation %d, %d in one state and %d in the other", mac, generation, one[mac], two[mac])
		}
	}
	for i, out := range outputs {
		lost := strings.Count(out.Text, "Error: ")
		if out.Code == 0 != (lost == 0) || lost > 0 && !strings.Contains(acctest.Flat(out.Text), "Changed since the plan") {
			t.Errorf("user %d: exit code %d, %d errors:\n%s", i, out.Code, lost, out.Text)
		}
		t.Logf("user %d: %d of %d refused", i, lost, count)
	}
	before := l.stored()
	if out := l.Run("apply", saved); out.Code == 0 || !maps.Equal(before, l.stored()) {
		t.Errorf("a stale plan: exit code %d\n%s", out.Code, out.Text)
	}
	for _, user := range []*lab{l, other} {
		if named := user.wipes(); len(named) > 0 {
			t.Errorf("the next plan names %q", named)
		}
		user.Must("apply", "saved")
		user.agree("after the next apply")
		user.Empty()
	}
}
