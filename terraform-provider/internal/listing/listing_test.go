// SPDX-License-Identifier: Apache-2.0

package listing_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const config = `
data "sled_bindings" "all" {}
data "sled_bindings" "web" {
  owner = "terraform:web"
  image = "v2"
}
data "sled_rollouts" "all" {}
`

func check(address, attribute string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("data."+address, tfjsonpath.New(attribute), want)
}

func texts(all ...string) knownvalue.Check {
	list := make([]knownvalue.Check, len(all))
	for i, text := range all {
		list[i] = knownvalue.StringExact(text)
	}
	return knownvalue.ListExact(list)
}

// Data of an empty fleet is empty, and then what is bound and rolled out, whoever did that.
func TestAccListings(t *testing.T) {
	s := acctest.Start(t)
	fill := func() {
		for i := 1; i <= 3; i++ {
			s.Declare(i)
		}
		s.Register("v1")
		s.Register("v2")
		s.Bind(api.BindingSpec{Node: "n1", Image: "v1"})
		s.Machine(1).Fulfil()
		s.Bind(api.BindingSpec{Node: "n2", Image: "v2", Owner: "terraform:web"})
		s.Bind(api.BindingSpec{Node: "n3", Image: "v1", Owner: "terraform:web"})
		for _, nodes := range [][]string{{"n1"}, {"n2", "n3"}} {
			if _, err := s.Client().StartRollout(t.Context(), "", api.RolloutSpec{Nodes: nodes, Desired: "image"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Client().AbortRollout(t.Context(), "reimage-1"); err != nil {
			t.Fatal(err)
		}
	}
	one, two, three := sleddtest.MAC(1), sleddtest.MAC(2), sleddtest.MAC(3)
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{Config: acctest.Header(s.URL) + config, ConfigStateChecks: []statecheck.StateCheck{
				check("sled_bindings.all", "images", knownvalue.MapSizeExact(0)),
				check("sled_bindings.all", "unsatisfied", texts()),
				check("sled_rollouts.all", "running", texts()),
				check("sled_rollouts.all", "rollouts", texts()),
			}},
			{PreConfig: fill, Config: acctest.Header(s.URL) + config, ConfigStateChecks: []statecheck.StateCheck{
				check("sled_bindings.all", "images", knownvalue.MapExact(map[string]knownvalue.Check{
					one: knownvalue.StringExact("v1"), two: knownvalue.StringExact("v2"), three: knownvalue.StringExact("v1")})),
				check("sled_bindings.all", "owners", knownvalue.MapExact(map[string]knownvalue.Check{
					one: knownvalue.StringExact(""), two: knownvalue.StringExact("terraform:web"),
					three: knownvalue.StringExact("terraform:web")})),
				check("sled_bindings.all", "unsatisfied", texts(two, three)),
				check("sled_bindings.web", "generations", knownvalue.MapExact(map[string]knownvalue.Check{
					two: knownvalue.Int64Exact(1)})),
				check("sled_rollouts.all", "running", texts("reimage-2")),
				check("sled_rollouts.all", "rollouts", knownvalue.ListPartial(map[int]knownvalue.Check{
					0: knownvalue.ObjectPartial(map[string]knownvalue.Check{"name": knownvalue.StringExact("reimage-2"),
						"waiting": knownvalue.Int64Exact(2), "state": knownvalue.StringExact("running")}),
					1: knownvalue.ObjectPartial(map[string]knownvalue.Check{"state": knownvalue.StringExact("aborted")}),
				})),
			}},
		}})
}
