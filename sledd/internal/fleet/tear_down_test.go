// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

func tearDown(spec api.BindingSpec) fleet.Change {
	return fleet.Change{BulkBinding: api.BulkBinding{BindingSpec: spec}}
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
