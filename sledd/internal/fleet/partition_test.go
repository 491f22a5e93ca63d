// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// registerPartition registers an image of one.
func (r *rack) registerPartition(name string) {
	r.Helper()
	spec := image(name)
	spec.Kind = api.PartitionImage
	if _, err := r.PutImage(r.Context(), name, spec, nodetx.Wanted{}); err != nil {
		r.Fatal(err)
	}
}

// replaces is a binding that replaces partition 2 by an image.
func replaces(image string) fleet.Change {
	change := binding(1, image)
	change.Partition, change.Configure, change.Boot = "2", api.Unconfigured, "reboot"
	return change
}

func TestWhatDoesNotStayInAPartition(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("disk")
	r.registerPartition("one")
	for name, c := range map[string]struct {
		change func(c *fleet.Change)
		want   string
	}{
		"no partition":    {func(c *fleet.Change) { c.Partition = "" }, "name the partition of the disk"},
		"not a partition": {func(c *fleet.Change) { c.Partition = "sda2" }, `"sda2" is not the number of a partition`},
		"a whole disk":    {func(c *fleet.Change) { c.Image = "disk" }, "image disk has kind disk"},
		"no image":        {func(c *fleet.Change) { c.Image = "" }, "only an image of kind partition"},
		"a capture of none": {func(c *fleet.Change) { c.Image, c.Capture, c.Partition = "", "gold", "vda2" },
			`"vda2" is not the number of a partition`},
		"grows":               {func(c *fleet.Change) { c.Grow = "last" }, "leave grow out"},
		"wiped":               {func(c *fleet.Change) { c.Wipe = "signatures" }, "leave wipe out"},
		"by a method":         {func(c *fleet.Change) { c.WipeMethod = "auto" }, "leave wipe_method out"},
		"handed over":         {func(c *fleet.Change) { c.Handover = true }, "leave handover out"},
		"a name with control": {func(c *fleet.Change) { c.Partition = "part-label:a\x1b[2J" }, "cannot be printed"},
	} {
		change := replaces("one")
		c.change(&change)
		_, err := r.PutBinding(t.Context(), "n1", change)
		r.refused(name, err, refusal.Invalid, c.want)
	}
	for name, change := range map[string]func(c *fleet.Change){
		"not configured": func(*fleet.Change) {},
		"configured":     func(c *fleet.Change) { c.Configure, c.Boot = "", "" },
		"a capture":      func(c *fleet.Change) { c.Image, c.Capture = "", "gold" },
	} {
		wanted := replaces("one")
		change(&wanted)
		if _, err := r.PutBinding(t.Context(), "n1", wanted); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The outlook, of which consent and plans of Terraform are made, names the partition.
func TestTheOutlookOfAPartition(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("disk")
	r.registerPartition("one")
	whole := binding(1, "disk")
	whole.Disk = "serial:1"
	r.bind(whole)
	for _, c := range []struct {
		partition, want string
		why             []string
	}{
		{"2", "n1: partition 2 of serial:1, whose other bytes stay, generation 1 -> 2, image disk -> one", nil},
		{"part-label:root", "n1: partition part-label:root of serial:1, whose other bytes stay, generation 2 -> 3, " +
			"image one -> one", []string{"partition"}},
	} {
		change := replaces("one")
		change.Disk, change.Partition = "serial:1", c.partition
		shown, err := r.Dry().PutBinding(t.Context(), "n1", change)
		if err != nil || shown.Outlook.Wipes != c.want || shown.Outlook.Partition != c.partition ||
			c.why != nil && (len(shown.Outlook.Why) != 1 || shown.Outlook.Why[0] != c.why[0]) {
			t.Errorf("%v, %+v\nwant %s", err, shown.Outlook, c.want)
		}
		r.bind(change)
	}
	bound, err := r.Binding(t.Context(), "n1")
	if err != nil || bound.Partition != "part-label:root" || bound.HandsOver {
		t.Errorf("%+v, %v", bound, err)
	}
}

// A machine that changes hands keeps nothing, so no partition of it does either: by another owner, or while a handover
// is not completed.
func TestAPartitionHandsNothingOver(t *testing.T) {
	r := installed(t, "a")
	r.registerPartition("one")
	change := replaces("one")
	change.Owner, change.TakeOver = "b", true
	_, err := r.PutBinding(t.Context(), "n1", change)
	r.refused("another owner", err, refusal.Invalid, "the machine changes hands")
	r.handed("refused", false)
	r.bind(of("b", "d13"))
	_, err = r.PutBinding(t.Context(), "n1", change)
	r.refused("not completed", err, refusal.Invalid, "the machine changes hands")
	r.runs(2)
	if bound := r.bind(change); bound.HandsOver {
		t.Errorf("it hands over once that is completed: %+v", bound)
	}
}
