// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"slices"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

func tearDown(spec api.BindingSpec) fleet.Change {
	return fleet.Change{BulkBinding: api.BulkBinding{BindingSpec: spec}}
}

// What a binding without an image promises is how disks were emptied: in another way, they are emptied again. So nobody
// who requests purge is shown that the machine is wiped, because it was wiped to empty before.
func TestAnotherWayToWipeWipesAgain(t *testing.T) {
	before := api.BindingSpec{Node: "n1", Wipe: "purge"}
	for name, c := range map[string]struct {
		edit func(s *api.BindingSpec)
		want []string
	}{
		"nothing":                   {func(*api.BindingSpec) {}, nil},
		"the default method":        {func(s *api.BindingSpec) { s.WipeMethod = "auto" }, nil},
		"the default verify":        {func(s *api.BindingSpec) { s.Verify = "sample" }, nil},
		"what wipes do not use":     {func(s *api.BindingSpec) { s.Mode, s.Boot = "delta", "kexec" }, nil},
		"another level":             {func(s *api.BindingSpec) { s.Wipe = "clear" }, []string{"wipe"}},
		"the default level":         {func(s *api.BindingSpec) { s.Wipe = "" }, []string{"wipe"}},
		"a method":                  {func(s *api.BindingSpec) { s.WipeMethod = "mmc-sanitize" }, []string{"wipe_method"}},
		"all of it read":            {func(s *api.BindingSpec) { s.Verify = "full" }, []string{"verify"}},
		"with an image":             {func(s *api.BindingSpec) { s.Image, s.Wipe = "v1", "empty" }, []string{"image"}},
		"two of them":               {func(s *api.BindingSpec) { s.Wipe, s.Verify = "", "full" }, []string{"wipe", "verify"}},
		"in a capture it is no use": {func(s *api.BindingSpec) { s.Capture, s.Wipe = "x", "" }, []string{"capture"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRack(t)
			r.declare(1)
			r.register("v1")
			r.bind(tearDown(before))
			change := tearDown(before)
			c.edit(&change.BindingSpec)
			dry, err := r.Dry().PutBinding(t.Context(), "n1", change)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(dry.Outlook.Why, c.want) {
				t.Errorf("why %v, want %v", dry.Outlook.Why, c.want)
			}
			if got := r.bind(change).Generation == 2; got != (len(c.want) > 0) {
				t.Errorf("the generation rises: %v", got)
			}
		})
	}
}

// Of a wiped machine that is bound with another level, nobody says that it is as requested.
func TestARaisedLevelIsNotSatisfied(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.bind(tearDown(api.BindingSpec{Node: "n1"}))
	r.observe(1, api.Status{Phase: api.Wiped, Generation: 1})
	if b, err := r.Binding(t.Context(), "n1"); err != nil || !b.Satisfied {
		t.Fatalf("%+v, %v", b, err)
	}
	if b := r.bind(tearDown(api.BindingSpec{Node: "n1", Wipe: "purge"})); b.Satisfied {
		t.Errorf("wiped to empty, and purge is requested: %+v", b)
	}
}

// A tear-down takes all disks, so it needs no disk to be named; an image and a capture do.
func TestATearDownNeedsNoDisk(t *testing.T) {
	r := newRack(t)
	nowhere := spec(1)
	nowhere.Disk = ""
	if _, err := r.PutNode(t.Context(), address(1), nowhere, nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	r.register("v1")
	_, err := r.PutBinding(t.Context(), "n1", tearDown(api.BindingSpec{Node: "n1", Image: "v1"}))
	r.refused("an image without a disk", err, refusal.Invalid, "no disk")
	_, err = r.PutBinding(t.Context(), "n1", tearDown(api.BindingSpec{Node: "n1", Capture: "x"}))
	if !refusal.Is(err, refusal.Invalid) {
		t.Errorf("a capture without a disk: %v", err)
	}
	if b := r.bind(tearDown(api.BindingSpec{Node: "n1"})); b.Generation != 1 {
		t.Errorf("%+v", b)
	}
}
