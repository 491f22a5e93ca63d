// SPDX-License-Identifier: Apache-2.0

package double_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// What runs from memory starts again at each boot. The disk keeps what it had.
func TestRunsFromMemory(t *testing.T) {
	for name, image := range map[string]api.ImageSpec{
		"root": {Kind: api.RootImage},
		"kernel": {Kind: api.KernelImage,
			Payload: &api.Payload{Format: api.FormatMultiboot, Confirm: api.ConfirmHTTP}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fleet(t)
			dir := t.TempDir()
			cut := machine(t, s, dir, "")
			await(t, s, api.Operational)
			cut()
			disk := filepath.Join(dir, mac.Hyphens(sleddtest.MAC(1))+".disk")
			before, err := os.ReadFile(disk)
			if err != nil {
				t.Fatal(err)
			}
			image.Name, image.Digest, image.Bytes, image.FileBytes = name, sleddtest.DigestOf(name), 512, 1
			image.URLs = []string{"http://10.77.0.1/images/" + name}
			if _, err := s.Client().PutImage(t.Context(), image); err != nil {
				t.Fatal(err)
			}
			s.Bind(api.BindingSpec{Node: "n1", Image: name})
			run := s.Node(1).Status.Run
			for range 2 {
				cut = machine(t, s, dir, "")
				patience.Until(t, "it runs from memory", func() bool {
					status := s.Node(1).Status
					return status.Memory && status.Phase == api.Operational && status.Run.Number > run.Number
				})
				run = s.Node(1).Status.Run
				cut()
			}
			if after, err := os.ReadFile(disk); err != nil || string(after) != string(before) {
				t.Errorf("%v, disk %q, before %q", err, after, before)
			}
		})
	}
}

// A root on a kernel: each power cycle starts that kernel again. One that does not come up is told, and the kernel of
// before runs the root again once the binding names none.
func TestARootOnAKernel(t *testing.T) {
	const hangs = "kernel: {release: \"6.12\", hangs: 1}\n"
	s := fleet(t)
	dir := t.TempDir()
	s.RegisterRoot("root")
	_, err := s.Client().PutImage(t.Context(), api.ImageSpec{Name: "k", Kind: api.KernelImage,
		Digest: sleddtest.DigestOf("k"), URLs: []string{"http://10.77.0.1/images/k"}, Bytes: 512, FileBytes: 1,
		Kernel: &api.Kernel{Release: "6.12"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Bind(api.BindingSpec{Node: "n1", Image: "root", Kernel: "k"})
	cut := machine(t, s, dir, hangs)
	patience.Until(t, "its kernel hangs", func() bool {
		_, err := os.Stat(filepath.Join(dir, mac.Hyphens(sleddtest.MAC(1))+".hang_at_start"))
		return err == nil && s.Node(1).Status.Kernel.State == api.KernelLeft
	})
	cut()
	cut = machine(t, s, dir, hangs)
	failed := await(t, s, api.Failed).Status
	if failed.Reason.String() != "kernel k did not start: the node came through its firmware" || failed.Code != 0 {
		t.Errorf("%+v", failed)
	}
	runs := func(release string) {
		t.Helper()
		node := await(t, s, api.Operational)
		if got := s.Node(1).Facts.Kernel["release"].String(); got != release || !node.Status.Memory {
			t.Errorf("it runs %s, want %s: %+v", got, release, node.Status)
		}
	}
	for range 2 {
		cut()
		await := s.Node(1).Status.Run.Number
		cut = machine(t, s, dir, hangs)
		patience.Until(t, "it runs again", func() bool {
			status := s.Node(1).Status
			return status.Run.Number == await+2 && status.Phase == api.Operational
		})
		runs("6.12")
	}
	s.Bind(api.BindingSpec{Node: "n1", Image: "root"})
	cut()
	machine(t, s, dir, hangs)
	patience.Until(t, "it runs without it", func() bool { return s.Node(1).Binding.Satisfied })
	runs("6.1")
}
