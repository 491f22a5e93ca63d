// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// step applies an event of a machine.
func (r *rack) step(i int, event admission.Event) (out admission.Outcome) {
	r.Helper()
	err := r.Update(r.Context(), address(i), nil, func(tx *nodetx.Tx) error {
		out = r.Policy.Step(tx, event)
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func (r *rack) hello(i int, code string) {
	r.Helper()
	r.step(i, admission.Arrive{Claim: admission.Claim{ID: "id-" + code, Code: code, Address: "192.0.2.1",
		Link: admission.LinkUnknown, Hello: admission.Hello{Boot: "b1", NIC: address(i), Serial: "S"}}})
}

// speaks is a poll of a claim, and returns whether it is admitted.
func (r *rack) speaks(i int, code string) bool {
	r.Helper()
	return r.step(i, admission.Speak{Claim: admission.Claim{ID: "id-" + code}}).Standing == admission.Admitted
}

func (r *rack) state(i int, want string) api.Admission {
	r.Helper()
	shown, err := r.Admission(r.Context(), address(i))
	if err != nil || shown.State != want {
		r.Errorf("%+v, %v, want state %s", shown, err, want)
	}
	return shown
}

func newRackAt(t *testing.T, level admission.Level) *rack {
	t.Helper()
	r := newRack(t)
	r.Policy = nodetx.Policy{Level: level}
	r.declare(1, 2)
	return r
}

const first, other = "AAAA-0001", "AAAA-0002"

func TestOperatorsSeeClaims(t *testing.T) {
	r := newRackAt(t, admission.Proven)
	r.state(1, "none")
	r.hello(1, first)
	r.state(1, "waiting")
	r.hello(2, other)
	if _, err := r.Admit(t.Context(), "n2", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: other}}); err != nil {
		t.Fatal(err)
	}
	if !r.speaks(2, other) {
		t.Fatal("not admitted")
	}
	list, err := r.Claims(t.Context())
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list.Level != "proven" || list.RivalSeconds != 300 {
		t.Errorf("level %s, %d s", list.Level, list.RivalSeconds)
	}
	one := list.Items[0]
	if one.Name != "n1" || one.Required != "proven" || len(one.Claims) != 1 || one.Claims[0].Code != first ||
		one.Claims[0].Address != "192.0.2.1" || one.Claims[0].Serial.String() != "S" {
		t.Errorf("%+v", one)
	}
	if shown := r.state(2, "admitted"); shown.Incumbent.By != "person" || shown.Incumbent.Level != "proven" ||
		!slices.Equal(shown.Incumbent.Evidence, []string{"person"}) {
		t.Errorf("%+v", shown.Incumbent)
	}
}

func TestNoWindowForANodeThatBootsItsDisk(t *testing.T) {
	r := newRackAt(t, admission.Expected)
	err := r.Update(t.Context(), address(1), nil, func(tx *nodetx.Tx) error {
		tx.Enter(api.Operational)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	spec := api.ExpectSpec{By: "power", Seconds: 900, SledOnly: true}
	if shown, err := r.Expect(t.Context(), "n1", spec); err != nil || shown.Window != nil {
		t.Errorf("%+v, %v, want no window", shown, err)
	}
	if shown, err := r.Expect(t.Context(), "n2", spec); err != nil || shown.Window == nil {
		t.Errorf("%+v, %v, want a window", shown, err)
	}
	spec.SledOnly = false
	if shown, err := r.Expect(t.Context(), "n1", spec); err != nil || shown.Window == nil {
		t.Errorf("%+v, %v, want a window", shown, err)
	}
}

// One request records that a machine without power is switched on. Of a node that boots its disk, too, whoever was
// admitted before has ended, but no boot is expected.
func TestPowerOnIsOneRequest(t *testing.T) {
	r := newRackAt(t, admission.Expected)
	spec := api.ExpectSpec{By: "power", Seconds: 900, SledOnly: true, Revoke: true, Power: "boot"}
	if shown, err := r.Expect(t.Context(), "n1", spec); err != nil || shown.Window == nil {
		t.Fatalf("%+v, %v, want a window", shown, err)
	}
	r.hello(1, first)
	if !r.speaks(1, first) {
		t.Fatal("not admitted in a window")
	}
	err := r.Update(t.Context(), address(1), nil, func(tx *nodetx.Tx) error {
		tx.Enter(api.Operational)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := r.Expect(t.Context(), "n1", spec); err != nil || shown.Incumbent != nil {
		t.Errorf("%+v, %v, want no incumbent", shown, err)
	}
	list, err := r.Events(t.Context(), "n1", 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, event := range list.Items {
		kinds = append(kinds, event.Kind)
	}
	if want := []string{"declare", "power", "expect", "claim", "admit", "power", "leave"}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

func TestOperatorsAdmitRefuseAndRevoke(t *testing.T) {
	r := newRackAt(t, admission.Expected)
	r.hello(1, first)
	if r.speaks(1, first) {
		t.Fatal("admitted without a window")
	}
	shown, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "power", Seconds: 900})
	if err != nil || shown.Window == nil || shown.Window.By != "power" || shown.Window.Ends.Sub(shown.Window.Opened).
		Seconds() != 900 {
		t.Fatalf("%+v, %v", shown, err)
	}
	if !r.speaks(1, first) {
		t.Fatal("not admitted in a window")
	}
	r.hello(1, other)
	r.speaks(1, first)
	r.state(1, "contested")
	if _, err := r.Refuse(t.Context(), "n1", api.CodeSpec{Code: strings.ToLower(other)}); err != nil {
		t.Fatal(err)
	}
	r.state(1, "admitted")
	if r.speaks(1, other) {
		t.Error("a refused claim is admitted")
	}
	if _, err := r.Revoke(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	r.state(1, "none")
	events, err := r.Events(t.Context(), "n1", 100)
	var kinds []string
	for _, event := range events.Items {
		kinds = append(kinds, event.Kind)
	}
	if want := "declare claim expect admit claim rival refuse leave"; err != nil || strings.Join(kinds, " ") != want {
		t.Errorf("%v, %v, want %s", kinds, err, want)
	}
}

func TestActsThatAreRefused(t *testing.T) {
	r := newRackAt(t, admission.Proven)
	r.hello(1, first)
	admit := func(node, code string, unseen bool) error {
		_, err := r.Admit(t.Context(), node, api.AdmitSpec{CodeSpec: api.CodeSpec{Code: code}, Unseen: unseen})
		return err
	}
	refuse := func(node, code string) error {
		_, err := r.Refuse(t.Context(), node, api.CodeSpec{Code: code})
		return err
	}
	_, revoked := r.Revoke(t.Context(), "n1")
	_, unknown := r.Admission(t.Context(), address(9))
	_, ticket := r.Ticket(t.Context(), address(9))
	for what, c := range map[string]struct {
		err  error
		kind refusal.Kind
	}{
		"no code":             {admit("n1", "hello", false), refusal.Invalid},
		"an unknown code":     {admit("n1", other, false), refusal.NotFound},
		"an unknown node":     {admit("n9", first, false), refusal.NotFound},
		"below the level":     {admit("n1", first, true), refusal.Conflict},
		"refuse no code":      {refuse("n1", "AAAA"), refusal.Invalid},
		"refuse another code": {refuse("n1", other), refusal.NotFound},
		"revoke nobody":       {revoked, refusal.Conflict},
		"an unknown MAC":      {unknown, refusal.NotFound},
		"an undeclared MAC":   {ticket, refusal.NotFound},
	} {
		if !refusal.Is(c.err, c.kind) {
			t.Errorf("%s: %v, want kind %d", what, c.err, c.kind)
		}
	}
	if r.speaks(1, first) {
		t.Error("a refused act has admitted the claim")
	}
}

func TestANewTicketEndsTheOneBefore(t *testing.T) {
	r := newRackAt(t, admission.Proven)
	before, err := r.Ticket(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	ticket, err := r.Ticket(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := r.Load(t.Context(), address(1))
	if err != nil {
		t.Fatal(err)
	}
	records := tx.Tokens()
	if len(records) != 1 || token.Find(records, before.Token, now) != -1 || token.Find(records, ticket.Token, now) != 0 ||
		records[0].Purpose != token.Ticket || !ticket.Expires.Equal(records[0].Expires) {
		t.Errorf("%+v", records)
	}
}
