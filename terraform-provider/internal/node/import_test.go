// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const byIdentity = `
import {
  to       = sled_node.n
  identity = { mac = "52-54-00-77-00-01" }
}
`

func TestAccNodeImportByIdentity(t *testing.T) {
	acctest.SkipBelow(t, "1.12", "1.12")
	s := acctest.Start(t)
	s.Declare(1)
	declared := small(`disk = "serial:LAB-0001"`, `labels = { rack = "a" }`)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), byIdentity+declared))
	if text := cli.Apply(); !strings.Contains(text, "1 imported, 0 added, 0 changed, 0 destroyed") {
		t.Error(text)
	}
	cli.Empty()
}

// The configuration that the CLI writes for what it imports is the whole declaration.
func TestAccNodeImportWritesTheConfiguration(t *testing.T) {
	acctest.SkipBelow(t, "1.11", "1.11")
	s := acctest.Start(t)
	s.Declare(1)
	config := acctest.Config(acctest.Header(s.URL), "import {\n  to = sled_node.n\n  id = \"n1\"\n}\n")
	cli := acctest.NewCLI(t, config)
	cli.Must("plan", "-generate-config-out=generated.tf")
	generated, err := os.ReadFile(filepath.Join(cli.Dir, "generated.tf"))
	if err != nil || !strings.Contains(string(generated), `"serial:LAB-0001"`) {
		t.Errorf("%v %s", err, generated)
	}
	if text := cli.Apply(); !strings.Contains(text, "1 imported, 0 added, 0 changed, 0 destroyed") {
		t.Error(text)
	}
	cli.Empty()
}

// A machine that only booted is adopted: what `terraform query` writes for it lacks but the name.
func TestAccNodeAdopt(t *testing.T) {
	acctest.SkipBelow(t, "1.12", "1.12")
	s := acctest.Start(t)
	s.Machine(1).Facts()
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), byIdentity+small()))
	if text := cli.Apply(); !strings.Contains(text, "1 imported, 0 added, 1 changed, 0 destroyed") {
		t.Error(text)
	}
	cli.Empty()
	if node := stored(t, s); !node.Declared || node.Name != "n1" {
		t.Errorf("%+v", node)
	}
}
