// SPDX-License-Identifier: Apache-2.0

// Package archtest holds the direction of imports between sledd's packages.
package archtest

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const internal = "github.com/sled-fleet/sled/sledd/internal/"

// floors lists every package from the ground up: each may import only those of floors below its own.
var floors = [][]string{
	{"archtest", "disk", "gate", "key", "limit", "mac", "netplan", "nodetext", "operand", "origin", "quirk", "refusal",
		"seal", "store"},
	{"boot", "capacity", "mirror", "nodetext/nodetexttest", "plan", "rollout", "store/storetest", "token"},
	{"admission", "wording"},
	{"audit", "console", "ctl/show", "erasure", "events", "report"},
	{"detour", "double"},
	{"ctl/ctltest", "ctl/live", "link", "multicast", "nodetx", "page"},
	{"ctl", "fleet", "intake", "metrics", "rolloutstore"},
	{"web"},
	{"server"},
}

func imports(t *testing.T) map[string][]string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-f",
		`{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "../...")
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name, inside := strings.CutPrefix(words[0], internal)
		if !inside {
			continue
		}
		found[name] = []string{}
		for _, word := range words[1:] {
			if used, inside := strings.CutPrefix(word, internal); inside {
				found[name] = append(found[name], used)
			}
		}
	}
	return found
}

// faults are packages that are on no floor or do not exist, and imports that do not lead to a floor below.
func faults(floors [][]string, found map[string][]string) []string {
	var faults []string
	place := map[string]int{}
	for at, floor := range floors {
		for _, name := range floor {
			place[name] = at
			if found[name] == nil {
				faults = append(faults, name+" does not exist")
			}
		}
	}
	for name, used := range found {
		at, listed := place[name]
		if !listed {
			faults = append(faults, name+" is on no floor: list it in floors")
			continue
		}
		for _, other := range used {
			if below, listed := place[other]; listed && below >= at {
				faults = append(faults, fmt.Sprintf("%s imports %s, which is not on a floor below", name, other))
			}
		}
	}
	slices.Sort(faults)
	return faults
}

func TestNoArrowPointsUpward(t *testing.T) {
	for _, fault := range faults(floors, imports(t)) {
		t.Error(fault)
	}
}

func TestFaultsAreFound(t *testing.T) {
	got := faults([][]string{{"ground", "gone"}, {"middle", "beside"}, {"top"}}, map[string][]string{
		"ground": {"top"}, "middle": {"beside", "ground"}, "beside": {}, "top": {"middle", "new"}, "new": {}})
	want := []string{"gone does not exist", "ground imports top, which is not on a floor below",
		"middle imports beside, which is not on a floor below", "new is on no floor: list it in floors"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
