// SPDX-License-Identifier: Apache-2.0

package quirk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/quirk"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "quirks.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShippedQuirksNameTheirSource(t *testing.T) {
	list, err := quirk.Load("")
	if err != nil || len(list.Items()) == 0 {
		t.Fatalf("%d items, %v", len(list.Items()), err)
	}
	for _, item := range list.Items() {
		if !strings.HasPrefix(item.Source, "https://") || item.Origin != "shipped" || item.Match.Vendor == "" {
			t.Errorf("%+v", item)
		}
	}
}

func TestFind(t *testing.T) {
	list, err := quirk.Load(file(t, `
- match: {vendor: "dell inc.", product: "PowerEdge R7*5"}
  reason: hangs
- match: {bios: "1.16*", product: "Standard PC (Q35*"}
  reason: emulated
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dmi  map[string]string
		want string
	}{
		{map[string]string{"vendor": "Dell Inc.", "product": "PowerEdge R745"}, "hangs"},
		{map[string]string{"vendor": "Dell Inc.", "product": "PowerEdge R75"}, "hangs"},
		{map[string]string{"vendor": "Dell Inc.", "product": "PowerEdge R750"}, ""},
		{map[string]string{"vendor": "Dell Inc", "product": "PowerEdge R745"}, ""},
		{map[string]string{"vendor": "QEMU", "product": "Standard PC (Q35 + ICH9, 2009)", "bios": "1.16.2"}, "emulated"},
		{map[string]string{"product": "Standard PC (Q35 + ICH9, 2009)"}, ""},
		{map[string]string{"vendor": "Raspberry Pi Foundation", "product": "Raspberry Pi 4 Model B"},
			"kexec fails with many firmware versions, and where it works the display stays dark"},
		{nil, ""},
	} {
		if got, found := list.Find(c.dmi); got.Reason != c.want || found != (c.want != "") {
			t.Errorf("%v: %+v, want %q", c.dmi, got, c.want)
		}
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"- match: {vendor: X}\n":                                  "entry 1: reason is missing",
		"- reason: x\n":                                           "entry 1: match is empty",
		"- match: {colour: red}\n  reason: x\n":                   `unknown field "colour"`,
		"- match: {vendor: X}\n  reason: x\n  reason: y\n":        "already set",
		"match: {vendor: X}\nreason: x\n":                         "want a list",
		"- match: {vendor: X}\n  reason: x\n  origin: shipped\n":  "origin",
		"- match: {vendor: X}\n  reason: a\n- match: {bios: Y}\n": "entry 2",
	} {
		if _, err := quirk.Load(file(t, text)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "quirks.yml") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := quirk.Load("/nowhere/quirks.yml"); err == nil || !strings.Contains(err.Error(), "/nowhere/quirks.yml") {
		t.Errorf("a file that is not there: %v", err)
	}
}
