// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

const (
	alice = sshkeys.Alice + " alice@desk"
	bob   = `from="10.0.0.1",command="echo \"a b\"" ` + sshkeys.Bob + ` bob`
)

// full is a binding with every attribute that could raise the generation.
func full() fleet.Change {
	change := binding(1, "v1")
	change.Disk, change.Hostname, change.AuthorizedKeys = "serial:1", "n1", []string{alice, bob}
	change.UserData = "#cloud-config\n"
	return change
}

// keys is an edit of the keys.
func keys(lines ...string) func(c *fleet.Change) {
	return func(c *fleet.Change) { c.AuthorizedKeys = lines }
}

// at is an edit that takes effect at once.
func at(edit func(c *fleet.Change)) func(c *fleet.Change) {
	return func(c *fleet.Change) {
		edit(c)
		c.SeedChanges = api.SeedReimages
	}
}

// unconfigured leaves the image as it is written, so it has nothing to give to it.
func unconfigured(c *fleet.Change) {
	c.Configure, c.Hostname, c.AuthorizedKeys, c.UserData = api.Unconfigured, "", nil, ""
}

// edits of full, and why each images the node again.
var edits = map[string]struct {
	edit func(c *fleet.Change)
	want []string
}{
	"nothing":                      {func(*fleet.Change) {}, nil},
	"other order of keys":          {keys(bob, alice), nil},
	"comment of a key":             {keys(sshkeys.Alice+" laptop", bob), nil},
	"no comment":                   {keys("  "+sshkeys.Alice, bob), nil},
	"a key twice":                  {keys(alice, bob, alice), nil},
	"a comment line among keys":    {keys(alice, "# admins", bob), nil},
	"default host name left out":   {func(c *fleet.Change) { c.Hostname = "" }, nil},
	"disk of the node left out":    {func(c *fleet.Change) { c.Disk = "" }, nil},
	"another name of the image":    {func(c *fleet.Change) { c.Image = "v1-alias" }, nil},
	"mode":                         {func(c *fleet.Change) { c.Mode = "delta" }, nil},
	"wipe":                         {func(c *fleet.Change) { c.Wipe = "signatures" }, nil},
	"wipe_method":                  {func(c *fleet.Change) { c.Wipe, c.WipeMethod = "purge", "nvme-format-user" }, nil},
	"verify":                       {func(c *fleet.Change) { c.Verify = "full" }, nil},
	"boot":                         {func(c *fleet.Change) { c.Boot = "reboot" }, nil},
	"kernel arguments":             {func(c *fleet.Change) { c.KernelArguments = "quiet" }, nil},
	"seed_changes alone":           {func(c *fleet.Change) { c.SeedChanges = "reimage" }, nil},
	"another key, next image":      {keys(bob), nil},
	"other options of a key":       {keys(alice, sshkeys.Bob+" bob"), nil},
	"user data, next image":        {func(c *fleet.Change) { c.UserData = "#cloud-config\na: b\n" }, nil},
	"host name, next image":        {func(c *fleet.Change) { c.Hostname = "db1" }, nil},
	"user data kept":               {func(c *fleet.Change) { c.UserData, c.KeepUserData = "", true }, nil},
	"another image":                {func(c *fleet.Change) { c.Image = "v2" }, []string{"image"}},
	"another disk":                 {func(c *fleet.Change) { c.Disk = "serial:2" }, []string{"disk"}},
	"configured":                   {func(c *fleet.Change) { c.Configure = "system" }, nil},
	"not configured":               {unconfigured, []string{"configure"}},
	"grows":                        {func(c *fleet.Change) { c.Grow = "last" }, nil},
	"does not grow":                {func(c *fleet.Change) { c.Grow = "none" }, []string{"grow"}},
	"no image":                     {func(c *fleet.Change) { c.Image = "" }, []string{"image"}},
	"a capture":                    {func(c *fleet.Change) { c.Image, c.Capture = "", "x" }, []string{"image", "capture"}},
	"requested":                    {func(c *fleet.Change) { c.Reimage = true }, []string{"reimage"}},
	"another key, reimage":         {at(keys(bob)), []string{"seed"}},
	"other options of it, reimage": {at(keys(alice, sshkeys.Bob)), []string{"seed"}},
	"order of keys, reimage":       {at(keys(bob, alice)), nil},
	"host name, reimage":           {at(func(c *fleet.Change) { c.Hostname = "db1" }), []string{"seed"}},
	"image and disk":               {func(c *fleet.Change) { c.Image, c.Disk = "v2", "only" }, []string{"image", "disk"}},
}

// Only what changes a disk raises the generation.
func TestOnlyAnotherEffectImagesAgain(t *testing.T) {
	for name, c := range edits {
		t.Run(name, func(t *testing.T) {
			r := newRack(t)
			r.declare(1)
			r.register("v1")
			r.register("v2")
			r.alias("v1-alias", "v1")
			before := r.bind(full())
			change := full()
			c.edit(&change)
			dry, err := r.Dry().PutBinding(t.Context(), "n1", change)
			if err != nil {
				t.Fatal(err)
			}
			if dry.Outlook == nil || !slices.Equal(dry.Outlook.Why, c.want) {
				t.Errorf("outlook %+v, want %v", dry.Outlook, c.want)
			}
			if stored, err := r.Binding(t.Context(), "n1"); err != nil || stored.Revision != before.Revision {
				t.Errorf("the dry run changed revision %d to %d: %v", before.Revision, stored.Revision, err)
			}
			after := r.bind(change)
			if raised := after.Generation > before.Generation; raised != (len(c.want) > 0) {
				t.Errorf("generation %d -> %d", before.Generation, after.Generation)
			}
			if after.Generation != dry.Generation {
				t.Errorf("generation %d, and the dry run announced %d", after.Generation, dry.Generation)
			}
			if after.Outlook != nil {
				t.Errorf("a real request has an outlook: %+v", after.Outlook)
			}
		})
	}
}

// alias registers the content of an image under another name, at another URL.
func (r *rack) alias(name, of string) {
	r.Helper()
	spec := image(of)
	spec.Name, spec.URLs = name, []string{"http://mirror/" + name}
	if _, err := r.PutImage(r.Context(), name, spec, nodetx.Wanted{}); err != nil {
		r.Fatal(err)
	}
}

// What is on the disk is called as the binding calls it, so nobody takes it for something else.
func TestTheSameContentUnderAnotherName(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	r.alias("stable", "v1")
	bound := r.bind(binding(1, "v1"))
	r.observe(1, api.Status{Phase: api.Operational, Generation: 1, Image: "v1", Digest: bound.Digest})
	renamed := r.bind(binding(1, "stable"))
	node, err := r.Node(t.Context(), "n1")
	if err != nil || !renamed.Satisfied || renamed.Image != "stable" || node.Status.Image != "stable" {
		t.Errorf("%+v on %q: %v", renamed, node.Status.Image, err)
	}
}

// A changed seed is visible until the node gets it.
func TestSeedDiffers(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	r.bind(full())
	change := full()
	change.Hostname = "db1"
	if bound := r.bind(change); bound.SeedDiffers {
		t.Error("the node was not installed yet, so it gets the new seed")
	}
	r.observe(1, api.Status{Phase: api.Operational, Generation: 1, Image: "v1", SeedNumber: 1})
	if bound, err := r.Binding(t.Context(), "n1"); err != nil || bound.SeedDiffers {
		t.Errorf("it received this seed: %+v %v", bound, err)
	}
	change.Hostname = "db2"
	if bound := r.bind(change); !bound.SeedDiffers || bound.Generation != 1 {
		t.Errorf("it has another seed: %+v", bound)
	}
	change.Reimage = true
	if bound := r.bind(change); bound.SeedDiffers || bound.Generation != 2 {
		t.Errorf("it gets the seed with its next image: %+v", bound)
	}
}

// A dry run names the disk, and refuses what the request would be refused for.
func TestDryRun(t *testing.T) {
	r := newRack(t)
	r.declare(1, 2)
	r.register("v1")
	dry := r.Dry()
	bound, err := dry.PutBinding(t.Context(), "n1", binding(1, "v1"))
	if err != nil {
		t.Fatal(err)
	}
	const unseen = "n1: serial:1, generation 0 -> 1, image none -> v1"
	if bound.Outlook.Wipes != unseen || !bound.Outlook.Changed || !slices.Equal(bound.Outlook.Why, []string{"first"}) {
		t.Errorf("%+v, want %s", bound.Outlook, unseen)
	}
	if _, err := r.Binding(t.Context(), "n1"); !refusal.Is(err, refusal.NotFound) {
		t.Errorf("the dry run bound it: %v", err)
	}
	_, err = dry.PutBinding(t.Context(), "n1", binding(1, "nosuch"))
	r.refused("an image that does not exist", err, refusal.Invalid, "image nosuch does not exist")
	if _, err := dry.PutNode(t.Context(), "n3", spec(3), nodetx.Wanted{}); err != nil {
		t.Error(err)
	}
	if _, err := r.Node(t.Context(), "n3"); !refusal.Is(err, refusal.NotFound) {
		t.Errorf("the dry run declared it: %v", err)
	}
	taken := spec(3)
	taken.Name = "n1"
	_, err = dry.PutNode(t.Context(), address(3), taken, nodetx.Wanted{})
	r.refused("a name that is taken", err, refusal.Conflict, "belongs to node")
	if _, err := dry.ReplaceNode(t.Context(), "n1", api.ReplaceSpec{MAC: address(9)}, nodetx.Wanted{}); err != nil {
		t.Error(err)
	}
	if node, err := r.Node(t.Context(), "n1"); err != nil || node.MAC != address(1) {
		t.Errorf("the dry run replaced it: %+v %v", node, err)
	}
	list, err := dry.PutBindings(t.Context(), api.BulkBindings{Items: []api.BulkBinding{
		{BindingSpec: api.BindingSpec{Node: "n1", Image: "v1"}}, {BindingSpec: api.BindingSpec{Node: "n2"}, Unbind: true},
	}}, false, false)
	if err != nil || list.Items[0].Outlook.Wipes != unseen || list.Items[1].Outlook.Changed {
		t.Errorf("%+v %v", list, err)
	}
	r.bind(binding(2, "v1"))
	err = dry.DeleteBinding(t.Context(), "n2", fleet.Change{})
	if _, still := r.Binding(t.Context(), "n2"); err != nil || still != nil {
		t.Error(err, still)
	}
}

// The line for people identifies the disk by what the node reported.
func TestWipeText(t *testing.T) {
	o := api.Outlook{Node: "n1", Disk: "only", Before: 1, Generation: 2, Had: "A", Image: "B",
		Disks: []api.Disk{{Serial: "S123", Model: "PM9A3", Bytes: 1_920_383_410_176}}}
	if got, want := o.WipeText(), "n1: serial:S123 (PM9A3, 1.9 TB), generation 1 -> 2, image A -> B"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o.Disks = append(o.Disks, api.Disk{WWN: "eui.1", Bytes: 480_000_000_000})
	if got := o.WipeText(); !strings.Contains(got, "only (matches 2 disks)") {
		t.Error(got)
	}
	known := o.Disks
	o.Match(nil, nil)
	if got := o.WipeText(); !strings.HasPrefix(got, "n1: only, ") {
		t.Errorf("nothing is known of its disks: %s", got)
	}
	reported := []api.Disk{{Name: "sda", Serial: "S123", Bytes: 1}, {Name: "sdb", Serial: "S124", Bytes: 1}}
	o.Disk = "serial:S1234"
	o.Match(nil, reported)
	if got := o.WipeText(); !strings.HasPrefix(got, "n1: serial:S1234 (matches no disk that it has reported), ") {
		t.Error(got)
	}
	o.Disk, o.Image, o.Disks = api.AllDisks, "", known
	const all = "n1: all 2 disks [serial:S123 (PM9A3, 1.9 TB) wwn:eui.1 (480 GB)], generation 1 -> 2, image A -> none"
	if got := o.WipeText(); got != all {
		t.Errorf("got  %s\nwant %s", got, all)
	}
	if got, want := o.Disks[1].String(), "wwn:eui.1 (480 GB)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A drive erases itself only where that is requested: with another level, the node would refuse the plan.
func TestTheMethodNeedsItsLevel(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	levels := map[string]bool{"": false, "empty": false, "signatures": false, "clear": true, "purge": true}
	for level, right := range levels {
		change := full()
		change.Wipe, change.WipeMethod = level, "nvme-sanitize-block"
		_, err := r.PutBinding(t.Context(), "n1", change)
		if right != (err == nil) || (!right && !refusal.Is(err, refusal.Invalid)) {
			t.Errorf("level %q: %v", level, err)
		}
		change.WipeMethod = "auto"
		if _, err := r.PutBinding(t.Context(), "n1", change); err != nil {
			t.Errorf("level %q, auto: %v", level, err)
		}
	}
}

// What an image that is not configured would never get is refused with the binding, not lost.
func TestAnImageThatIsNotConfiguredGetsNothing(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	for name, edit := range map[string]func(c *fleet.Change){
		"hostname":        func(c *fleet.Change) { c.Hostname = "db1" },
		"authorized_keys": func(c *fleet.Change) { c.AuthorizedKeys = []string{alice} },
		"user_data":       func(c *fleet.Change) { c.UserData = "#cloud-config\n" },
	} {
		change := full()
		unconfigured(&change)
		edit(&change)
		_, err := r.PutBinding(t.Context(), "n1", change)
		if !refusal.Is(err, refusal.Invalid) || !strings.Contains(err.Error(), "gets no "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMethodThatCannotReachTheLevel: what the node would refuse is refused here.
func TestMethodThatCannotReachTheLevel(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	change := full()
	for _, c := range []struct{ wipe, method, text string }{
		{"empty", "ata-sanitize-block", "with wipe purge or clear"},
		{"", "ata-security-erase", "with wipe purge or clear"},
		{"purge", "ata-security-erase", "purge takes ata-security-erase-enhanced"},
	} {
		change.Wipe, change.WipeMethod = c.wipe, c.method
		_, err := r.PutBinding(t.Context(), "n1", change)
		r.refused(c.wipe+" "+c.method, err, refusal.Invalid, c.text)
	}
	for _, c := range [][2]string{{"clear", "ata-security-erase"}, {"purge", "ata-security-erase-enhanced"}} {
		change.Wipe, change.WipeMethod = c[0], c[1]
		if bound := r.bind(change); bound.WipeMethod != c[1] {
			t.Errorf("%v: %+v", c, bound)
		}
	}
}
