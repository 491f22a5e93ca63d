// SPDX-License-Identifier: Apache-2.0

package frontends_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// fleet is the nodes of one seed, which have a label in common, and the image that is requested of them.
type fleet struct {
	name, image string
	nodes       []api.NodeSpec
	together    bool // Terraform declares it by one sled_bindings
}

// histories are what may have happened to a node before.
var histories = []func(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec){
	func(*sleddtest.Sledd, *rand.Rand, int, api.NodeSpec) {}, // not seen, not bound
	func(s *sleddtest.Sledd, random *rand.Rand, i int, _ api.NodeSpec) { report(s.Machine(i), random, i) },
	func(s *sleddtest.Sledd, _ *rand.Rand, _ int, spec api.NodeSpec) {
		s.Bind(api.BindingSpec{Node: spec.Name, Image: "d12"}) // not seen
	},
	func(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec) {
		imaged(s, random, i, spec, "d12")
	},
	func(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec) {
		imaged(s, random, i, spec, "d13")
	},
	func(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec) {
		imaged(s, random, i, spec, "")
	},
	func(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec) {
		imaged(s, random, i, spec, "d12")
		rescue := api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice + " alice"}}
		_, _ = s.Client().PutRescue(context.Background(), spec.Name, rescue)
	},
	func(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec) {
		s.Bind(api.BindingSpec{Node: spec.Name, Image: "d12"})
		m := s.Machine(i)
		report(m, random, i)
		m.Fail(api.CodeDisk, "2 disks match")
	},
	func(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec) { // its binding was removed
		imaged(s, random, i, spec, "d12")
		_ = s.Client().DeleteBinding(context.Background(), spec.Name)
	},
}

// selectors of a node with the disks that report makes.
func selectors(i int) []string {
	return []string{fmt.Sprintf("serial:S%d-0", i), fmt.Sprintf("serial:S%d-1", i), "only", "smallest", "model:PM9A3*",
		"model:*,rotational:0", "rotational:1", "transport:nvme,smallest", fmt.Sprintf("wwn:eui.%016d", i)}
}

// report sends the hardware of a machine: one to four disks.
func report(m *sleddtest.Machine, random *rand.Rand, i int) {
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "facts 1\nboot %s\nkernel release=6.1 uptime=9.5\n", m.Boot)
	for k := range 1 + random.IntN(4) {
		model, transport := []string{"PM9A3", "PM9A3-B", "ST8000"}[random.IntN(3)], "nvme"
		if model == "ST8000" {
			transport = "sata"
		}
		_, _ = fmt.Fprintf(&text, "disk name=sd%c serial=S%d-%d wwn=eui.%016d bytes=%d model=%s rotational=%d transport=%s\n",
			'a'+rune(k), i, k, i+1000*k, (1+random.Int64N(3))*960_197_124_096, model, map[string]int{"sata": 1}[transport],
			transport)
	}
	m.Say("facts", text.String())
}

// imaged brings a node to an image, empty: to empty disks.
func imaged(s *sleddtest.Sledd, random *rand.Rand, i int, spec api.NodeSpec, image string) {
	s.Bind(api.BindingSpec{Node: spec.Name, Image: image})
	m := s.Machine(i)
	report(m, random, i)
	m.Fulfil()
}

// seeded makes the fleet of a seed: nodes with what happened to them, and then other selectors and keep lists. first is
// the number of its first node.
func seeded(t *testing.T, s *sleddtest.Sledd, seed, first int) fleet {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	f := fleet{name: fmt.Sprintf("f%d", seed), image: []string{"d12", "d13", "d13", ""}[random.IntN(4)]}
	f.together = seed%2 == 0 && f.image != ""
	for k := range 3 + random.IntN(6) {
		i := first + k
		spec := api.NodeSpec{MAC: sleddtest.MAC(i), Name: fmt.Sprintf("%sn%d", f.name, k),
			Disk: fmt.Sprintf("serial:S%d-0", i), Labels: map[string]string{"fleet": f.name}}
		declare(t, s, spec)
		histories[random.IntN(len(histories))](s, random, i, spec)
		if random.IntN(2) == 0 {
			of := selectors(i)
			spec.Disk = of[random.IntN(len(of))]
		}
		if random.IntN(4) == 0 {
			spec.KeepDisks = []string{fmt.Sprintf("serial:S%d-2", i)}
		}
		declare(t, s, spec)
		f.nodes = append(f.nodes, spec)
	}
	return f
}

func declare(t *testing.T, s *sleddtest.Sledd, spec api.NodeSpec) {
	t.Helper()
	if _, err := s.Client().PutNode(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
}
