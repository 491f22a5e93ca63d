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
