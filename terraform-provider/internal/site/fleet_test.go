// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
)

// private is a private state.
type private map[string][]byte

func (p private) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) { return p[key], nil }

func (p private) SetKey(_ context.Context, key string, value []byte) diag.Diagnostics {
	p[key] = value
	return nil
}

// A state of another fleet is refused with both names, unless the provider block names the server's.
func TestSameFleet(t *testing.T) {
	client, err := api.New(api.Config{Server: "https://s"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(fleet, wanted string) (*Site, diag.Diagnostics) {
		s := &Site{client: client}
		return s, s.identify(fleet, wanted)
	}
	state := private{}
	a, _ := at("a", "")
	if d := a.SameFleet(t.Context(), state); d.HasError() {
		t.Errorf("a new state: %v", d)
	}
	if d := a.KeepFleet(t.Context(), state); d.HasError() || a.SameFleet(t.Context(), state).HasError() {
		t.Errorf("its own state: %v", d)
	}
	b, _ := at("b", "")
	if got := b.SameFleet(t.Context(), state); !got.HasError() ||
		got[0].Summary() != "This state belongs to fleet a, the server is fleet b" {
		t.Errorf("%v", got)
	}
	b, d := at("b", "b")
	if d.HasError() || b.SameFleet(t.Context(), state).HasError() || b.KeepFleet(t.Context(), state).HasError() ||
		string(state[fleetKey]) != `"b"` {
		t.Errorf("a state that moves on: %v, %s", d, state[fleetKey])
	}
	if _, d := at("a", "b"); !d.HasError() ||
		!strings.Contains(d[0].Detail(), "is for fleet b; the fleet of https://s is a") {
		t.Errorf("%v", d)
	}
	state[fleetKey] = []byte("{")
	b, _ = at("b", "")
	if !b.SameFleet(t.Context(), state).HasError() {
		t.Error("a damaged state is taken")
	}
}
