// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// of is a binding of node 1 to an image by an owner.
func of(owner, image string) fleet.Change {
	change := binding(1, image)
	change.Owner, change.TakeOver = owner, true
	return change
}

// installed is a rack whose first node runs d12 for an owner.
func installed(t *testing.T, owner string) *rack {
	r := newRackAt(t, admission.Proven)
	r.register("d12")
	r.register("d13")
	r.bind(of(owner, "d12"))
	r.runs(1)
	return r
}

// runs completes a generation.
func (r *rack) runs(generation int64) {
	r.Helper()
	status := r.node(1).Status
	status.Phase, status.Generation = api.Operational, generation
	r.observe(1, status)
}

// handed checks whether the present generation hands the machine over, and that a ticket is given only if it does not.
func (r *rack) handed(what string, want bool) {
	r.Helper()
	bound, err := r.Binding(r.Context(), "n1")
	if err != nil || bound.HandsOver != want {
		r.Errorf("%s: %+v, %v, want handover %t", what, bound, err, want)
	}
	if _, err = r.Ticket(r.Context(), "n1"); want {
		r.refused(what, err, refusal.Conflict, "node n1 changes hands")
	} else if err != nil {
		r.Errorf("%s: %v", what, err)
	}
}

func TestWhatHandsAMachineOver(t *testing.T) {
	declared := of("a", "d13")
	declared.Handover = true
	again := of("a", "d12")
	again.Handover = true
	capture := of("b", "")
	capture.Capture = "golden"
	for name, c := range map[string]struct {
		change fleet.Change
		want   bool
	}{
		"another image":          {of("a", "d13"), false},
		"of another owner":       {of("b", "d13"), true},
		"of nobody":              {of("", "d13"), false},
		"a wipe":                 {of("b", ""), true},
		"a capture":              {capture, false},
		"declared":               {declared, true},
		"declared, as it was":    {again, true},
		"only another owner now": {of("b", "d12"), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := installed(t, "a")
			r.UploadURL, r.ImageURLs = "https://b/upload", []string{"http://b/images"}
			r.bind(c.change)
			r.handed("one node", c.want)
			many := installed(t, "a")
			many.UploadURL, many.ImageURLs = r.UploadURL, r.ImageURLs
			items := []api.BulkBinding{c.change.BulkBinding}
			if _, err := many.PutBindings(t.Context(), api.BulkBindings{Items: items}, false, true); err != nil {
				t.Fatal(err)
			}
			many.handed("many nodes", c.want)
		})
	}
}

// The owner of what runs counts, whatever was bound since: nobody's binding, none, or one that was not carried out.
func TestTheOwnerOfWhatRunsIsNotForgotten(t *testing.T) {
	for name, between := range map[string]func(r *rack){
		"nothing": func(*rack) {},
		"nobody's wipe": func(r *rack) {
			r.bind(of("", ""))
			r.handed("a wipe of nobody", false)
		},
		"no binding": func(r *rack) {
			if err := r.DeleteBinding(r.Context(), "n1", of("a", "")); err != nil {
				r.Fatal(err)
			}
		},
		"no node": func(r *rack) {
			if err := r.DeleteBinding(r.Context(), "n1", of("a", "")); err != nil {
				r.Fatal(err)
			}
			if err := r.DeleteNode(r.Context(), "n1", nodetx.Wanted{}); err != nil {
				r.Fatal(err)
			}
			r.declare(1)
		},
		"the next owner, as it was": func(r *rack) { r.bind(of("b", "d12")) },
		"the next owner, not carried out": func(r *rack) {
			r.bind(of("b", "d13"))
			r.handed("first", true)
			r.bind(of("b", "d12"))
		},
		"the next owner, removed before it was carried out": func(r *rack) {
			r.bind(of("b", "d13"))
			if err := r.DeleteBinding(r.Context(), "n1", of("b", "")); err != nil {
				r.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := installed(t, "a")
			between(r)
			r.bind(of("b", "d13"))
			r.handed("the next owner", true)
			r.runs(r.node(1).Binding.Generation)
			r.step(1, admission.Expect{Reset: true, For: 900e9, By: "power"})
			if bound := r.bind(of("b", "d12")); bound.HandsOver {
				t.Errorf("its own next image: %+v", bound)
			}
		})
	}
}

// What ran before is admitted with no evidence; what was reset is.
func TestNobodyIsAdmittedBeforeTheReset(t *testing.T) {
	r := installed(t, "a")
	r.hello(1, first)
	r.bind(of("b", "d13"))
	if r.speaks(1, first) {
		t.Error("a claim of before is admitted")
	}
	admitted := func(code string) bool {
		r.hello(1, code)
		_, err := r.Admit(t.Context(), "n1", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: code}})
		return err == nil && r.speaks(1, code)
	}
	if admitted(other) {
		t.Error("the word of an operator is enough")
	}
	if shown, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "wol", Seconds: 900}); err != nil ||
		shown.HandedOver.IsZero() {
		t.Errorf("a wake-up packet is a reset: %+v, %v", shown, err)
	}
	if shown, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "power", Seconds: 900, Revoke: true}); err != nil ||
		!shown.HandedOver.IsZero() {
		t.Errorf("%+v, %v", shown, err)
	}
	r.handed("after the reset, before it is imaged", true)
	if !admitted("AAAA-0003") {
		t.Error("the machine after its reset is not admitted")
	}
}

// A dry run tells that every disk is lost.
func TestTheOutlookOfAHandoverHasAllDisks(t *testing.T) {
	r := installed(t, "a")
	change := of("b", "d13")
	bound, err := r.Dry().PutBinding(t.Context(), "n1", change)
	if err != nil || bound.Outlook == nil || bound.Outlook.Disk != api.AllDisks || !bound.HandsOver {
		t.Errorf("%+v, %v", bound, err)
	}
}
