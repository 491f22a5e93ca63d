// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// owned is a binding of node 1 to d12 by an owner.
func owned(owner string, takeOver bool) fleet.Change {
	change := binding(1, "d12")
	change.Owner, change.TakeOver = owner, takeOver
	return change
}

func TestOwnersAreExchangedWithoutImagingAgain(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.bind(owned("", false))
	first := r.bind(owned("tf:a", false)) // it was nobody's
	for _, foreign := range []fleet.Change{owned("", false), owned("tf:b", false)} {
		foreign.Reimage = true
		_, err := r.PutBinding(t.Context(), "n1", foreign)
		r.refused("of "+foreign.Owner, err, refusal.Conflict, "the binding of n1 belongs to tf:a")
		err = r.DeleteBinding(t.Context(), address(1), fleet.Change{BulkBinding: foreign.BulkBinding})
		r.refused("unbound by "+foreign.Owner, err, refusal.Conflict, "the binding of n1 belongs to tf:a")
	}
	if now, err := r.Binding(t.Context(), "n1"); err != nil || now.Revision != first.Revision {
		t.Errorf("a refusal changed it: %+v, %v", now, err)
	}
	mine := owned("tf:a", false)
	mine.Verify = "full"
	for _, change := range []fleet.Change{mine, owned("tf:b", true), owned("", true)} {
		if got := r.bind(change); got.Owner != change.Owner || got.Verify != change.Verify || got.Generation != 1 {
			t.Errorf("%q, %t: %+v", change.Owner, change.TakeOver, got)
		}
	}
}

func TestWhoMayUnbind(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	for owner, change := range map[string]fleet.Change{"tf:a": owned("tf:a", false), "tf:b": {TakeOver: true},
		"": owned("anybody", false)} {
		r.bind(owned(owner, false))
		if err := r.DeleteBinding(t.Context(), "n1", change); err != nil {
			t.Errorf("of %q: %v", owner, err)
		}
	}
}

func TestOwnerThatWasFasterKeepsABulkOut(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.memory.Before(func(call string) error {
		if call == "commit" {
			r.memory.Before(nil)
			r.bind(owned("tf:a", false))
		}
		return nil
	})
	items := []api.BulkBinding{binding(1, "d12").BulkBinding}
	_, err := r.PutBindings(t.Context(), api.BulkBindings{Items: items}, false, false)
	r.refused("bound meanwhile", err, refusal.Unfinished, "0 of 1 items are done")
	var refused *refusal.Error
	if !errors.As(err, &refused) || !strings.Contains(fmt.Sprint(refused.Details), "belongs to tf:a") {
		t.Errorf("%+v", err)
	}
}

func TestGenerationThatWasNotIssuedIsUsedAgain(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	for range 2 {
		if got := r.bind(binding(1, "d12")); got.Generation != 1 {
			t.Errorf("generation %d, want 1", got.Generation)
		}
		if err := r.DeleteBinding(t.Context(), "n1", fleet.Change{}); err != nil {
			t.Fatal(err)
		}
	}
	r.refused("an image that is missing", r.DeleteImage(t.Context(), "d13", nodetx.Wanted{}), refusal.NotFound, "d13")
	r.refused("a node that is missing", r.DeleteNode(t.Context(), "n9", nodetx.Wanted{}), refusal.NotFound, "n9")
}

func TestDiscoveredMachineIsBoundOnceItIsDeclared(t *testing.T) {
	r := newRack(t)
	r.observe(7, api.Status{Phase: api.Discovered})
	change := binding(7, "")
	change.Node = address(7)
	_, err := r.PutBinding(t.Context(), address(7), change)
	r.refused("not declared", err, refusal.NotFound, "")
	r.declare(7)
	if node, err := r.Node(t.Context(), "n7"); err != nil || node.Status.Phase != api.Idle {
		t.Errorf("%+v, %v", node.Status, err)
	}
	if got := r.bind(change); got.Generation != 1 {
		t.Errorf("%+v", got)
	}
}

func TestReimageKeepsTheBinding(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	before := r.bind(full())
	again, err := r.Reimage(t.Context(), "n1", 2, nodetx.Exactly(&before.Revision))
	if err != nil || again.Generation != 2 || again.Revision <= before.Revision || again.UserData != "" ||
		len(api.Reimages(before.Effect(), again.Effect(), api.NodeSpec{})) > 0 {
		t.Errorf("before %+v\nafter %+v, %v", before, again, err)
	}
	if text, err := r.UserData(r.view(1).Binding()); err != nil || text != full().UserData {
		t.Errorf("user data: %q, %v", text, err)
	}
	_, err = r.Reimage(t.Context(), "n1", 0, nodetx.Exactly(&before.Revision))
	r.refused("an older revision", err, refusal.Precondition, "expected")
	_, err = r.Reimage(t.Context(), "n9", 0, nodetx.Wanted{})
	r.refused("an unknown node", err, refusal.NotFound, "node n9 does not exist")
	if list, err := r.Events(t.Context(), "n1", 10); err != nil || len(list.Items) != 3 { // declare, bind, bind
		t.Errorf("%+v, %v", list.Items, err)
	}
}

func TestReimageWithoutAnImage(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	_, err := r.Reimage(t.Context(), "n1", 0, nodetx.Wanted{})
	r.refused("nothing is bound", err, refusal.NotFound, "node n1 is not bound")
	r.bind(binding(1, ""))
	if again, err := r.Reimage(t.Context(), address(1), 2, nodetx.Wanted{}); err != nil || again.Generation != 2 {
		t.Errorf("wiped again: %+v, %v", again, err)
	}
	capture := binding(1, "")
	capture.Capture = "golden"
	r.bind(capture)
	if _, err := r.Reimage(t.Context(), "n1", 0, nodetx.Wanted{}); err != nil {
		t.Errorf("a capture that was not made: %v", err)
	}
	r.register("golden")
	_, err = r.Reimage(t.Context(), "n1", 0, nodetx.Wanted{})
	r.refused("a capture that was made", err, refusal.Invalid, "image golden exists: choose another name")
}
