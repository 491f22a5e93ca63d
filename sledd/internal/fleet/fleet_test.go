// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/store/storetest"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// rack is a Fleet on an empty store in memory.
type rack struct {
	*testing.T
	*fleet.Fleet
	memory *storetest.Memory
}

func newRack(t *testing.T) *rack {
	t.Helper()
	memory := &storetest.Memory{}
	var ticks atomic.Int64
	clock := func() time.Time { // keys of events differ
		return now.Add(time.Duration(ticks.Add(1)) * time.Second)
	}
	return &rack{t, &fleet.Fleet{DB: &nodetx.DB{Store: memory, Clock: clock}, ImageURLs: []string{"http://s/images"},
		UploadURL: "https://s/upload"}, memory}
}

func address(i int) string { return fmt.Sprintf("52:54:00:77:00:%02x", i) }

func spec(i int) api.NodeSpec {
	return api.NodeSpec{MAC: address(i), Name: fmt.Sprintf("n%d", i), Disk: "serial:1",
		Labels: map[string]string{"rack": "a"}}
}

func (r *rack) declare(numbers ...int) {
	r.Helper()
	if _, err := r.Identity(r.Context()); err != nil { // as sledd does when it starts
		r.Fatal(err)
	}
	for _, i := range numbers {
		if _, err := r.PutNode(r.Context(), spec(i).Name, spec(i), nodetx.Wanted{}); err != nil {
			r.Fatal(err)
		}
	}
}

func image(name string) api.ImageSpec {
	return api.ImageSpec{Name: name, Digest: fmt.Sprintf("sha256:%064x", []byte(name)),
		URLs: []string{"http://s/images/" + name}, Bytes: 1 << 30, FileBytes: 1 << 28}
}

func (r *rack) register(name string) {
	r.Helper()
	if _, err := r.PutImage(r.Context(), name, image(name), nodetx.Wanted{}); err != nil {
		r.Fatal(err)
	}
}

func binding(i int, image string) fleet.Change {
	return fleet.Change{BulkBinding: api.BulkBinding{BindingSpec: api.BindingSpec{Node: fmt.Sprintf("n%d", i),
		Image: image}}}
}

func (r *rack) bind(change fleet.Change) api.Binding {
	r.Helper()
	bound, err := r.PutBinding(r.Context(), change.Node, change)
	if err != nil {
		r.Fatal(err)
	}
	return bound
}

// observe stores a status of a node, as if it had reported.
func (r *rack) observe(i int, status api.Status) {
	r.Helper()
	err := r.Update(r.Context(), address(i), nil, func(tx *nodetx.Tx) error {
		*tx.Status() = status
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rack) refused(what string, err error, kind refusal.Kind, text string) {
	r.Helper()
	if !refusal.Is(err, kind) || !strings.Contains(err.Error(), text) {
		r.Errorf("%s: %v, want kind %d and %q", what, err, kind, text)
	}
}

func TestNamesAreUniqueAndFreedByARename(t *testing.T) {
	r := newRack(t)
	r.declare(1, 2)
	second := spec(2)
	second.Name = "n1"
	_, err := r.PutNode(t.Context(), address(2), second, nodetx.Wanted{})
	r.refused("a name that is taken", err, refusal.Conflict, "belongs to node "+address(1))
	first := spec(1)
	first.Name = "other"
	if _, err := r.PutNode(t.Context(), address(1), first, nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.PutNode(t.Context(), address(2), second, nodetx.Wanted{}); err != nil {
		t.Errorf("the name was freed: %v", err)
	}
	if mac, err := r.Resolve(t.Context(), "n1"); err != nil || mac != address(2) {
		t.Error(mac, err)
	}
	_, err = r.Resolve(t.Context(), "n2")
	r.refused("the name before", err, refusal.NotFound, "n2")
}

func TestADeclarationThatBreaksTheBindingNamesTheCause(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.bind(binding(1, "d12"))
	without := spec(1)
	without.Disk = ""
	_, err := r.PutNode(t.Context(), "n1", without, nodetx.Wanted{})
	r.refused("a bound node without a disk", err, refusal.Conflict, "names one")
	if err != nil && strings.Contains(err.Error(), "%!") {
		t.Errorf("badly formatted: %v", err)
	}
}

func TestDeclarationsThatAreRefused(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	for name, change := range map[string]func(n *api.NodeSpec){
		"looks like a MAC": func(n *api.NodeSpec) { n.Name = "52-54-00-77-00-09" },
		"selector":         func(n *api.NodeSpec) { n.Disk = "nonsense" },
		"path":             func(n *api.NodeSpec) { n.MAC, n.Name = address(7), "n7" },
	} {
		node := spec(1)
		change(&node)
		reference := "n1"
		if name == "looks like a MAC" {
			reference = node.Name
		}
		_, err := r.PutNode(t.Context(), reference, node, nodetx.Wanted{})
		r.refused(name, err, refusal.Invalid, "")
	}
	_, err := r.PutNode(t.Context(), "n1", spec(1), nodetx.Wanted{NoneMatch: "*"})
	r.refused("a node that exists", err, refusal.Precondition, "exists")
	node, err := r.Node(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	same, err := r.PutNode(t.Context(), "n1", spec(1), nodetx.Wanted{Match: nodetx.ETag(node.Revision)})
	if err != nil || same.Revision != node.Revision {
		t.Errorf("the same again: %v, revision %d, was %d", err, same.Revision, node.Revision)
	}
}

func TestGenerationsNeverGoBack(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.register("d13")
	for _, step := range []struct {
		name       string
		change     fleet.Change
		generation int64
	}{
		{"first", binding(1, "d12"), 1}, {"the same", binding(1, "d12"), 1}, {"another image", binding(1, "d13"), 2},
		{"again", fleet.Change{BulkBinding: api.BulkBinding{BindingSpec: api.BindingSpec{Node: "n1", Image: "d13"},
			Reimage: true}}, 3},
	} {
		if got := r.bind(step.change); got.Generation != step.generation || got.Revision == 0 {
			t.Errorf("%s: generation %d, want %d", step.name, got.Generation, step.generation)
		}
	}
	r.observe(1, api.Status{Phase: api.Operational, Generation: 3})
	err := r.DeleteNode(t.Context(), "n1", nodetx.Wanted{})
	r.refused("delete a bound node", err, refusal.Conflict, "bound")
	if err := r.DeleteBinding(t.Context(), "n1", fleet.Change{}); err != nil {
		t.Fatal(err)
	}
	err = r.DeleteBinding(t.Context(), "n1", fleet.Change{})
	r.refused("unbind an unbound node", err, refusal.NotFound, "not bound")
	if err := r.DeleteNode(t.Context(), "n1", nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	r.declare(1)
	if got := r.bind(binding(1, "d12")); got.Generation != 4 {
		t.Errorf("after the node was deleted: generation %d, want 4", got.Generation)
	}
}

func TestBindingsThatAreRefused(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	arm := image("arm")
	arm.Architecture = "arm64"
	if _, err := r.PutImage(t.Context(), "arm", arm, nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	r.inMemory()
	for name, c := range map[string]struct {
		change func(c *fleet.Change)
		kind   refusal.Kind
	}{
		"is a kernel for the Sled system":   {func(c *fleet.Change) { c.Image = "kernel" }, refusal.Invalid},
		"image d99 does not exist":          {func(c *fleet.Change) { c.Image = "d99" }, refusal.Invalid},
		"is for arm64":                      {func(c *fleet.Change) { c.Image = "arm" }, refusal.Invalid},
		"not both":                          {func(c *fleet.Change) { c.Capture = "c" }, refusal.Invalid},
		"choose another name":               {func(c *fleet.Change) { c.Image, c.Capture = "", "d12" }, refusal.Invalid},
		"one line":                          {func(c *fleet.Change) { c.AuthorizedKeys = []string{"a\nb"} }, refusal.Invalid},
		"would get generation 1":            {func(c *fleet.Change) { c.IfGeneration = 7 }, refusal.Precondition},
		"does not exist: expected revision": {func(c *fleet.Change) { c.Match = "*" }, refusal.Precondition},
	} {
		change := binding(1, "d12")
		c.change(&change)
		_, err := r.PutBinding(t.Context(), "n1", change)
		r.refused(name, err, c.kind, name)
	}
	_, err := r.PutBinding(t.Context(), "n1", binding(2, "d12"))
	r.refused("another node in the body", err, refusal.Invalid, "path")
	if _, err := r.Binding(t.Context(), "n1"); !refusal.Is(err, refusal.NotFound) {
		t.Errorf("a refused binding was stored: %v", err)
	}
}

func TestABindingBelongsToItsOwner(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	mine := binding(1, "d12")
	mine.Owner = "terraform"
	r.bind(mine)
	other := binding(1, "")
	_, err := r.PutBinding(t.Context(), "n1", other)
	r.refused("bind another's", err, refusal.Conflict, "belongs to terraform")
	err = r.DeleteBinding(t.Context(), "n1", fleet.Change{})
	r.refused("unbind another's", err, refusal.Conflict, "belongs to terraform")
	again, err := r.Reimage(t.Context(), "n1", 0, nodetx.Wanted{})
	if err != nil || again.Generation != 2 || again.Owner != "terraform" {
		t.Errorf("reimage: %+v, %v", again, err)
	}
	_, err = r.Reimage(t.Context(), "n1", 9, nodetx.Wanted{})
	r.refused("reimage to another generation", err, refusal.Precondition, "generation")
	other.TakeOver = true
	if got := r.bind(other); got.Owner != "" || got.Generation != 3 {
		t.Errorf("taken over: %+v", got)
	}
}

func TestBulkIsAllOrNothing(t *testing.T) {
	r := newRack(t)
	r.declare(1, 2, 3)
	r.register("d12")
	items := func(nodes ...string) []api.BulkBinding {
		list := make([]api.BulkBinding, len(nodes))
		for i, node := range nodes {
			list[i].Node, list[i].Image = node, "d12"
		}
		return list
	}
	for name, list := range map[string][]api.BulkBinding{
		"body.items[1].node":  items("n1", "nobody"),
		"body.items[2].node":  items("n1", "n2", address(1)),
		"body.items[1].image": {items("n1")[0], {BindingSpec: api.BindingSpec{Node: "n2", Image: "d99"}}},
	} {
		_, err := r.PutBindings(t.Context(), api.BulkBindings{Items: list}, false, false)
		var refused *refusal.Error
		if !errors.As(err, &refused) || len(refused.Details) != 1 || refused.Details[0].Location != name {
			t.Errorf("%s: %+v", name, err)
		}
	}
	if list, err := r.Bindings(t.Context(), fleet.Filter{Limit: 10}); err != nil || len(list.Items) != 0 {
		t.Errorf("something was bound: %+v, %v", list, err)
	}
	list, err := r.PutBindings(t.Context(), api.BulkBindings{Items: items("n1", "n2", "n3")}, false, false)
	if err != nil || len(list.Items) != 3 || list.Items[2].Generation != 1 || list.Items[2].Revision == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	mixed := items("n1", "n2")
	mixed[1].Unbind = true
	if _, err := r.PutBindings(t.Context(), api.BulkBindings{Items: mixed}, true, false); err != nil {
		t.Fatal(err)
	}
	if one, err := r.Binding(t.Context(), "n1"); err != nil || one.Generation != 2 {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := r.Binding(t.Context(), "n2"); !refusal.Is(err, refusal.NotFound) {
		t.Error(err)
	}
}

func TestBulkIsCheckedAnewWhenANodeChangesMeanwhile(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	commits := 0
	r.memory.Before(func(call string) error {
		if call != "commit" {
			return nil
		}
		if commits++; commits == 1 { // between check and write
			r.observe(1, api.Status{Phase: api.Idle, Generation: 5})
		}
		return nil
	})
	item := api.BulkBinding{BindingSpec: api.BindingSpec{Node: "n1", Image: "d12"}}
	list, err := r.PutBindings(t.Context(), api.BulkBindings{Items: []api.BulkBinding{item}}, false, false)
	if err != nil || list.Items[0].Generation != 6 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestBulkNamesWhatMayNotBeDone(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("d12")
	r.memory.Before(func(call string) error {
		if call == "commit" {
			return &store.UnavailableError{Operation: "commit", Err: errors.New("down")}
		}
		return nil
	})
	_, err := r.PutBindings(t.Context(), api.BulkBindings{
		Items: []api.BulkBinding{{BindingSpec: api.BindingSpec{Node: "n1", Image: "d12"}}}}, false, false)
	r.refused("a store that fails", err, refusal.Unfinished, "0 of 1 items are done")
}
