// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// machines is SLED_MACHINES, or a few.
func machines(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SLED_MACHINES")
	if text == "" {
		return 40
	}
	count, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// fleet binds the machines in fleet.json: those in single one by one, those in many together.
const fleet = `
locals {
  fleet = jsondecode(file("fleet.json"))
}
resource "sled_binding" "s" {
  for_each        = local.fleet.single
  node            = each.key
  image           = each.value
  reimage_trigger = lookup(local.fleet.triggers, each.key, null)
  on_destroy      = "wipe"
}
resource "sled_bindings" "m" {
  name             = "m"
  images           = local.fleet.many
  reimage_triggers = { for mac, text in local.fleet.triggers : mac => text if contains(keys(local.fleet.many), mac) }
  on_destroy       = "wipe"
}
`

// set writes fleet.json: images of machines, by number, and machines with a trigger.
func (l *lab) set(images, triggers map[int]string) {
	l.Helper()
	single, many, all := map[string]string{}, map[string]string{}, map[string]string{}
	for i, image := range images {
		if i%2 == 0 {
			single[sleddtest.MAC(i)] = image
		} else {
			many[sleddtest.MAC(i)] = image
		}
	}
	for i, trigger := range triggers {
		all[sleddtest.MAC(i)] = trigger
	}
	text, err := json.Marshal(map[string]any{"single": single, "many": many, "triggers": all})
	if err == nil {
		err = os.WriteFile(filepath.Join(l.Dir, "fleet.json"), text, 0o600)
	}
	if err != nil {
		l.Fatal(err)
	}
}

// Plans of many machines, alone and together, name exactly those that the apply images. SLED_MACHINES is their number.
func TestAccPlansOfManyMachines(t *testing.T) {
	l, count := start(t), machines(t)
	l.sledd.DeclareMany(count)
	l.declare(fleet)
	images, triggers := map[int]string{}, map[int]string{}
	last := map[string]int64{}
	apply := func(name string, wanted func(i int) bool, arguments ...string) {
		t.Helper()
		l.set(images, triggers)
		lines := l.wipes(arguments...)
		named := l.names(lines)
		l.Must("apply", "saved")
		imaged, want := l.imaged(last), []string{}
		for node, generation := range l.generations() {
			last[node] = max(last[node], generation)
		}
		for i := range count {
			if wanted(i) {
				want = append(want, fmt.Sprintf("n%d", i))
			}
		}
		slices.Sort(want)
		if !slices.Equal(named, imaged) || !slices.Equal(imaged, want) || len(lines) != len(want) {
			t.Fatalf("%s: %d lines name %d machines, %d are imaged, want %d", name, len(lines), len(named), len(imaged),
				len(want))
		}
		t.Logf("%s: %d machines", name, len(want))
	}
	for i := range count {
		images[i] = "v1"
	}
	apply("first images", func(int) bool { return true })
	for i := range count {
		if i%3 == 0 {
			images[i] = "v2"
		}
		if i%5 == 0 {
			triggers[i] = "a"
		}
		if i%7 == 0 {
			delete(images, i)
			delete(triggers, i)
		}
	}
	apply("some change, some go", func(i int) bool { return i%3 == 0 || i%5 == 0 || i%7 == 0 })
	apply("nothing", func(int) bool { return false })
	apply("all go", func(i int) bool { return i%7 != 0 }, "-destroy")
}
