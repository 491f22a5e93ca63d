// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// five is bindings of n1 to n5.
func five(lines ...string) (all string) {
	for i := range 5 {
		all += n(fmt.Sprintf("n%d", i+1), lines...)
	}
	return all
}

// max_reimages = 3 and five changed: the plan fails with one error. First images do not count; with 5 it applies.
func TestAccMaxReimages(t *testing.T) {
	l := start(t, "max_reimages = 3")
	l.declare(five(image("v1")))
	l.Apply()
	l.Empty()

	l.declare(five(image("v2")))
	l.Fails("max_reimages of the provider is 3, this plan images at least 4: n\\d, n\\d, n\\d, n\\d\\.", "plan")
	if text := acctest.Flat(l.Run("plan").Text); strings.Count(text, "Error: ") != 1 {
		t.Errorf("want one error, got:\n%s", text)
	}
	l.refused("Too many machines would be imaged again", "apply", "-auto-approve")
	for i := range 5 {
		l.wants(i+1, "v1", 1)
	}
	l.has(l.plan(2, "-target=sled_binding.n1", "-target=sled_binding.n2", "-target=sled_binding.n3"), "3 to change")

	l.head = acctest.Header(l.sledd.URL, "max_reimages = 5")
	l.declare(five(image("v2")))
	text := l.Apply()
	if found := regexp.MustCompile(`generation +\S+ 1 -> 2`).FindAllString(text, -1); len(found) < 5 {
		t.Errorf("the plan does not show five generations:\n%s", text)
	}
	for i := range 5 {
		l.wants(i+1, "v2", 2)
	}
	l.Empty()
}

// Wipes on the way out count too, and so does drift that is planned back; what only drifted does not.
func TestAccMaxReimagesCountsEveryWipe(t *testing.T) {
	l := start(t, "max_reimages = 0")
	l.bound(image("v1"), `on_destroy = "wipe"`)
	l.declare()
	l.Fails("images at least 1: n1\\.", "plan")
	l.declare(n("n1", image("v1"), `on_destroy = "wipe"`))
	l.drift()
	l.plan(0)
	l.declare(n("n1", image("v1"), `on_drift = "reimage"`))
	l.Fails("images at least 1: n1\\.", "plan")
}
