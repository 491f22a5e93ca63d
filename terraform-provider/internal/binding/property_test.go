// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// edits is how many random configurations follow one another for each seed.
const edits = 6

// chooser makes random configurations and changes of others; the same seed makes the same ones.
type chooser struct {
	*rand.Rand

	stuck bool // the last plan was refused: every binding is declared again
}

func (c chooser) of(options ...string) string { return options[c.IntN(len(options))] }

// binding of a machine, with any of the attributes that may or may not image it.
func (c chooser) binding(i int) string {
	lines := []string{c.of(image("v1"), image("v1"), image("v2"), image("v3"), "")}
	for _, line := range []string{`mode = "delta"`, `hostname = "h"`, `wipe = "empty"`, `reimage_trigger = "a"`,
		`reimage_trigger = "b"`, `user_data = "#cloud-config"`, `seed_changes = "reimage"`, `on_drift = "reimage"`,
		`on_drift = "ignore"`, `on_destroy = "wipe"`, `authorized_keys = ["` + sshkeys.Alice + ` alice"]`, `disk = "only"`} {
		name, _, _ := strings.Cut(line, " ")
		set := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+" ") })
		if c.stuck && line == `on_drift = "reimage"` || c.IntN(5) == 0 && !set {
			lines = append(lines, line)
		}
	}
	return n(fmt.Sprintf("n%d", i), lines...)
}

// configuration of machines 1 to 5: some alone, some together, some not at all.
func (c chooser) configuration() string {
	var all, many string
	for i := 1; i <= 5; i++ {
		switch c.IntN(5) {
		case 0:
		case 1:
			many += fmt.Sprintf("    %q = %q\n", sleddtest.MAC(i), c.of("v1", "v2"))
		default:
			all += c.binding(i)
		}
	}
	return all + fmt.Sprintf("resource \"sled_bindings\" \"x\" {\n  name = \"x\"\n  on_drift = %q\n  on_destroy = %q\n"+
		"  images = {\n%s  }\n}\n", c.of("warn", "reimage", "ignore"), c.of("keep", "wipe"), many)
}

// disturb is what operators and machines do between two plans.
func (l *lab) disturb(c chooser) {
	i := 1 + c.IntN(5)
	bound := l.sledd.Node(i).Binding
	switch action := c.IntN(5); {
	case bound == nil:
	case action == 0:
		_ = l.sledd.Client().DeleteBinding(l.Context(), bound.MAC, api.TakeOver())
	case action == 1:
		_, _ = l.sledd.Client().PutBinding(l.Context(), api.BindingSpec{Node: bound.MAC, Image: c.of("v1", "v3"),
			Owner: bound.Owner})
	case action == 2 && bound.Image != "" && !bound.Satisfied:
		l.sledd.Machine(i).Fulfil()
	}
}

// No apply images a machine that its plan did not name, whatever is edited and disturbed; a plan that is refused images
// none. SLED_SEEDS is the number of seeds.
func TestAccNoWipeIsUnnamed(t *testing.T) {
	seeds, err := strconv.Atoi(os.Getenv("SLED_SEEDS"))
	if err != nil {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			l, c := start(t), chooser{Rand: rand.New(rand.NewPCG(uint64(seed), 17))}
			applied, wiped := 0, 0
			for range edits {
				l.disturb(c)
				config := c.configuration()
				l.declare(config)
				before, named := l.generations(), []string(nil)
				if c.stuck = l.Run("plan", "-out=saved").Code != 0; !c.stuck {
					named = l.wipes()
					l.Run("apply", "saved")
					applied++
				}
				wiped += l.unnamed(before, named, config)
			}
			t.Logf("%d of %d plans were applied, %d disks wiped", applied, edits, wiped)
			if applied == 0 || wiped == 0 {
				t.Error("nothing was tested")
			}
		})
	}
}

// unnamed reports machines whose generation was raised without a word of the plan. It returns how many were raised.
func (l *lab) unnamed(before map[string]int64, named []string, config string) (raised int) {
	l.Helper()
	for node, generation := range l.generations() {
		if generation <= before[node] {
			continue
		}
		raised++
		if !slices.ContainsFunc(named, func(line string) bool { return strings.HasPrefix(line, node+":") }) {
			l.Errorf("%s has generation %d after %d, and the plan names %q:\n%s", node, generation, before[node], named,
				config)
		}
	}
	return raised
}
