// SPDX-License-Identifier: Apache-2.0

// Package examples proves the configurations that the documentation shows: each is valid, and those of the guides do
// what the guides say.
package examples

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const (
	shown       = "../../examples"
	inventories = "../../../inventory"
)

// newer is the Terraform that some examples need; OpenTofu cannot do them.
var newer = map[string]string{"actions": "1.14.0", "list-resources": "1.14.0"}

func TestAccExamplesAreValid(t *testing.T) {
	for _, root := range []string{shown, inventories} {
		for _, folder := range folders(t, root) {
			t.Run(strings.ReplaceAll(folder, "../", ""), func(t *testing.T) {
				if least := newer[filepath.Base(filepath.Dir(folder))]; least != "" {
					acctest.SkipBelow(t, least, "")
				}
				valid(t, folder)
			})
		}
	}
}

// valid wants a configuration to be valid, alone and with each of its import blocks.
func valid(t *testing.T, folder string) {
	t.Helper()
	config := read(t, folder, "*.tf")
	cli := open(t, folder)
	if len(match(t, folder, "*.tfquery.hcl")) > 0 {
		cli.Must("validate", "-query")
	} else {
		cli.Must("validate")
	}
	for _, file := range match(t, folder, "import-*.tf") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if strings.HasSuffix(file, "identity.tf") {
				acctest.SkipBelow(t, "1.12.0", "1.12.0")
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cli.Write(config + "\n" + string(text))
			cli.Must("validate")
		})
	}
}

// data are the files that configurations read.
var data = []string{".csv", ".yml", ".hcl"}

// open makes a directory for the CLI with an example's configuration and data.
func open(t *testing.T, folder string) *acctest.CLI {
	t.Helper()
	cli := acctest.NewCLI(t, read(t, folder, "*.tf"))
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains(data, filepath.Ext(path)) {
			return err
		}
		to := filepath.Join(cli.Dir, strings.TrimPrefix(path, folder))
		change(t, path, to)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	cli.Must("init")
	return cli
}

// change copies a file, with texts in it replaced by others: old, new, old, new...
func change(t *testing.T, from, to string, replaced ...string) {
	t.Helper()
	text, err := os.ReadFile(from)
	err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700))
	if err == nil {
		err = os.WriteFile(to, []byte(strings.NewReplacer(replaced...).Replace(string(text))), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// read joins the parts of a configuration, without import blocks. What a page shows is a part only and gets a head.
func read(t *testing.T, folder, pattern string) string {
	t.Helper()
	var parts []string
	for _, file := range match(t, folder, pattern) {
		if strings.HasPrefix(filepath.Base(file), "import-") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(text))
	}
	config := strings.Join(parts, "\n")
	if strings.Contains(config, "required_providers") {
		return config
	}
	return acctest.Config("", config)
}

func match(t *testing.T, folder, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// folders lists those that hold a configuration.
func folders(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && len(match(t, path, "*.tf"))+len(match(t, path, "*.tfquery.hcl")) > 0 {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("no configuration below %s: %v", root, err)
	}
	return found
}
