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

// Owner, generation and revision that are wanted are in the query and the headers of a request.
func TestConditionsOfABinding(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	spec := api.BindingSpec{Node: "n1", Image: "d12", Owner: "tf:a"}
	s.refused(412, "PUT", "/v1/bindings/n1?generation=2", spec, "the binding of n1 would get generation 1, not 2")
	s.refused(422, "PUT", "/v1/bindings/n1?generation=0", spec, "query.generation")
	first := s.Bind(spec, api.IfAbsent(), api.IfGeneration(1))
	s.Bind(spec, api.IfGeneration(2), api.Reimage())
	s.refused(412, "POST", "/v1/bindings/n1/reimage?generation=2", nil, "would get generation 3, not 2")
	if _, err := s.Client().ReimageBinding(t.Context(), "n1", api.IfRevision(first.Revision)); api.StatusOf(err) != 412 {
		t.Errorf("an older revision: %v", err)
	}
	s.admin(200, "POST", "/v1/bindings/n1/reimage?generation=3", nil)
	other := spec
	other.Owner = "tf:b"
	s.refused(409, "PUT", "/v1/bindings/n1?reimage=true", other, "the binding of n1 belongs to tf:a")
	s.Bind(other, api.TakeOver())
	s.refused(409, "DELETE", "/v1/bindings/n1?owner=tf:a", nil, "the binding of n1 belongs to tf:b")
	s.admin(204, "DELETE", "/v1/bindings/n1?owner=tf:b", nil)
	s.Bind(spec)
	s.admin(204, "DELETE", "/v1/bindings/n1?take_over=true", nil)
	s.refused(404, "DELETE", "/v1/bindings/n1", nil, "not bound")
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
	before := dump(t, shared)
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
	if dump(t, shared) != before {
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
