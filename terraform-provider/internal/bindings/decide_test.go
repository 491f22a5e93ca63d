// SPDX-License-Identifier: Apache-2.0

package bindings

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

const (
	mac   = "52:54:00:77:00:01"
	owner = "terraform:x"
)

// exception is a stored state that is not the declared one.
func exception(image, owner string) *desired.State {
	return &desired.State{BindingSpec: api.BindingSpec{Image: image, Owner: owner}}
}

var stepTests = map[string]struct {
	stored     stored
	planned    string
	mode       string
	onDrift    desired.OnDrift
	was, is    string // triggers
	imported   bool
	kind       kind
	generation int64
	raises     bool
}{
	"nothing":                 {stored: stored{Generation: 3}, planned: "a", kind: keep, generation: 3},
	"bound again by somebody": {stored: stored{Generation: 4}, planned: "a", kind: keep, generation: 4},
	"image": {stored: stored{Generation: 3}, planned: "b", kind: put, generation: 4,
		raises: true},
	"image, status ahead": {stored: stored{Generation: 3, Observed: 7}, planned: "b", kind: put,
		generation: 8, raises: true},
	"mode": {stored: stored{Generation: 3}, planned: "a", mode: "auto", kind: put,
		generation: 3},
	"trigger": {stored: stored{Generation: 3}, planned: "a", was: "1", is: "2", kind: again,
		generation: 4, raises: true},
	"trigger and image": {stored: stored{Generation: 3}, planned: "b", is: "2", kind: put,
		generation: 4, raises: true},
	"trigger taken out": {stored: stored{Generation: 3}, planned: "a", was: "1", kind: keep, generation: 3},
	"trigger after an import": {stored: stored{Generation: 3}, planned: "a", is: "1", imported: true,
		kind: keep, generation: 3},
	"trigger was done": {stored: stored{Generation: 3, Asked: &asked{3, "2"}}, planned: "a", is: "2",
		kind: keep, generation: 3},
	"trigger was not done": {stored: stored{Generation: 3, Asked: &asked{4, "2"}}, planned: "a", is: "2",
		kind: again, generation: 4, raises: true},
	"another trigger was done": {stored: stored{Generation: 3, Asked: &asked{3, "1"}}, planned: "a", is: "2",
		kind: again, generation: 4, raises: true},
	"drifted, warn": {stored: stored{Generation: 5, Desired: exception("c", owner)}, planned: "a",
		onDrift: desired.Warn, kind: drifted, generation: 2},
	"drifted, ignore": {stored: stored{Generation: 5, Desired: exception("c", "")}, planned: "a",
		onDrift: desired.Ignore, kind: drifted, generation: 2},
	"drifted, reimage": {stored: stored{Generation: 5, Desired: exception("c", owner)}, planned: "a",
		onDrift: desired.Reimage, kind: put, generation: 6, raises: true},
	"drifted, mode": {stored: stored{Generation: 5, Desired: exception("c", owner)}, planned: "a",
		mode: "auto", onDrift: desired.Warn, kind: drifted, generation: 2},
	"drifted, and now declared": {stored: stored{Generation: 5, Desired: exception("c", owner)}, planned: "c",
		onDrift: desired.Warn, kind: keep, generation: 5},
	"drifted, another image": {stored: stored{Generation: 5, Desired: exception("c", owner)}, planned: "b",
		onDrift: desired.Warn, kind: blocked, generation: 2},
	"taken over": {stored: stored{Generation: 5, Desired: exception("a", "else")}, planned: "a",
		onDrift: desired.Warn, kind: drifted, generation: 2},
	"taken over, image": {stored: stored{Generation: 5, Desired: exception("a", "else")}, planned: "b",
		onDrift: desired.Warn, kind: foreign, generation: 2},
	"taken over, reimage": {stored: stored{Generation: 5, Desired: exception("a", "else")}, planned: "a",
		onDrift: desired.Reimage, kind: foreign, generation: 2},
}

func TestStep(t *testing.T) {
	for name, test := range stepTests {
		c := comparison{owner: owner, prior: declared{images: map[string]string{mac: "a"},
			triggers: map[string]string{}}, imported: test.imported,
			planned: declared{images: map[string]string{mac: test.planned}, triggers: map[string]string{},
				onDrift: test.onDrift},
			generations: map[string]int64{mac: 2}, stored: map[string]stored{mac: test.stored}}
		c.planned.uniform.Mode = test.mode
		if test.was != "" {
			c.prior.triggers[mac] = test.was
		}
		if test.is != "" {
			c.planned.triggers[mac] = test.is
		}
		if got := c.step(mac); got.kind != test.kind || got.generation != test.generation || got.raises != test.raises {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestStepNew(t *testing.T) {
	bound := func(image, owner string, generation int64) *api.Binding {
		return &api.Binding{BindingSpec: api.BindingSpec{Image: image, Owner: owner}, Generation: generation}
	}
	for name, test := range map[string]struct {
		binding    *api.Binding
		status     int64
		replaced   bool
		kind       kind
		from, to   int64
		raises     bool
		otherOwner string
	}{
		"first":            {kind: put, to: 1, raises: true},
		"ran before":       {status: 4, kind: put, from: 4, to: 5, raises: true},
		"adopted":          {binding: bound("a", "", 3), kind: put, from: 3, to: 3},
		"after a cut":      {binding: bound("a", owner, 3), status: 2, kind: put, from: 3, to: 3},
		"unowned, another": {binding: bound("b", "", 3), status: 4, kind: put, from: 3, to: 5, raises: true},
		"foreign":          {binding: bound("a", "else", 3), kind: foreign, otherOwner: "else"},
		"replaced": {binding: bound("a", owner, 3), status: 3, replaced: true, kind: put, from: 3, to: 4,
			raises: true},
	} {
		c := comparison{owner: owner, planned: declared{images: map[string]string{mac: "a"}},
			replaced: test.replaced, stored: map[string]stored{mac: {}}}
		got := c.stepNew(mac, api.Node{Binding: test.binding, Status: api.Status{Generation: test.status}})
		if got.kind != test.kind || got.from != test.from || got.generation != test.to ||
			got.raises != test.raises || got.other.Owner != test.otherOwner {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestStepGone(t *testing.T) {
	for name, test := range map[string]struct {
		stored    stored
		onDestroy string
		want      step
	}{
		"keep": {stored{Generation: 3}, "keep", step{kind: unbind, generation: 3}},
		"wipe": {stored{Generation: 3, Observed: 3}, "wipe",
			step{kind: clean, generation: 4, from: 3, raises: true}},
		"wiped already": {stored{Generation: 3, Desired: exception("", owner)}, "wipe",
			step{kind: clean, generation: 4, from: 3}},
		"foreign":     {stored{Generation: 3, Desired: exception("a", "else")}, "wipe", step{kind: keep}},
		"never bound": {stored{}, "wipe", step{kind: keep}},
	} {
		c := comparison{owner: owner, planned: declared{onDestroy: test.onDestroy},
			stored: map[string]stored{mac: test.stored}}
		if got := c.stepGone(mac); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestLook(t *testing.T) {
	node := func(image, owner string, generation int64) api.Node {
		return api.Node{Binding: &api.Binding{BindingSpec: api.BindingSpec{Node: "n", Image: image, Owner: owner},
			Generation: generation, Revision: 9}}
	}
	d := declared{images: map[string]string{"same": "a", "drifted": "a", "taken": "a", "lost": "a", "loose": "a",
		"gone": "a", "unbound": "a"}}
	generations := map[string]int64{"same": 1, "drifted": 1, "taken": 1, "lost": 1, "loose": 1}
	got := look(owner, d, generations, nil, map[string]api.Node{"same": node("a", owner, 2),
		"drifted": node("b", owner, 2), "extra": node("c", owner, 4)},
		map[string]api.Node{"taken": node("a", "else", 2), "lost": node("a", "", 2), "loose": node("b", "", 2),
			"unbound": {}})
	want := sight{
		images:      map[string]string{"same": "a", "drifted": "a", "taken": "a", "loose": "a", "extra": "c"},
		generations: map[string]int64{"same": 2, "drifted": 1, "taken": 1, "loose": 1, "extra": 4},
		drifted:     map[string]string{"drifted": "b", "taken": "a", "loose": "b"},
		stored: map[string]stored{"same": {Generation: 2, Revision: 9},
			"drifted": {Generation: 2, Revision: 9, Desired: exception("b", owner)},
			"taken":   {Generation: 2, Revision: 9, Desired: exception("a", "else")},
			"loose":   {Generation: 2, Revision: 9, Desired: exception("b", "")},
			"extra":   {Generation: 4, Revision: 9}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestUsualIsWhatMostHave(t *testing.T) {
	node := func(name, image, mode string) api.Node {
		return api.Node{Binding: &api.Binding{BindingSpec: api.BindingSpec{Node: name, Image: image, Mode: mode,
			Owner: owner}}}
	}
	got := usual(map[string]api.Node{"1": node("n1", "a", "full"), "2": node("n2", "b", "auto"),
		"3": node("n3", "a", "auto")})
	if want := (desired.State{BindingSpec: api.BindingSpec{Mode: "auto"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestUniformComesBack(t *testing.T) {
	w := desired.State{UserDataSHA256: "00ff", BindingSpec: api.BindingSpec{Disk: "serial:1", Wipe: "clear",
		Mode: "full", Verify: "none", AllowUnsigned: true,
		Boot: "kexec", AuthorizedKeys: []string{"a", "b"}, KernelArguments: "quiet"}}
	m := empty(types.StringValue("x"))
	if m.Take(w); !reflect.DeepEqual(m.State(), w) {
		t.Errorf("%+v", m.State())
	}
	if m.Take(desired.State{}); !m.Disk.IsNull() || !m.AllowUnsigned.IsNull() || !m.AuthorizedKeys.IsNull() ||
		!m.UserDataSHA256.IsNull() {
		t.Errorf("%+v", m)
	}
}

func TestRefusalNamesMachines(t *testing.T) {
	items := make([]api.BulkBinding, 30)
	refusal := &api.Error{Status: 412, Title: "Precondition Failed", Detail: "nothing was bound"}
	for i := range items {
		items[i].Node = fmt.Sprintf("52:54:00:77:00:%02x", i)
		refusal.Errors = append(refusal.Errors,
			api.ErrorDetail{Location: fmt.Sprintf("body.items[%d].if_generation", i), Message: "no"})
	}
	err := site.NameItems(refusal, items)
	if text := err.Error(); !strings.Contains(text, "52:54:00:77:00:13: no") || strings.Contains(text, "00:14") ||
		!strings.Contains(text, "and 10 more") {
		t.Error(text)
	}
	if api.StatusOf(err) != 412 || len(refusal.Errors) != 30 {
		t.Errorf("%v", refusal)
	}
	if other := errors.New("other"); !errors.Is(site.NameItems(other, items), other) || site.NameItems(nil, items) != nil {
		t.Error("what is no refusal stays")
	}
}
