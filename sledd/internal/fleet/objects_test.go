// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

func TestListsAreFiltered(t *testing.T) {
	r := newRack(t)
	r.declare(1, 2, 3)
	r.register("d12")
	r.bind(binding(2, "d12"))
	r.observe(3, api.Status{Phase: api.Failed, Image: "d11", Address: nodetexttest.Address("10.77.0.103")})
	r.observe(9, api.Status{Phase: api.Discovered})
	for name, c := range map[string]struct {
		filter fleet.Filter
		want   string
	}{
		"all":      {fleet.Filter{}, "n1 n2 n3 "},
		"label":    {fleet.Filter{Labels: map[string]string{"rack": "a"}}, "n1 n2 n3"},
		"no label": {fleet.Filter{Labels: map[string]string{"rack": "b"}}, ""},
		"phase":    {fleet.Filter{Phases: []api.Phase{api.Failed}}, "n3"},
		"phases":   {fleet.Filter{Phases: []api.Phase{api.Failed, api.Discovered}}, "n3 "},
		"name":     {fleet.Filter{Text: "N2"}, "n2"},
		"MAC":      {fleet.Filter{Text: "00:09"}, ""},
		"address":  {fleet.Filter{Text: "10.77.0.1"}, "n3"},
		"no name":  {fleet.Filter{Text: "n2%"}, ""},
		"bound":    {fleet.Filter{Image: "d12"}, "n2"},
		"on disk":  {fleet.Filter{Image: "d11"}, "n3"},
		"owner":    {fleet.Filter{Owner: "x"}, ""},
	} {
		c.filter.Limit = 2
		var names []string
		for {
			list, err := r.Nodes(t.Context(), c.filter)
			if err != nil || len(list.Items) > 2 {
				t.Fatalf("%s: %d items, %v", name, len(list.Items), err)
			}
			for _, node := range list.Items {
				names = append(names, node.Name)
			}
			if c.filter.After = list.Next; list.Next == "" {
				break
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestImagesKeepTheirContent(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	other, signed := image("d12"), image("d12")
	other.Digest = "sha256:" + strings.Repeat("9", 64)
	_, err := r.PutImage(t.Context(), "d12", other, nodetx.Wanted{})
	r.refused("other content", err, refusal.Conflict, "other content")
	signed.Signature = strings.Repeat("A", 86) + "=="
	_, err = r.PutImage(t.Context(), "d12", signed, nodetx.Wanted{})
	r.refused("a signature alone", err, refusal.Invalid, "belong together")
	signed.Statement = "image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=" + signed.Digest
	if _, err := r.PutImage(t.Context(), "d12", signed, nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*api.ImageSpec){
		func(i *api.ImageSpec) { i.Bytes++ }, func(i *api.ImageSpec) { i.FileBytes++ },
		func(i *api.ImageSpec) { i.UsedBytes++ }, func(i *api.ImageSpec) { i.Architecture = "arm64" },
		func(i *api.ImageSpec) { i.Kind, i.Container = "root", &api.Container{Command: []string{"a"}} },
		func(i *api.ImageSpec) { i.Kind, i.Kernel = "kernel", &api.Kernel{Release: "6.12.1"} },
	} {
		other := image("d12")
		other.URLs = []string{"http://mirror/d12"}
		change(&other)
		_, err := r.PutImage(t.Context(), "d12", other, nodetx.Wanted{})
		r.refused("other content", err, refusal.Conflict, "other content")
	}
	moved := image("d12")
	moved.URLs, moved.Labels = []string{"https://mirror/d12", "http://s/images/d12"}, map[string]string{"os": "debian"}
	moved.Architecture, moved.Kind = "x86_64", "disk" // the defaults
	first, err := r.PutImage(t.Context(), "d12", moved, nodetx.Wanted{})
	if err != nil || len(first.URLs) != 2 || first.Labels["os"] != "debian" || first.Signature != signed.Signature {
		t.Errorf("other URLs and labels: %+v, %v", first, err)
	}
	again, err := r.PutImage(t.Context(), "d12", moved, nodetx.Wanted{})
	if err != nil || again.Revision != first.Revision {
		t.Errorf("the same again: revision %d after %d, %v", again.Revision, first.Revision, err)
	}
	r.register("d12") // without a signature: the one that exists is kept
	if got, err := r.Image(t.Context(), "d12"); err != nil || got.Signature != signed.Signature {
		t.Errorf("%+v, %v", got, err)
	}
	r.bind(binding(1, "d12"))
	err = r.DeleteImage(t.Context(), "d12", nodetx.Wanted{})
	r.refused("a bound image", err, refusal.Conflict, "bound to node n1")
	if err := r.DeleteBinding(t.Context(), "n1", fleet.Change{}); err != nil {
		t.Fatal(err)
	}
	if err := r.DeleteImage(t.Context(), "d12", nodetx.Wanted{}); err != nil {
		t.Error(err)
	}
	_, err = r.Image(t.Context(), "d12")
	r.refused("a deleted image", err, refusal.NotFound, "d12")
}

func TestRolesOfOperators(t *testing.T) {
	r := newRack(t)
	reader, err := r.PutOperator(t.Context(), "eve", api.Operator{Name: "eve", Role: api.Read})
	if err != nil {
		t.Fatal(err)
	}
	if who, err := r.Authorize(t.Context(), reader.Token, api.Read); err != nil || who.Name != "eve" ||
		who.Token != "" {
		t.Errorf("%+v, %v", who, err)
	}
	_, err = r.Authorize(t.Context(), reader.Token, api.Operate)
	r.refused("a higher role", err, refusal.Forbidden, "has role read")
	_, err = r.Authorize(t.Context(), reader.Token+"x", api.Read)
	r.refused("another token", err, refusal.Unauthorized, "not known")
	if err := r.SetAdmin(t.Context(), "short"); err == nil {
		t.Error("a short token for admin")
	}
	if err := r.SetAdmin(t.Context(), strings.Repeat("x", 20)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Authorize(t.Context(), strings.Repeat("x", 20), api.Admin); err != nil {
		t.Error(err)
	}
	if err := r.DeleteOperator(t.Context(), "eve"); err != nil {
		t.Fatal(err)
	}
	_, err = r.Authorize(t.Context(), reader.Token, api.Read)
	r.refused("a deleted operator", err, refusal.Unauthorized, "")
	if list, err := r.Operators(t.Context()); err != nil || len(list.Items) != 1 || list.Items[0].Name != "admin" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestARescueInterruptsAndEnds(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	keys := api.RescueSpec{AuthorizedKeys: []string{sshkeys.Alice}}
	_, err := r.PutRescue(t.Context(), address(9), keys, false)
	r.refused("an unknown node", err, refusal.NotFound, "does not exist")
	first, err := r.PutRescue(t.Context(), "n1", keys, false)
	if err != nil || first.Rescue == nil {
		t.Fatal(err)
	}
	again, err := r.PutRescue(t.Context(), "n1", keys, false)
	if err != nil || !again.Rescue.Started.Equal(first.Rescue.Started) {
		t.Errorf("%+v, %v", again.Rescue, err)
	}
	r.observe(1, api.Status{Phase: api.UnderRescue, Before: api.Operational})
	if err := r.DeleteRescue(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	if node, err := r.Node(t.Context(), "n1"); err != nil || node.Rescue != nil ||
		node.Status.Phase != api.Operational {
		t.Errorf("%+v, %v", node, err)
	}
	err = r.DeleteRescue(t.Context(), "n1")
	r.refused("a node that is not under rescue", err, refusal.NotFound, "not under rescue")
}

func TestALostNodeFails(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	err := r.Note(t.Context(), "n1", api.NodeEvent{Kind: "lost", Detail: "silent"})
	r.refused("a node that does not start", err, refusal.Conflict, "not seen yet")
	r.observe(1, api.Status{Phase: api.Starting, Start: "kexec"})
	if err := r.Note(t.Context(), "n1", api.NodeEvent{Kind: "power", Detail: "cycle"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Note(t.Context(), "n1", api.NodeEvent{Kind: "lost", Detail: "silent", Log: "last words"}); err != nil {
		t.Fatal(err)
	}
	node, err := r.Node(t.Context(), "n1")
	if err != nil || node.Status.Phase != api.Failed || node.Status.Reason.String() != "silent" ||
		node.Status.Start != "fallback" {
		t.Errorf("%+v, %v", node.Status, err)
	}
	if log, err := r.Logged(t.Context(), "n1"); err != nil || log.String() != "last words" {
		t.Errorf("%q, %v", log, err)
	}
	list, err := r.Events(t.Context(), "n1", 2)
	if err != nil || len(list.Items) != 2 || list.Items[0].Kind != "power" || list.Items[1].Kind != "lost" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestKexecsAreCountedByModel(t *testing.T) {
	r := newRack(t)
	var change store.Transaction
	for i, one := range []nodetx.Kexecs{
		{Vendor: nodetext.CleanIdentifier("A"), Product: nodetext.CleanIdentifier("x"), Attempts: 3, Confirmed: 2,
			Missed: 1, Outcome: "confirmed", Time: now},
		{Vendor: nodetext.CleanIdentifier("A"), Product: nodetext.CleanIdentifier("x"), Attempts: 1, Missed: 1,
			Outcome: "missed", Time: now.Add(time.Hour)},
		{Vendor: nodetext.CleanIdentifier("B"), Product: nodetext.CleanIdentifier("y"), Attempts: 1, Outcome: "open",
			Time: now},
	} {
		change.Put(key.Kexecs+address(i), nodetx.Encode(one))
	}
	if _, err := r.memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	list, err := r.Kexecs(t.Context())
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	if a := list.Items[0]; a.Nodes != 2 || a.Attempts != 4 || *a.Rate != 0.5 || a.Last != "missed" {
		t.Errorf("%+v", a)
	}
	if b := list.Items[1]; b.Rate != nil || b.Nodes != 1 {
		t.Errorf("%+v", b)
	}
}

// Labels of nodes and images are refused that no selection could name.
func TestLabelsAreChecked(t *testing.T) {
	r := newRack(t)
	node, image := spec(1), api.ImageSpec{Name: "d12", Labels: map[string]string{"a b": "x"}}
	node.Labels = map[string]string{"rack": "a\n"}
	_, err := r.PutImage(t.Context(), "d12", image, nodetx.Wanted{})
	for says, err := range map[string]error{"value of label rack": r.put(node), `name of label "a b"`: err} {
		if !refusal.Is(err, refusal.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q: %v", says, err)
		}
	}
}
