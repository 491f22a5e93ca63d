// SPDX-License-Identifier: Apache-2.0

package desired_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

func of(spec api.BindingSpec) desired.State { return desired.State{BindingSpec: spec} }

func image(name string) desired.State { return of(api.BindingSpec{Node: "n1", Image: name}) }

// What raises no generation at sledd raises none in a plan, and the other way round.
func TestSame(t *testing.T) {
	base := desired.State{BindingSpec: api.BindingSpec{Node: "n1", Image: "v1", Disk: "only", Owner: "a"}}
	for name, c := range map[string]struct {
		change func(*desired.State)
		same   bool
	}{
		"nothing":          {func(*desired.State) {}, true},
		"node's spelling":  {func(w *desired.State) { w.Node = "52:54:00:77:00:01" }, true},
		"owner":            {func(w *desired.State) { w.Owner = "b" }, true},
		"wipe":             {func(w *desired.State) { w.Wipe = "signatures" }, true},
		"mode":             {func(w *desired.State) { w.Mode = "delta" }, true},
		"verify":           {func(w *desired.State) { w.Verify = "full" }, true},
		"boot":             {func(w *desired.State) { w.Boot = "kexec" }, true},
		"allow_unsigned":   {func(w *desired.State) { w.AllowUnsigned = true }, true},
		"image":            {func(w *desired.State) { w.Image = "v2" }, false},
		"capture":          {func(w *desired.State) { w.Image, w.Capture = "", "v2" }, false},
		"disk":             {func(w *desired.State) { w.Disk = "serial:A" }, false},
		"kernel":           {func(w *desired.State) { w.Kernel = "k" }, false},
		"hostname":         {func(w *desired.State) { w.Hostname = "h" }, false},
		"authorized_keys":  {func(w *desired.State) { w.AuthorizedKeys = []string{"k"} }, false},
		"kernel_arguments": {func(w *desired.State) { w.KernelArguments = "quiet" }, true},
		"user data":        {func(w *desired.State) { w.UserDataSHA256 = api.UserDataHash("key", "x") }, false},
	} {
		other := base
		c.change(&other)
		if got := base.Same(other); got != c.same {
			t.Errorf("%s: same = %t, want %t", name, got, c.same)
		}
		if drift := desired.Drift(base, other, 2); (drift == "") != c.same {
			t.Errorf("%s: drift is %q", name, drift)
		}
	}
}

// Without an image, how disks are wiped is what is declared.
func TestATearDownIsTheSameIfItWipesAlike(t *testing.T) {
	base := of(api.BindingSpec{Node: "n1", Wipe: "clear"})
	for name, c := range map[string]struct {
		change func(*desired.State)
		same   bool
	}{
		"wipe":           {func(w *desired.State) { w.Wipe = "purge" }, false},
		"wipe_method":    {func(w *desired.State) { w.WipeMethod = "nvme-format-user" }, false},
		"verify":         {func(w *desired.State) { w.Verify = "full" }, false},
		"default method": {func(w *desired.State) { w.WipeMethod = "auto" }, true},
		"default verify": {func(w *desired.State) { w.Verify = "sample" }, true},
		"mode":           {func(w *desired.State) { w.Mode = "delta" }, true},
		"boot":           {func(w *desired.State) { w.Boot = "kexec" }, true},
	} {
		other := base
		c.change(&other)
		if base.Same(other) != c.same || other.Reimages(base) == c.same {
			t.Errorf("%s: same = %t, images again = %t", name, base.Same(other), other.Reimages(base))
		}
		bound, with := base, other
		bound.Image, with.Image = "v1", "v1"
		if !bound.Same(with) || with.Reimages(bound) {
			t.Errorf("%s: with an image, the method raises a generation", name)
		}
	}
}

// The number in a plan is the one that sledd will give.
func TestGeneration(t *testing.T) {
	stored := &api.Binding{BindingSpec: image("v1").BindingSpec, Generation: 3}
	for name, c := range map[string]struct {
		wanted desired.State
		stored *api.Binding
		status int64
		again  bool
		want   int64
	}{
		"first":                   {image("v1"), nil, 0, false, 1},
		"bound anew":              {image("v1"), nil, 4, false, 5},
		"same":                    {image("v1"), stored, 3, false, 3},
		"same, again":             {image("v1"), stored, 3, true, 4},
		"other":                   {image("v2"), stored, 3, false, 4},
		"other, not fetched yet":  {image("v2"), stored, 1, false, 4},
		"other, node is ahead":    {image("v2"), stored, 7, false, 8},
		"same, though it is late": {image("v1"), stored, 7, false, 3},
	} {
		if got := desired.Generation(c.wanted, c.stored, c.status, c.again); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestDriftText(t *testing.T) {
	capture := of(api.BindingSpec{Capture: "golden"})
	more := of(api.BindingSpec{Image: "v1", Disk: "serial:B", Hostname: "h", AuthorizedKeys: []string{"k"},
		KernelArguments: "quiet"})
	more.UserDataSHA256 = api.UserDataHash("key", "x")
	for want, c := range map[string][2]desired.State{
		"": {image("v1"), image("v1")},
		"bound to image v2 instead of image v1, at generation 2":              {image("v1"), image("v2")},
		"to be wiped instead of image v1, at generation 2":                    {image("v1"), image("")},
		"bound to image v1 instead of to be wiped, at generation 2":           {image(""), image("v1")},
		"to be captured as image golden instead of image v1, at generation 2": {image("v1"), capture},
		"to be wiped with wipe \"purge\" instead of none, at generation 2": {image(""),
			of(api.BindingSpec{Node: "n1", Wipe: "purge"})},
		"bound to image v1 with disk \"serial:B\" instead of none, hostname \"h\" instead of none, " +
			"other authorized_keys, other user_data, at generation 2": {image("v1"), more},
	} {
		if got := desired.Drift(c[0], c[1], 2); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A wipe is planned only for a reason that stands in the configuration.
func TestDecide(t *testing.T) {
	v1, v2, v3 := image("v1"), image("v2"), image("v3")
	for name, c := range map[string]struct {
		desired.Situation
		want desired.Verdict
	}{
		"nothing": {desired.Situation{Declared: v1, Stored: v1, Planned: v1}, desired.Settled},
		"another mode": {desired.Situation{Declared: v1, Stored: v1, Planned: v1, Touched: true},
			desired.Settled},
		"another image": {desired.Situation{Declared: v1, Stored: v1, Planned: v2}, desired.Again},
		"triggered": {desired.Situation{Declared: v1, Stored: v1, Planned: v1,
			Triggered: true}, desired.Again},
		"drifted, warn": {desired.Situation{Declared: v1, Stored: v2, Planned: v1,
			OnDrift: desired.Warn}, desired.Tolerated},
		"drifted, ignore": {desired.Situation{Declared: v1, Stored: v2, Planned: v1,
			OnDrift: desired.Ignore}, desired.Tolerated},
		"drifted, reimage": {desired.Situation{Declared: v1, Stored: v2, Planned: v1,
			OnDrift: desired.Reimage}, desired.Again},
		"drifted, in line": {desired.Situation{Declared: v1, Stored: v2, Planned: v2,
			OnDrift: desired.Warn}, desired.Settled},
		"drifted, in line, reimage": {desired.Situation{Declared: v1, Stored: v2, Planned: v2,
			OnDrift: desired.Reimage}, desired.Settled},
		"drifted, another mode": {desired.Situation{Declared: v1, Stored: v2, Planned: v1, Touched: true,
			OnDrift: desired.Warn}, desired.Blocked},
		"drifted, another mode, ignore": {desired.Situation{Declared: v1, Stored: v2, Planned: v1, Touched: true,
			OnDrift: desired.Ignore}, desired.Blocked},
		"drifted, another image": {desired.Situation{Declared: v1, Stored: v2, Planned: v3,
			OnDrift: desired.Warn}, desired.Blocked},
		"drifted, another image, reimage": {desired.Situation{Declared: v1, Stored: v2, Planned: v3,
			OnDrift: desired.Reimage}, desired.Again},
		"drifted, triggered": {desired.Situation{Declared: v1, Stored: v2, Planned: v1,
			Triggered: true, OnDrift: desired.Warn}, desired.Again},
	} {
		if got := desired.Decide(c.Situation); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
