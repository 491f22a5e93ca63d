// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// golden compares a text with a file, of which each CLI has its own: they differ in the frame, and break lines at
// other places.
func golden(t *testing.T, name, text string) {
	t.Helper()
	cli := ".terraform"
	if acctest.IsTofu() {
		cli = ".tofu"
	}
	acctest.Golden(t, filepath.Join("testdata", name+cli+".golden"), text)
}

// What an operator reads before an image is changed.
func TestAccGoldenChange(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.declare(n("n1", image("v2")))
	golden(t, "change", l.Must("plan"))
}

// What an operator reads when somebody changed the binding.
func TestAccGoldenDrift(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.drift()
	golden(t, "drift", l.Must("plan"))
}

// What an operator reads when too many machines would be imaged again: one error, without the place and the names,
// which are those of the machines that were planned first.
func TestAccGoldenMaxReimages(t *testing.T) {
	l := start(t, "max_reimages = 3")
	l.declare(five(image("v1")))
	l.Apply()
	l.declare(five(image("v2")))
	out := l.Run("plan").Text
	at := strings.Index(out, "Error: ")
	if at < 0 || strings.Count(out, "Error: ") != 1 {
		t.Fatalf("want one error:\n%s", out)
	}
	text := regexp.MustCompile(`(?m)^ +(with|on|\d+:) .*\n`).ReplaceAllString(out[at:], "")
	golden(t, "max-reimages", regexp.MustCompile(`\bn\d\b`).ReplaceAllString(text, "nN"))
}
