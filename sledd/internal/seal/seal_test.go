// SPDX-License-Identifier: Apache-2.0

package seal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/seal"
)

var first, second = strings.Repeat("01", 32), strings.Repeat("ab", 32)

func load(t *testing.T, keys ...string) (*seal.Box, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return seal.Load(file)
}

func TestSealedTextOpensWithItsKeyAtItsPlaceOnly(t *testing.T) {
	box, err := load(t, first)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "password: hunter2"
	sealed := box.Seal(secret, "n1")
	if sealed == box.Seal(secret, "n1") || strings.Contains(sealed, "hunter2") {
		t.Error("sealed texts are alike, or readable: ", sealed)
	}
	if text, err := box.Open(sealed, "n1"); err != nil || text != secret {
		t.Errorf("%q, %v", text, err)
	}
	rotated, err := load(t, second, first)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := rotated.Open(sealed, "n1"); err != nil || text != secret {
		t.Errorf("after a rotation: %q, %v", text, err)
	}
	other, err := load(t, second)
	if err != nil {
		t.Fatal(err)
	}
	altered := "A" + sealed[1:]
	if sealed[0] == 'A' {
		altered = "B" + sealed[1:]
	}
	for name, open := range map[string]func() (string, error){
		"another place": func() (string, error) { return box.Open(sealed, "n2") },
		"another key":   func() (string, error) { return other.Open(sealed, "n1") },
		"no key":        func() (string, error) { return (*seal.Box)(nil).Open(sealed, "n1") },
		"altered":       func() (string, error) { return box.Open(altered, "n1") },
		"short":         func() (string, error) { return box.Open("AAAA", "n1") },
		"no base64":     func() (string, error) { return box.Open("?", "n1") },
	} {
		if text, err := open(); !errors.Is(err, seal.ErrNoKey) || text != "" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, keys := range []string{"", "short", strings.Repeat("0", 63), strings.Repeat("g", 64)} {
		if _, err := load(t, keys); err == nil {
			t.Errorf("%q was accepted", keys)
		}
	}
	if box, err := seal.Load(""); box != nil || err != nil {
		t.Errorf("no file: %v, %v", box, err)
	}
	if _, err := seal.Load("/none"); err == nil {
		t.Error("a missing file was accepted")
	}
}
