// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// onKernels is a rack with images in memory, two kernels more, and a node whose network needs virtio_net.
func onKernels(t *testing.T) *rack {
	t.Helper()
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.inMemory()
	for name, about := range map[string]api.ImageSpec{
		"other": {Kernel: &api.Kernel{Release: "6.12", Drivers: []string{"virtio_net"}}},
		"arm":   {Kernel: &api.Kernel{Release: "6.12"}, Architecture: "arm64"},
		"bare":  {Kernel: &api.Kernel{Release: "6.12", Drivers: []string{"e1000e"}}},
	} {
		spec := image(name)
		spec.Kind, spec.Kernel, spec.Architecture = api.KernelImage, about.Kernel, about.Architecture
		if _, err := r.PutImage(t.Context(), name, spec, nodetx.Wanted{}); err != nil {
			t.Fatal(err)
		}
	}
	err := r.Update(t.Context(), address(1), nil, func(tx *nodetx.Tx) error {
		tx.Writes.Put(key.Facts+tx.MAC, nodetx.Encode(api.Facts{NICs: nodetexttest.Devices(
			map[string]string{"mac": address(1), "driver": "virtio-net"})}))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// on is a binding of n1 to an image on a kernel.
func on(image, kernel string) fleet.Change {
	change := binding(1, image)
	change.Kernel = kernel
	return change
}

func TestKernelsThatAreRefused(t *testing.T) {
	r := onKernels(t)
	for _, one := range []struct {
		change func(c *fleet.Change)
		want   string
	}{
		{func(c *fleet.Change) { c.Image = "d12" }, "image d12 has kind disk: leave kernel out"},
		{func(c *fleet.Change) { c.Image = "payload" }, "leave kernel out"},
		{func(c *fleet.Change) { c.Image = "" }, "the binding names no image"},
		{func(c *fleet.Change) { c.Kernel = "missing" }, "image missing does not exist"},
		{func(c *fleet.Change) { c.Kernel = "root" }, "image root has kind root: want a kernel of kind kernel"},
		{func(c *fleet.Change) { c.Kernel = "payload" }, "image payload (kernel, multiboot) is a payload"},
		{func(c *fleet.Change) { c.Kernel = "arm" }, "image arm is for arm64, node n1 is x86_64"},
		{func(c *fleet.Change) { c.Kernel = "bare" }, "kernel image bare has no driver virtio_net"},
		{func(c *fleet.Change) { c.KernelArguments = "sled.servers=http://evil" }, "arguments of the Sled system"},
		{func(c *fleet.Change) { c.Handover = true }, "changes hands"},
		{func(c *fleet.Change) { c.Admission = admission.Attested.String() }, "level attested"},
	} {
		change := on("root", "other")
		one.change(&change)
		_, single := r.Dry().PutBinding(t.Context(), "n1", change)
		_, many := r.PutBindings(t.Context(), api.BulkBindings{Items: []api.BulkBinding{change.BulkBinding}}, false, false)
		for way, err := range map[string]error{"one": single, "bulk": many} {
			var refused *refusal.Error
			if !errors.As(err, &refused) || refused.Kind != refusal.Invalid ||
				!strings.Contains(refused.Details[0].Message, one.want) {
				t.Errorf("%s: %v, want %s", way, err, one.want)
			}
		}
	}
}

// Another kernel raises the generation, other arguments do not; a kernel that is bound stays.
func TestAKernelOfABinding(t *testing.T) {
	r := onKernels(t)
	first := r.bind(on("root", "other"))
	change := on("root", "other")
	change.KernelArguments = "quiet"
	if same := r.bind(change); same.Generation != first.Generation || same.Kernel != "other" || !same.Memory {
		t.Errorf("%+v", same)
	}
	r.refused("a kernel that is bound", r.DeleteImage(t.Context(), "other", nodetx.Wanted{}), refusal.Conflict,
		"image other is the kernel that node n1 is bound to")
	shown, err := r.Dry().PutBinding(t.Context(), "n1", on("root", ""))
	if err != nil || !slices.Equal(shown.Outlook.Why, []string{"kernel"}) || shown.Outlook.Wipes != "" {
		t.Errorf("%+v, %v", shown.Outlook, err)
	}
	if again, err := r.Reimage(t.Context(), "n1", 0, nodetx.Wanted{}); err != nil || again.Kernel != "other" ||
		again.Generation != first.Generation+1 {
		t.Errorf("%+v, %v", again, err)
	}
}
