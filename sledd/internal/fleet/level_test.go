// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"slices"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
)

// requires declares the least level of node 1, and binds it with another.
func (r *rack) requires(node, bound string) api.Admission {
	r.Helper()
	declared := spec(1)
	declared.Admission = node
	if _, err := r.PutNode(r.Context(), "n1", declared, nodetx.Wanted{}); err != nil {
		r.Fatal(err)
	}
	change := binding(1, "d12")
	change.Admission = bound
	r.bind(change)
	shown, err := r.Admission(r.Context(), "n1")
	if err != nil {
		r.Fatal(err)
	}
	return shown
}

func TestTheHighestLevelIsRequired(t *testing.T) {
	for _, c := range []struct {
		site                admission.Level
		node, binding, want string
	}{
		{admission.Open, "", "", "open"}, {admission.Open, "expected", "", "expected"},
		{admission.Open, "", "proven", "proven"}, {admission.Open, "attested", "open", "attested"},
		{admission.Expected, "open", "open", "expected"}, {admission.Proven, "expected", "", "proven"},
		{admission.Expected, "proven", "expected", "proven"},
		{admission.Open, "a level of a later version", "", "attested"},
	} {
		r := newRackAt(t, c.site)
		r.register("d12")
		if shown := r.requires(c.node, c.binding); shown.Required != c.want {
			t.Errorf("site %s, node %q, binding %q: %s, want %s", c.site, c.node, c.binding, shown.Required, c.want)
		}
	}
}

func TestALevelDoesNotFallWithinAGeneration(t *testing.T) {
	r := newRackAt(t, admission.Expected)
	r.register("d12")
	r.requires("", "proven")
	r.hello(1, first)
	if _, err := r.Admit(t.Context(), "n1", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: first}}); err != nil {
		t.Fatal(err)
	}
	if !r.speaks(1, first) {
		t.Fatal("not admitted")
	}
	if _, err := r.Revoke(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	shown := r.requires("", "open")
	if b, err := r.Binding(t.Context(), "n1"); err != nil || b.Generation != 1 || b.Admission != "open" {
		t.Fatalf("%+v, %v: a change of the level raises no generation", b, err)
	}
	if shown.Required != "proven" {
		t.Errorf("the level has fallen to %s", shown.Required)
	}
	if _, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "power", Seconds: 900}); err != nil {
		t.Fatal(err)
	}
	r.hello(1, other)
	if r.speaks(1, other) {
		t.Error("admitted in a window at a level that was proven")
	}
	again := binding(1, "d12")
	again.Reimage = true
	r.bind(again)
	if shown, err := r.Admission(t.Context(), "n1"); err != nil || shown.Required != "expected" {
		t.Errorf("another generation: %+v, %v", shown, err)
	}
}

// A level that rises while a machine is admitted below it: the machine waits until an operator has read its code.
func TestARaisedLevelWaitsForAPerson(t *testing.T) {
	r := newRackAt(t, admission.Open)
	r.register("d12")
	r.requires("", "")
	r.hello(1, first)
	if !r.speaks(1, first) {
		t.Fatal("not admitted")
	}
	r.requires("", "proven")
	if node := r.node(1); node.AdmissionLevel != "open" || !slices.Equal(node.WaitingClaims, []string{first}) {
		t.Errorf("%+v", node.NodeAdmission)
	}
	if _, err := r.Admit(t.Context(), "n1", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: first}}); err != nil {
		t.Fatal(err)
	}
	if node := r.node(1); node.AdmissionLevel != "proven" || len(node.WaitingClaims) != 0 {
		t.Errorf("%+v", node.NodeAdmission)
	}
}
