// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

const drifted = "n1 is bound to image v2 instead of image v1, at generation 2"

// drift binds n1 to v2 behind Terraform, and the machine does it.
func (l *lab) drift() {
	l.Helper()
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v2", Owner: "terraform"})
	l.sledd.Machine(1).Fulfil()
	l.wants(1, "v2", 2)
}

// on_drift = warn: the next plan tells it and plans nothing, again and again; so does one whose exit code is asked for.
func TestAccDriftWarn(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.drift()
	for range 2 {
		l.has(l.plan(0), "Warning: "+drifted, "on_drift", "No changes.")
		l.Apply()
		l.wants(1, "v2", 2)
	}
	l.has(l.Must("show"), `generation          = 1`, `observed_image      = "v2"`,
		`drift               = "bound to image v2 instead of image v1, at generation 2"`)
}

// on_drift = reimage: the next plan binds the declared image again, one generation up.
func TestAccDriftReimage(t *testing.T) {
	l := start(t)
	l.bound(image("v1"), `on_drift = "reimage"`)
	l.drift()
	l.has(l.plan(2), "~ generation = 1 -> 3", "Warning: n1: disk serial:LAB-0001 is wiped and gets image v1 "+
		"(generation 2 -> 3)", "Warning: "+drifted)
	l.Apply()
	l.wants(1, "v1", 3)
	l.sledd.Machine(1).Fulfil()
	l.Empty()
}

// on_drift = ignore: not a word.
func TestAccDriftIgnore(t *testing.T) {
	l := start(t)
	l.bound(image("v1"), `on_drift = "ignore"`)
	l.drift()
	l.hasNot(l.plan(0), "Warning", "v2")
	l.Apply()
	l.wants(1, "v2", 2)
}

// The same desired state with a raised generation is no drift: the state takes the generation over, so that sled_ready
// and later plans start from it.
func TestAccTheSameAgainIsNoDrift(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Owner: "terraform"}, api.Reimage())
	l.hasNot(l.plan(0), "Warning")
	l.Apply()
	l.has(l.State(), `"generation": 2`, `"drift": ""`)
	l.sledd.Machine(1).Fulfil()
	l.declare(n("n1", image("v2")))
	l.has(l.plan(2), "~ generation = 2 -> 3")
}

// Drift that somebody undid by hand leaves nothing to do, whatever on_drift says; the generation is the later one.
func TestAccDriftUndoneByHand(t *testing.T) {
	l := start(t)
	l.bound(image("v1"), `on_drift = "reimage"`)
	l.drift()
	l.has(l.plan(2), "1 -> 3")
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Owner: "terraform"})
	l.Empty()
	l.wants(1, "v1", 3)
}

// A configuration that is brought in line with what is bound wipes nothing.
func TestAccDeclareWhatIsBound(t *testing.T) {
	for _, way := range []string{"warn", "reimage", "ignore"} {
		t.Run(way, func(t *testing.T) {
			l := start(t)
			on := `on_drift = "` + way + `"`
			l.bound(image("v1"), on)
			l.drift()
			l.declare(n("n1", image("v2"), on))
			text := l.plan(2)
			l.has(text, "~ generation = 1 -> 2", `~ image = "v1" -> "v2"`)
			l.hasNot(text, "Warning", "wiped")
			l.Apply()
			l.wants(1, "v2", 2)
			l.Empty()
		})
	}
}

// Drifted, and something else is changed: that would wipe what somebody bound, so the plan fails and lists what can be
// done. What is Terraform's own may change all the same, and what is said there works.
func TestAccDriftAndAnotherChange(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.drift()
	for _, lines := range [][]string{{image("v1"), `mode = "delta"`}, {image("v3")},
		{image("v1"), `hostname = "h"`}, {image("v3"), `on_drift = "ignore"`}} {
		l.declare(n("n1", lines...))
		l.Fails("Error: "+drifted+".*Nothing is planned.*declare it.*on_drift = \"reimage\" or another "+
			"reimage_trigger", "plan")
	}
	l.wants(1, "v2", 2)

	l.declare(n("n1", image("v1"), `on_destroy = "wipe"`))
	l.has(l.plan(2), "0 to add, 1 to change", "Warning: "+drifted, `~ on_destroy = "keep" -> "wipe"`)
	l.Apply()
	l.wants(1, "v2", 2)

	l.declare(n("n1", image("v1"), `reimage_trigger = "now"`))
	l.has(l.plan(2), "~ generation = 1 -> 3", "generation 2 -> 3")
	l.declare(n("n1", image("v3"), `on_drift = "reimage"`))
	l.has(l.plan(2), "~ generation = 1 -> 3", "gets image v3 (generation 2 -> 3)")
	l.Apply()
	l.wants(1, "v3", 3)
	l.Empty()
}

// Another mode that somebody set is an ordinary change back, without a wipe.
func TestAccAnotherModeIsSetBack(t *testing.T) {
	l := start(t)
	l.bound(image("v1"))
	l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Mode: "delta", Owner: "terraform"})
	text := l.plan(2)
	l.has(text, `- mode = "delta" -> null`)
	l.hasNot(text, "Warning")
	l.Apply()
	if b := l.wants(1, "v1", 1); b.Mode != "" {
		t.Errorf("mode is %q", b.Mode)
	}
	l.Empty()
}
