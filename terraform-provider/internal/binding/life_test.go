// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const n1 = "sled_binding.n1"

func at(name string) tfjsonpath.Path { return tfjsonpath.New(name) }

// reimaged: n1, and not n2, gets another image.
var reimaged = []plancheck.PlanCheck{
	plancheck.ExpectResourceAction(n1, plancheck.ResourceActionUpdate),
	plancheck.ExpectResourceAction("sled_binding.n2", plancheck.ResourceActionNoop),
	plancheck.ExpectKnownValue(n1, at("generation"), knownvalue.Int64Exact(2)),
	plancheck.ExpectUnknownValue(n1, at("observed_image")),
}

// fulfilled: n1 has the second image.
var fulfilled = []statecheck.StateCheck{
	statecheck.ExpectKnownValue(n1, at("observed_image"), knownvalue.StringExact("v2")),
	statecheck.ExpectKnownValue(n1, at("observed_generation"), knownvalue.Int64Exact(2)),
	statecheck.ExpectKnownValue(n1, at("phase"), knownvalue.StringExact("operational")),
	statecheck.ExpectKnownValue(n1, at("disk_selected"), knownvalue.StringExact("serial:LAB-0001")),
	statecheck.ExpectKnownValue(n1, at("drift"), knownvalue.StringExact("")),
}

// A binding is made, fulfilled and changed. Each plan tells the generation as a number, each second plan is empty, and
// only the changed node's generation rises.
func TestAccLife(t *testing.T) {
	acctest.SkipBelow(t, "1.11.0", "1.11.0")
	t.Parallel()
	s := sledd(t)
	head := acctest.Header(s.URL)
	generations := func(want ...int64) {
		for i, generation := range want {
			if b := s.Node(i + 1).Binding; b.Generation != generation {
				t.Errorf("n%d: generation %d, want %d", i+1, b.Generation, generation)
			}
		}
	}
	unbound := func(*terraform.State) error {
		if node := s.Node(2); node.Binding != nil || node.Status.Image != "v1" {
			return fmt.Errorf("n2 after the destroy: %+v", node)
		}
		return nil
	}
	created := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
		plancheck.ExpectResourceAction(n1, plancheck.ResourceActionCreate),
		plancheck.ExpectKnownValue(n1, at("generation"), knownvalue.Int64Exact(1)),
		plancheck.ExpectKnownValue(n1, at("mac"), knownvalue.StringExact("52:54:00:77:00:01")),
	}}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{Config: head + n("n1", image("v1")) + n("n2", image("v1")), ConfigPlanChecks: created},
			{
				PreConfig: func() { generations(1, 1); s.Machine(1).Fulfil(); s.Machine(2).Fulfil() },
				Config:    head + n("n1", image("v1")) + n("n2", image("v1")),
				PlanOnly:  true,
			},
			{
				Config:           head + n("n1", image("v2")) + n("n2", image("v1")),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: reimaged},
			},
			{
				PreConfig:         func() { generations(2, 1); s.Machine(1).Fulfil() },
				Config:            head + n("n1", image("v2")) + n("n2", image("v1")),
				ConfigStateChecks: fulfilled,
			},
			{
				ResourceName: n1, ImportState: true, ImportStateId: "52-54-00-77-00-01", ImportStateVerify: true,
				// spelled as it was imported
				ImportStateVerifyIdentifierAttribute: "mac", ImportStateVerifyIgnore: []string{"node"},
			},
			{ // only the binding is removed: the machine and its disk stay
				Config: head + n("n1", image("v2")),
				Check:  unbound,
			},
		},
	})
}

// The plan warns with node, disk and image; what raises no generation warns of nothing.
func TestAccWhatWipesAndWhatDoesNot(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	for i, line := range []string{`mode = "delta"`, `verify = "full"`, `boot = "kexec"`, `wipe = "signatures"`,
		`allow_unsigned = true`, `kernel_arguments = "quiet"`, `hostname = "h"`} {
		l.declare(n("n1", image("v1"), line))
		text := l.plan(2)
		l.has(text, "1 to change", line[:4])
		l.hasNot(text, "generation", "Warning", "wiped")
		l.Apply()
		l.wants(1, "v1", 1)
		l.Empty()
		if i == 0 && l.sledd.Node(1).Binding.Mode != "delta" {
			l.Error("the mode did not arrive")
		}
	}
	l.declare(n("n1", image("v1"), `hostname = "h"`, `seed_changes = "reimage"`))
	l.Apply()
	l.wants(1, "v1", 1)
	for i, line := range []string{`disk = "serial:OTHER"`, `hostname = "i"`,
		`authorized_keys = ["` + sshkeys.Alice + ` a"]`} {
		l.declare(n("n1", image("v1"), line, `seed_changes = "reimage"`))
		was, comes := int64(i+1), int64(i+2)
		text := l.plan(2)
		disk := "serial:LAB-0001"
		if i == 0 {
			disk = "serial:OTHER"
		}
		l.has(text, fmt.Sprintf("~ generation = %d -> %d", was, comes),
			fmt.Sprintf("Warning: n1: disk %s is wiped and gets image v1 (generation %d -> %d)", disk, was, comes))
		l.Apply()
		l.wants(1, "v1", comes)
		l.Empty()
	}
}

// An apply over an image that is wiped only: image taken away means wipe.
func TestAccWithoutImageTheDiskIsWiped(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.declare(n("n1"))
	l.has(l.plan(2), "Warning: n1: all disks are wiped (generation 1 -> 2)", "~ generation = 1 -> 2")
	l.Apply()
	l.wants(1, "", 2)
	l.sledd.Machine(1).Fulfil()
	l.Empty()
	l.declare(n("n1", `mode = "delta"`)) // no wipe has a mode
	l.hasNot(l.plan(2), "generation", "Warning")
	l.declare(n("n1", `wipe = "purge"`))
	l.has(l.plan(2), "Warning: n1: all disks are wiped (generation 2 -> 3)", "~ generation = 2 -> 3")
	l.Apply()
	l.wants(1, "", 3)
}

// Another text is a new generation; taking the attribute away is none.
func TestAccReimageTrigger(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.declare(n("n1", image("v1"), `reimage_trigger = "1"`))
	l.has(l.plan(2), "~ generation = 1 -> 2", "Warning: n1: disk serial:LAB-0001 is wiped and gets image v1 "+
		"(generation 1 -> 2)")
	l.Apply()
	l.wants(1, "v1", 2)
	l.Empty()
	l.declare(n("n1", image("v1"), `reimage_trigger = "2"`))
	l.Apply()
	l.wants(1, "v1", 3)
	l.declare(n("n1", image("v1")))
	l.hasNot(l.plan(2), "generation", "wiped")
	l.Apply()
	l.wants(1, "v1", 3)
	l.Empty()
}

// Absence is drift: a binding that somebody took away is bound again only on request, above the generation that the
// machine has done.
func TestAccUnboundOutOfBand(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	if err := l.sledd.Client().DeleteBinding(t.Context(), "n1", api.As("terraform")); err != nil {
		t.Fatal(err)
	}
	const absent = "n1 is not bound any more, after generation 1"
	l.has(l.plan(0), "Warning: "+absent)
	l.declare(n("n1", image("v1"), `on_drift = "ignore"`))
	l.Apply()
	l.hasNot(l.plan(0), "Warning")
	l.declare(n("n1", image("v1"), `on_drift = "fail"`))
	l.refused(absent+".*on_drift is \"fail\"", "plan")
	l.declare(n("n1", image("v2")))
	l.refused(absent+".*this change would wipe that", "apply", "-auto-approve")
	if l.sledd.Node(1).Binding != nil {
		t.Fatal("n1 was bound without a request")
	}
	l.declare(n("n1", image("v1"), `on_drift = "reimage"`))
	l.has(l.plan(2), "1 to change", "~ generation = 1 -> 2", "Warning: n1: disk serial:LAB-0001 is wiped and gets image "+
		"v1 (generation 1 -> 2)")
	l.Apply()
	l.wants(1, "v1", 2)
	l.sledd.Machine(1).Fulfil()
	l.Empty()
}
