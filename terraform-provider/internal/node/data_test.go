// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// says wants values of a data source.
func says(of string, values map[string]knownvalue.Check) []statecheck.StateCheck {
	var all []statecheck.StateCheck
	for name, value := range values {
		all = append(all, statecheck.ExpectKnownValue(of, tfjsonpath.New(name), value))
	}
	return all
}

// unseen: a node that is declared and was never booted.
var unseen = map[string]knownvalue.Check{
	"mac": knownvalue.StringExact(first), "name": knownvalue.StringExact("n1"), "declared": knownvalue.Bool(true),
	"labels":       knownvalue.MapExact(map[string]knownvalue.Check{"rack": knownvalue.StringExact("a")}),
	"architecture": knownvalue.Null(), "macs": knownvalue.Null(),
	"disk":       knownvalue.StringExact("serial:LAB-0001"),
	"keep_disks": knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("model:Backup")}),
	"data_disks": knownvalue.Null(),
	"boot_order": knownvalue.StringExact("network"),
	"admission":  knownvalue.StringExact("open"),
	"bmc": knownvalue.ObjectExact(map[string]knownvalue.Check{
		"driver":  knownvalue.StringExact("redfish"),
		"address": knownvalue.StringExact("bmc1"), "port": knownvalue.Null()}),
	"image": knownvalue.Null(), "generation": knownvalue.Null(), "owner": knownvalue.Null(),
	"satisfied": knownvalue.Bool(false), "phase": knownvalue.Null(),
	"observed_image": knownvalue.Null(), "observed_generation": knownvalue.Int64Exact(0),
	"disks": knownvalue.Null(), "seen": knownvalue.Null(),
}

func TestAccDataNode(t *testing.T) {
	s := acctest.Start(t)
	s.Register("debian")
	spec := s.Declare(1)
	spec.BMC, spec.KeepDisks, spec.BootOrder = &api.BMC{Driver: "redfish", Address: "bmc1"},
		[]string{"model:Backup"}, "network"
	spec.Admission = "open"
	if _, err := s.Client().PutNode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	operational := says("data.sled_node.n", map[string]knownvalue.Check{
		"image": knownvalue.StringExact("debian"), "generation": knownvalue.Int64Exact(1),
		"owner":     knownvalue.StringExact("somebody"),
		"satisfied": knownvalue.Bool(true), "phase": knownvalue.StringExact("operational"),
		"observed_image":      knownvalue.StringExact("debian"),
		"observed_generation": knownvalue.Int64Exact(1), "reason": knownvalue.Null(), "seen": knownvalue.NotNull(),
		"disks": knownvalue.ListPartial(map[int]knownvalue.Check{
			0: knownvalue.MapPartial(map[string]knownvalue.Check{"serial": knownvalue.NotNull()})}),
	})
	discovered := says("data.sled_node.n", map[string]knownvalue.Check{
		"mac": knownvalue.StringExact("52-54-00-77-00-09"), "name": knownvalue.Null(),
		"declared": knownvalue.Bool(false), "phase": knownvalue.StringExact("discovered"),
		"labels": knownvalue.MapSizeExact(0),
	})
	look(t, s,
		resource.TestStep{Config: `data "sled_node" "n" { name = "n7" }`,
			ExpectError: regexp.MustCompile("Node n7 does not exist")},
		resource.TestStep{Config: `data "sled_node" "n" { mac = "n7" }`,
			ExpectError: regexp.MustCompile(`"n7" is not a MAC`)},
		resource.TestStep{Config: `data "sled_node" "n" { }`,
			ExpectError: regexp.MustCompile(`(?i)exactly one of these attributes`)},
		resource.TestStep{Config: `data "sled_node" "n" { name = "n1" }`,
			ConfigStateChecks: says("data.sled_node.n", unseen)},
		resource.TestStep{PreConfig: func() {
			s.Bind(api.BindingSpec{Node: "n1", Image: "debian", Owner: "somebody"})
			machine := s.Machine(1)
			machine.Say("facts", "facts 1\nboot "+machine.Boot+"\ndisk name=vda serial=LAB-0001 bytes=4294967296\n"+
				"disk name=vdb model=Backup bytes=4294967296\n")
			machine.Fulfil()
		}, Config: `data "sled_node" "n" { mac = "52-54-00-77-00-01" }`, ConfigStateChecks: operational},
		resource.TestStep{PreConfig: func() { s.Machine(9).Facts() },
			Config: `data "sled_node" "n" { mac = "52-54-00-77-00-09" }`, ConfigStateChecks: discovered},
	)
}

func TestAccDataNodes(t *testing.T) {
	s := acctest.Start(t)
	s.Register("debian")
	for i := range 3 {
		spec := s.Declare(i + 2)
		if i == 2 {
			spec.Labels = map[string]string{"rack": "b", "role": "web"}
			if _, err := s.Client().PutNode(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Bind(api.BindingSpec{Node: "n2", Image: "debian"})
	s.Machine(2).Fulfil()
	s.Machine(9).Facts()
	step := func(filter string, want ...string) resource.TestStep {
		macs := make([]knownvalue.Check, len(want))
		for i, last := range want {
			macs[i] = knownvalue.StringExact("52:54:00:77:00:" + last)
		}
		return resource.TestStep{Config: "data \"sled_nodes\" \"n\" {\n" + filter + "\n}",
			ConfigStateChecks: says("data.sled_nodes.n",
				map[string]knownvalue.Check{"macs": knownvalue.ListExact(macs),
					"nodes": knownvalue.ListSizeExact(len(want))})}
	}
	found := step(`image = "debian"`, "02")
	found.ConfigStateChecks = append(found.ConfigStateChecks, statecheck.ExpectKnownValue("data.sled_nodes.n",
		tfjsonpath.New("nodes").AtSliceIndex(0), knownvalue.ObjectPartial(map[string]knownvalue.Check{
			"name": knownvalue.StringExact("n2"), "phase": knownvalue.StringExact("operational"),
			"image": knownvalue.StringExact("debian"), "generation": knownvalue.Int64Exact(1),
			"satisfied": knownvalue.Bool(true), "declared": knownvalue.Bool(true),
		})))
	wrong := func(filter, want string) resource.TestStep {
		return resource.TestStep{Config: "data \"sled_nodes\" \"n\" {\n" + filter + "\n}",
			ExpectError: regexp.MustCompile(want)}
	}
	look(t, s,
		wrong(`phase = "asleep"`, `"discovered"\s+"idle"`),
		wrong(`labels = { rack = null }`, `(?i)null`),
		wrong(`labels = { "" = "a" }`, `string length must be at least 1`),
		step("", "02", "03", "04", "09"),
		step("discovered = true", "09"),
		step("discovered = false", "02", "03", "04"),
		step(`labels = { rack = "a" }`, "02", "03"),
		step(`labels = { rack = "b", role = "web" }`, "04"),
		step(`labels = { rack = "b", role = "db" }`),
		step(`phase = "operational"`, "02"),
		step("labels = { rack = \"a\" }\nphase = \"discovered\""),
		found,
	)
}
