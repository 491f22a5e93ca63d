// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// refused puts a body and wants a refusal that says something.
func (s *sledd) refused(want int, method, path string, body any, says ...string) {
	s.Helper()
	a := s.admin(want, method, path, body)
	for _, one := range says {
		if !strings.Contains(a.Body, one) {
			s.Errorf("%s %s: %q is not said: %s", method, path, one, a.Body)
		}
	}
}

func TestOwnersKeepWhatIsTheirs(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	spec := api.BindingSpec{Node: "n1", Image: "d12"}
	s.Bind(spec)
	mine := spec
	mine.Owner = "terraform:rack-a"
	first := s.Bind(mine)
	if first.Generation != 1 || first.Owner != mine.Owner {
		t.Errorf("a binding of nobody that gets an owner: %+v", first)
	}
	other := spec
	other.Owner = "terraform:rack-b"
	for _, foreign := range []api.BindingSpec{spec, other} {
		s.refused(409, "PUT", "/v1/bindings/n1", foreign, "the binding of n1 belongs to terraform:rack-a")
		s.refused(409, "PUT", "/v1/bindings/n1?reimage=true", foreign, "belongs to terraform:rack-a")
	}
	s.refused(409, "DELETE", "/v1/bindings/n1", nil, "the binding of n1 belongs to terraform:rack-a")
	s.refused(409, "DELETE", "/v1/bindings/"+address(1)+"?owner=terraform:rack-b", nil,
		"the binding of n1 belongs to terraform:rack-a")
	if now := s.Node(1).Binding; now.Revision != first.Revision {
		t.Errorf("a refusal changed it: %+v", now)
	}
	mine.Verify = "full"
	if again := s.Bind(mine); again.Generation != 1 || again.Verify != "full" {
		t.Errorf("its own owner: %+v", again)
	}
	if taken := s.Bind(other, api.TakeOver()); taken.Owner != other.Owner || taken.Generation != 1 {
		t.Errorf("taken over: %+v", taken)
	}
	if freed := s.Bind(spec, api.TakeOver()); freed.Owner != "" || freed.Generation != 1 {
		t.Errorf("taken over for nobody: %+v", freed)
	}
	s.Bind(mine)
	s.admin(204, "DELETE", "/v1/bindings/n1?owner=terraform:rack-a", nil)
	s.Bind(mine)
	s.admin(204, "DELETE", "/v1/bindings/n1?take_over=true", nil)
	s.Bind(spec)
	s.admin(204, "DELETE", "/v1/bindings/n1?owner=anybody", nil) // nobody's
	s.refused(404, "DELETE", "/v1/bindings/n1?owner=anybody", nil, "not bound")
}

func TestGenerationIsAsPlannedOrNothingIsWritten(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	spec := api.BindingSpec{Node: "n1", Image: "d12"}
	s.refused(412, "PUT", "/v1/bindings/n1?generation=2", spec, "the binding of n1 would get generation 1, not 2")
	s.admin(404, "GET", "/v1/bindings/n1", nil)
	s.Bind(spec, api.IfAbsent(), api.IfGeneration(1))
	s.Bind(spec, api.IfGeneration(1))
	s.refused(412, "PUT", "/v1/bindings/n1?generation=1&reimage=true", spec,
		"the binding of n1 would get generation 2, not 1")
	s.Bind(spec, api.IfGeneration(2), api.Reimage())
	s.Machine(1).Poll(0)
	s.admin(204, "DELETE", "/v1/bindings/n1", nil)
	s.refused(412, "PUT", "/v1/bindings/n1?generation=1", spec, "generation 3")
	s.Bind(spec, api.IfGeneration(3))
	s.refused(422, "PUT", "/v1/bindings/n1?generation=0", spec, "query.generation")
}

func TestBulkItemsHaveTerms(t *testing.T) {
	s := fresh(t)
	s.Register("d12")
	s.DeclareMany(8)
	n := func(i int) string { return fmt.Sprintf("n%d", i) }
	owned := make([]api.BindingSpec, 6)
	for i := range owned {
		owned[i] = api.BindingSpec{Node: n(i), Image: "d12", Owner: "tf:a"}
	}
	bound := as[api.BindingList](t, s.admin(200, "POST", "/v1/bindings", bulk(owned...))).Items
	none, stale := int64(0), bound[3].Revision-1
	item := func(i int, change func(*api.BulkBinding)) api.BulkBinding {
		one := api.BulkBinding{BindingSpec: api.BindingSpec{Node: n(i), Image: "d12", Owner: "tf:a"}}
		change(&one)
		return one
	}
	fine := []api.BulkBinding{
		item(0, func(b *api.BulkBinding) { b.Reimage, b.IfGeneration = true, 2 }),
		item(1, func(b *api.BulkBinding) { b.Unbind, b.IfGeneration = true, 1 }),
		item(2, func(b *api.BulkBinding) { b.IfRevision = &bound[2].Revision }),
		item(6, func(b *api.BulkBinding) { b.IfRevision, b.IfGeneration = &none, 1 }),
		item(7, func(b *api.BulkBinding) { b.Unbind = true }),
	}
	revision := item(3, func(b *api.BulkBinding) { b.IfRevision = &stale })
	absent := item(4, func(b *api.BulkBinding) { b.IfRevision = &none })
	generation := item(5, func(b *api.BulkBinding) { b.IfGeneration = 7 })
	foreign := item(4, func(b *api.BulkBinding) { b.Owner = "tf:b" })
	unbind := item(5, func(b *api.BulkBinding) { b.Unbind, b.Owner = true, "" })
	fault := item(3, func(b *api.BulkBinding) { b.Image = "none" })
	before := dump(t, etcd)
	for _, c := range []struct {
		want int
		bad  []api.BulkBinding
		says []string
	}{
		{412, []api.BulkBinding{revision, absent, generation},
			[]string{"not as wanted", "body.items[5].node", "body.items[6].node", "body.items[7].node",
				fmt.Sprintf("n3 has revision %d", bound[3].Revision), "n4 exists", "n5 would get generation 1, not 7"}},
		{409, []api.BulkBinding{revision, foreign, unbind},
			[]string{"belong to others", "body.items[5].node", "body.items[6].node", "the binding of n5 belongs to tf:a"}},
		{422, []api.BulkBinding{fault, foreign, generation},
			[]string{"at fault", "body.items[5].image", "image none does not exist", "body.items[7].node"}},
	} {
		s.refused(c.want, "POST", "/v1/bindings",
			api.BulkBindings{Items: append(append([]api.BulkBinding{}, fine...), c.bad...)}, c.says...)
	}
	if dump(t, etcd) != before {
		t.Error("a bulk call that was refused changed something")
	}
	applied(t, s, fine)
	takenOver(t, s, foreign, unbind)
}

// applied checks what a bulk call did.
func applied(t *testing.T, s *sledd, fine []api.BulkBinding) {
	t.Helper()
	done := as[api.BindingList](t, s.admin(200, "POST", "/v1/bindings", api.BulkBindings{Items: fine})).Items
	for i, want := range []int64{2, 0, 1, 1, 0} {
		if done[i].Generation != want || done[i].MAC == "" || done[i].Node != fine[i].Node {
			t.Errorf("item %d: %+v", i, done[i])
		}
	}
	s.admin(404, "GET", "/v1/bindings/n1", nil)
}

// takenOver checks who owns what after bindings were taken over.
func takenOver(t *testing.T, s *sledd, items ...api.BulkBinding) {
	t.Helper()
	s.admin(200, "POST", "/v1/bindings?take_over=true", api.BulkBindings{Items: items})
	if list := as[api.BindingList](t, s.admin(200, "GET", "/v1/bindings?owner=tf:b", nil)).Items; len(list) != 1 ||
		list[0].Node != "n4" {
		t.Errorf("tf:b owns %+v", list)
	}
	if list := as[api.NodeList](t, s.admin(200, "GET", "/v1/nodes?owner=tf:a", nil)).Items; len(list) != 4 {
		t.Errorf("tf:a owns %+v", list)
	}
}

func TestBulkGivesWayToWhoWasFaster(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Declare(2)
	other := &between{Store: etcd}
	slow := run(t, other)
	other.first = func() { s.Machine(1) } // its status changes after the check
	done := as[api.BindingList](t, slow.admin(200, "POST", "/v1/bindings",
		bulk(api.BindingSpec{Node: "n1"}, api.BindingSpec{Node: "n2"}))).Items
	if done[0].Revision == 0 || done[0].Revision != s.Node(1).Binding.Revision || done[1].Revision != done[0].Revision {
		t.Errorf("%+v", done)
	}
	other.first = func() { s.Bind(api.BindingSpec{Node: "n2", Owner: "tf:a"}) }
	slow.refused(503, "POST", "/v1/bindings", bulk(api.BindingSpec{Node: "n2", Wipe: "signatures"}), "belongs to tf:a")
}
