// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

// inMemory registers a root, a payload and a kernel of the Sled system.
func (r *rack) inMemory() {
	r.Helper()
	for name, about := range map[string]api.ImageSpec{
		"root":    {Kind: api.RootImage},
		"payload": {Kind: api.KernelImage, Payload: &api.Payload{Format: "multiboot", Confirm: "http"}},
		"kernel":  {Kind: api.KernelImage, Kernel: &api.Kernel{Release: "6.1"}},
	} {
		spec := image(name)
		spec.Kind, spec.Payload, spec.Kernel = about.Kind, about.Payload, about.Kernel
		if _, err := r.PutImage(r.Context(), name, spec, nodetx.Wanted{}); err != nil {
			r.Fatal(err)
		}
	}
}

func TestWhatMemoryNeverUses(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.inMemory()
	for _, one := range []struct {
		image, name string
		change      func(c *fleet.Change)
	}{
		{"root", "disk", func(c *fleet.Change) { c.Disk = "only" }},
		{"root", "partition", func(c *fleet.Change) { c.Partition = "2" }},
		{"root", "wipe", func(c *fleet.Change) { c.Wipe = "clear" }},
		{"root", "wipe_method", func(c *fleet.Change) { c.WipeMethod = "auto" }},
		{"root", "mode", func(c *fleet.Change) { c.Mode = "full" }},
		{"root", "verify", func(c *fleet.Change) { c.Verify = "full" }},
		{"root", "grow", func(c *fleet.Change) { c.Grow = "last" }},
		{"root", "boot", func(c *fleet.Change) { c.Boot = "kexec" }},
		{"root", "configure", func(c *fleet.Change) { c.Configure = "none" }},
		{"root", "kernel_arguments", func(c *fleet.Change) { c.KernelArguments = "quiet" }},
		{"payload", "hostname", func(c *fleet.Change) { c.Hostname = "n" }},
		{"payload", "authorized_keys", func(c *fleet.Change) { c.AuthorizedKeys = []string{"a"} }},
		{"payload", "user_data", func(c *fleet.Change) { c.UserData = "#!" }},
		{"payload", "seed_changes", func(c *fleet.Change) { c.SeedChanges = "reimage" }},
	} {
		change := binding(1, one.image)
		one.change(&change)
		_, err := r.PutBinding(t.Context(), "n1", change)
		r.refused(one.name, err, refusal.Invalid, "leave "+one.name+" out")
	}
}

func TestWhoWaitsAfterAPowerCut(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.inMemory()
	for _, one := range []struct {
		level    admission.Level
		recorded bool
		change   func(c *fleet.Change)
		want     string
	}{
		{admission.Expected, false, func(c *fleet.Change) { c.AuthorizedKeys = []string{sshkeys.Alice} }, "it has keys, so"},
		{admission.Expected, false, func(c *fleet.Change) { c.UserData = "#!/bin/sh" }, "it has user data, so"},
		{admission.Expected, true, func(c *fleet.Change) { c.UserData = "#!/bin/sh" }, ""},
		{admission.Open, false, func(c *fleet.Change) { c.UserData = "#!/bin/sh" }, ""},
		{admission.Expected, false, func(*fleet.Change) {}, ""},
		{admission.Expected, false, func(c *fleet.Change) { c.Admission = "proven" }, "it has level proven, so"},
	} {
		r.Policy.Level, r.Recorded = one.level, func(string) bool { return one.recorded }
		change := binding(1, "root")
		one.change(&change)
		shown, err := r.Dry().PutBinding(t.Context(), "n1", change)
		if err != nil {
			t.Fatal(err)
		}
		if got := shown.Outlook.Warning; !strings.HasPrefix(got, one.want) || one.want == "" && got != "" {
			t.Errorf("%+v: %q", one, got)
		}
	}
}

func TestAPayloadThatConfirmsByTheConsoleNeedsARecord(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	spec := image("shown")
	spec.Kind = api.KernelImage
	spec.Payload = &api.Payload{Format: "multiboot", Confirm: api.ConfirmConsole, Console: "up"}
	if _, err := r.PutImage(r.Context(), spec.Name, spec, nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.PutBinding(t.Context(), "n1", binding(1, "shown"))
	r.refused("no directory", err, refusal.Invalid, "node n1 is not recorded")
	r.Recorded = func(string) bool { return false }
	_, err = r.Dry().PutBinding(t.Context(), "n1", binding(1, "shown"))
	r.refused("no record", err, refusal.Invalid, "node n1 is not recorded")
	r.Recorded = func(string) bool { return true }
	r.bind(binding(1, "shown"))
	r.observe(1, api.Status{Phase: api.Starting, Memory: true, Generation: 1, Since: now})
	r.waits("started", api.Wait{Kind: api.WaitsForPayload, For: "its payload, which confirms by console",
		Until: now.Add(5 * time.Minute)})
}

func TestOutlookOfMemory(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.inMemory()
	r.bind(binding(1, "d12"))
	for _, name := range []string{"root", "payload"} {
		shown, err := r.Dry().PutBinding(t.Context(), "n1", binding(1, name))
		if err != nil {
			t.Fatal(err)
		}
		o := shown.Outlook
		if !o.Memory || !shown.Memory || o.Wipes != "" || o.Again() || o.Generation != 2 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if got := r.bind(binding(1, "payload")); !got.Memory {
		t.Errorf("%+v", got)
	}
	back, err := r.Dry().PutBinding(t.Context(), "n1", binding(1, "d12"))
	if err != nil || back.Outlook.Memory || back.Outlook.Wipes == "" {
		t.Errorf("%+v, %v: a disk image wipes the disk", back.Outlook, err)
	}
}

// reports stores what a machine has reported of itself.
func (r *rack) reports(i int, architecture string, firmware map[string]string) {
	r.Helper()
	err := r.Update(r.Context(), address(i), nil, func(tx *nodetx.Tx) error {
		tx.Status().Architecture = architecture
		tx.Writes.Put(key.Facts+tx.MAC, nodetx.Encode(api.Facts{Firmware: nodetexttest.Facts(firmware)}))
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}

func TestWhatTheMachineCannotStart(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.inMemory()
	for name, payload := range map[string]api.Payload{"linux": {Format: api.FormatLinux},
		"real": {Format: api.FormatLinux, RealMode: true}} {
		spec := image(name)
		spec.Kind, spec.Payload = api.KernelImage, &payload
		if _, err := r.PutImage(t.Context(), name, spec, nodetx.Wanted{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range []struct {
		architecture, firmware, lockdown string
		refused                          map[string]string
	}{
		{"", "bios", "", nil},
		{"x86_64", "bios", "none", nil},
		{"x86_64", "uefi", "none", map[string]string{"real": "started by UEFI"}},
		{"x86_64", "bios", "integrity", map[string]string{"real": "lockdown integrity", "payload": "lockdown integrity"}},
		{"arm64", "uefi", "none", map[string]string{"real": "the machine is arm64", "payload": "the machine is arm64",
			"linux": "the machine is arm64", "root": "the machine is arm64"}},
	} {
		r.reports(1, one.architecture, map[string]string{"type": one.firmware, "lockdown": one.lockdown})
		for _, name := range []string{"d12", "root", "linux", "payload", "real"} {
			_, single := r.Dry().PutBinding(t.Context(), "n1", binding(1, name))
			_, many := r.PutBindings(t.Context(), api.BulkBindings{Items: []api.BulkBinding{binding(1, name).BulkBinding}},
				false, false)
			for way, err := range map[string]error{"one": single, "bulk": many} {
				var refused *refusal.Error
				want, is := one.refused[name], errors.As(err, &refused)
				if is != (want != "") || is && (refused.Kind != refusal.Invalid ||
					!strings.Contains(refused.Details[0].Message, want)) {
					t.Errorf("%s: %s on %+v: %v", way, name, one, err)
				}
			}
		}
	}
}
