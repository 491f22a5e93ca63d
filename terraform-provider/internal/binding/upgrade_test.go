// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// full is a binding that says everything.
const full = `
resource "sled_binding" "n1" {
  node             = "n1"
  image            = "v1"
  disk             = "serial:X"
  wipe             = "signatures"
  mode             = "delta"
  verify           = "full"
  allow_unsigned   = true
  boot             = "kexec"
  hostname         = "h.example"
  authorized_keys  = ["ssh-ed25519 AAAA a"]
  user_data        = "#cloud-config\n"
  kernel_arguments = "quiet"
  reimage_trigger  = "1"
  on_drift         = "reimage"
  on_destroy       = "wipe"
}
`

// The state that each release wrote must be read by all later ones: nothing is planned, with and without a refresh,
// and the guard against stale plans still holds. The files are never rewritten.
func TestAccStateOfEarlierReleases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tfstate")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			l := start(t)
			l.sledd.DeclareMany(60) // so that no revision is by chance one of the file's
			l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Disk: "serial:X", Wipe: "signatures",
				Mode: "delta", Verify: "full", AllowUnsigned: true, Boot: "kexec",
				Hostname: "h.example", AuthorizedKeys: []string{"ssh-ed25519 AAAA a"}, UserData: "#cloud-config\n",
				KernelArguments: "quiet", Owner: "terraform"})
			l.sledd.Bind(api.BindingSpec{Node: "n2", Owner: "terraform"})
			l.sledd.Bind(api.BindingSpec{Node: "n3", Image: "v2", Owner: "terraform"})
			for i := range 3 {
				l.sledd.Machine(i + 1).Fulfil()
			}
			state, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(state)
			if acctest.IsTofu() {
				text = strings.ReplaceAll(text, "registry.terraform.io", "registry.opentofu.org")
			}
			l.restore(text)
			l.declare(full, n("n2"), n("n3", image("v2")))
			l.plan(0, "-refresh=false")
			l.Empty()
			l.declare(full, n("n2"), n("n3", image("v1")))
			l.refused(changed+"bind node n3", "apply", "-auto-approve", "-refresh=false") // the revision is another one
			l.wants(3, "v2", 1)
			l.has(l.plan(2), "0 to add, 1 to change, 0 to destroy", "~ generation = 1 -> 2")
			l.Apply()
			l.wants(3, "v1", 2)
		})
	}
}
