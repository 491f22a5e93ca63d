// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// sources is what the provider is built from.
var sources = []string{"go.mod", "go.sum", "LICENSE", "contract", "ipxe", "sledd", "terraform-provider"}

func TestSameSourceInAnotherPlaceGivesTheSameBytes(t *testing.T) {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	root, elsewhere := root(t), t.TempDir()
	first := packIn(t, root, platform)
	for _, source := range sources {
		copyTo(t, filepath.Join(root, source), filepath.Join(elsewhere, source))
	}
	t.Setenv("GOAMD64", "v2") // nor does the caller's environment matter
	t.Setenv("CGO_ENABLED", "1")
	second := packIn(t, elsewhere, platform)

	if !bytes.Equal(first, second) {
		t.Errorf("two builds differ: %d and %d bytes", len(first), len(second))
	}
}

func TestZipHoldsTheBinaryAndTheLicence(t *testing.T) {
	content := packIn(t, root(t), runtime.GOOS+"_"+runtime.GOARCH)
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{"terraform-provider-sled_v1.2.3": 0o755, "LICENSE": 0o644}
	for _, file := range archive.File {
		if mode, known := want[file.Name]; !known || mode != file.Mode() || !file.Modified.Equal(packed) {
			t.Errorf("%s: mode %v, time %v", file.Name, file.Mode(), file.Modified)
		}
		delete(want, file.Name)
	}
	if len(want) != 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestRefuses(t *testing.T) {
	for name, call := range map[string]struct {
		version, to string
		platforms   []string
		want        string
	}{
		"a version with v":           {"v1.2.3", "x", []string{"linux_amd64"}, `version "v1.2.3"`},
		"no directory":               {"1.2.3", "", []string{"linux_amd64"}, "-to DIRECTORY"},
		"no platform":                {"1.2.3", "x", nil, "at least one platform"},
		"a platform that is no pair": {"1.2.3", "x", []string{"linux"}, `platform "linux": want SYSTEM_ARCHITECTURE`},
		"a platform without names":   {"1.2.3", "x", []string{"_"}, `platform "_": want SYSTEM_ARCHITECTURE`},
		"a platform of three": {"1.2.3", "x", []string{"linux_arm_7"},
			`platform "linux_arm_7": want SYSTEM_ARCHITECTURE`},
		"a platform that Go has not":   {"1.2.3", "x", []string{"linux_vax"}, "go build for linux_vax"},
		"a version that is no version": {"1.2", "x", []string{"linux_amd64"}, "semantic version"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(t.Context(), call.version, call.to, call.platforms)
			if err == nil || !strings.Contains(err.Error(), call.want) {
				t.Errorf("got %v, want %q", err, call.want)
			}
		})
	}
}

func root(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// packIn packs a tree and gives the zip, after proof that both registries have the same.
func packIn(t *testing.T, tree, platform string) []byte {
	t.Helper()
	to := t.TempDir()
	t.Chdir(tree)
	if err := run(t.Context(), "1.2.3", to, []string{platform}); err != nil {
		t.Fatal(err)
	}
	var zips [][]byte
	for _, registry := range registries {
		content, err := os.ReadFile(filepath.Join(to, registry,
			"sled-fleet/sled/terraform-provider-sled_1.2.3_"+platform+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		zips = append(zips, content)
	}
	if !bytes.Equal(zips[0], zips[1]) {
		t.Error("the two registries have different bytes")
	}
	return zips[0]
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	if output, err := exec.CommandContext(t.Context(), "cp", "-r", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, output)
	}
}
