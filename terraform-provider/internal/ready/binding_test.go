// SPDX-License-Identifier: Apache-2.0

package ready_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// fleet binds n1 and n2, the first to an image, and waits that long for them.
func (s *site) fleet(image, most string) string {
	return acctest.Config(acctest.Header(s.proxy.URL), fmt.Sprintf(`
resource "sled_binding" "n" {
  for_each = toset(["n1", "n2"])
  node     = each.key
  image    = each.key == "n1" ? %q : "debian-12-v1"
}

resource "sled_ready" "all" {
  nodes    = { for name, binding in sled_binding.n : name => binding.generation }
  timeouts = { create = %q, update = "1m" }
}
`, image, most))
}

// tainted lists the types of resources that are tainted in a state.
func tainted(t *testing.T, state string) []string {
	t.Helper()
	var content struct {
		Resources []struct {
			Type      string
			Instances []struct{ Status string }
		}
	}
	if err := json.Unmarshal([]byte(state), &content); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, resource := range content.Resources {
		for _, instance := range resource.Instances {
			if instance.Status == "tainted" {
				types = append(types, resource.Type)
			}
		}
	}
	return types
}

// After a time-out nothing that owns a disk is tainted, and the next plan images nothing.
func TestAccReadyTimeOut(t *testing.T) {
	s := declared(t, 2)
	cli := acctest.NewCLI(t, s.fleet("debian-12-v1", "5s"))
	s.meanwhile(s.fulfil(1))
	out := cli.Run("apply", "-auto-approve")
	for _, want := range []string{"Not enough nodes are ready after 5s",
		"1 of 2 nodes are ready, 2 are required: 1 never seen, 1 ready.",
		"n2: never seen (generation 0, requested 1)", "the next apply waits for the same generations and images " +
			"nothing"} {
		if !strings.Contains(acctest.Flat(out.Text), want) {
			t.Errorf("no %q in\n%s", want, out.Text)
		}
	}
	if types := tainted(t, cli.State()); !slices.Equal(types, []string{"sled_ready"}) {
		t.Errorf("tainted: %v\n%s", types, cli.State())
	}
	plan := acctest.Flat(cli.Must("plan"))
	if !strings.Contains(plan, "Plan: 1 to add, 0 to change, 1 to destroy.") || strings.Contains(plan, "wiped") ||
		strings.Contains(plan, "sled_binding.n[\"n1\"] will") {
		t.Errorf("the next plan:\n%s", plan)
	}
	cli.Write(s.fleet("debian-12-v1", "1m"))
	s.meanwhile(s.fulfil(2))
	cli.Apply()
	cli.Empty()
	for i := 1; i <= 2; i++ {
		if generation := s.Node(i).Binding.Generation; generation != 1 {
			t.Errorf("n%d has generation %d", i, generation)
		}
	}
}

func TestAccReadyFollowsBindings(t *testing.T) {
	s := declared(t, 2)
	s.Register("debian-12-v2")
	cli := acctest.NewCLI(t, s.fleet("debian-12-v1", "1m"))
	s.meanwhile(s.fulfil(1, 2))
	cli.Apply()
	cli.Write(s.fleet("debian-12-v2", "1m"))
	plan := acctest.Flat(cli.Must("plan"))
	if !strings.Contains(plan, "Plan: 0 to add, 2 to change, 0 to destroy.") ||
		!strings.Contains(plan, `~ "n1" = 1 -> 2`) {
		t.Errorf("the plan:\n%s", plan)
	}
	s.meanwhile(s.fulfil(1))
	cli.Apply()
	cli.Empty()
	if first, second := s.Node(1), s.Node(2); !first.Binding.Satisfied || first.Status.Image != "debian-12-v2" ||
		second.Binding.Generation != 1 {
		t.Errorf("n1 %+v, n2 %+v", first.Status, second.Binding)
	}
}
