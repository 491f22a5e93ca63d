// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

const config = `terraform {
  required_providers {
    sled = { source = "sled-fleet/sled" }
  }
}
`

// Both CLIs look there without a configuration file, and the lock file of one build fits the next.
func TestAccInitFindsTheProvider(t *testing.T) {
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}
	root, home := root(t), t.TempDir()
	t.Chdir(root)
	for _, mirror := range []string{".terraform.d/plugins", "share/terraform/plugins"} {
		if err := run(t.Context(), "1.2.3", filepath.Join(home, mirror),
			[]string{runtime.GOOS + "_" + runtime.GOARCH}); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	initialise(t, work, []string{"HOME=" + home})
	initialise(t, work, []string{"HOME=" + t.TempDir(), "XDG_DATA_DIRS=" + filepath.Join(home, "share")},
		"-lockfile=readonly")
}

// initialise runs init from nothing but the lock file, and wants it to find the provider.
func initialise(t *testing.T, work string, environment []string, arguments ...string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(work, ".terraform")); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), os.Getenv("TF_ACC_TERRAFORM_PATH"),
		append([]string{"init", "-no-color"}, arguments...)...)
	command.Dir = work
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1"}, environment...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("init with %v: %v\n%s", environment, err, output)
	}
}
