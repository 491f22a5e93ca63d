// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/origin"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Claims lists the nodes with claims that wait.
func (f *Fleet) Claims(ctx context.Context) (api.AdmissionList, error) {
	list := api.AdmissionList{Level: f.Policy.Level.String(), Items: []api.Admission{},
		RivalSeconds: int64(f.Policy.RivalTime().Seconds())}
	snapshot, err := f.Store.Read(ctx, store.Prefix(key.Admissions))
	if err != nil {
		return list, err
	}
	var macs []string
	for _, kv := range snapshot.Results[0] {
		var state admission.State
		if err := nodetx.Decode(kv, &state); err != nil {
			return list, err
		}
		if len(state.Claims) > 0 {
			macs = append(macs, strings.TrimPrefix(kv.Key, key.Admissions))
		}
	}
	for start := 0; start < len(macs); start += pageOfClaims {
		page, err := f.LoadMany(ctx, macs[start:min(len(macs), start+pageOfClaims)], nodetx.Core...)
		if err != nil {
			return list, err
		}
		for _, tx := range page {
			f.Policy.Step(tx, admission.Tick{}) // what has ended is not shown
			if len(tx.Admission().Claims) > 0 {
				list.Items = append(list.Items, f.shownAdmission(tx))
			}
		}
	}
	return list, nil
}

// pageOfClaims is how many nodes are read at a time.
const pageOfClaims = 16

// Admission returns who claims to be a node, and who is admitted.
func (f *Fleet) Admission(ctx context.Context, reference string) (api.Admission, error) {
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return api.Admission{}, err
	}
	tx, err := f.load(ctx, address)
	if err != nil {
		return api.Admission{}, err
	}
	if !tx.Known() {
		return api.Admission{}, refusal.New(refusal.NotFound, "node %s does not exist", reference)
	}
	f.Policy.Step(tx.Tx, admission.Tick{})
	return f.shownAdmission(tx.Tx), nil
}

// Expect makes a boot of a node expected. What else was done to its machine is recorded before that.
func (f *Fleet) Expect(ctx context.Context, reference string, spec api.ExpectSpec) (api.Admission, error) {
	event := admission.Expect{For: time.Duration(spec.Seconds) * time.Second, By: spec.By, Reset: spec.Revoke}
	prepare := func(tx *nodeTx) bool {
		if spec.Power != "" {
			tx.note(api.NodeEvent{Kind: "power", Detail: spec.Power})
		}
		opens := !spec.SledOnly || !tx.BootsDisk()
		if spec.Revoke && !opens {
			f.Policy.Step(tx.Tx, admission.Revoke{})
		}
		return opens
	}
	return f.decideIf(ctx, reference, prepare, event, func(tx *nodeTx, _ admission.Outcome) error {
		tx.AddEvent(api.Event{Kind: "expect", Generation: tx.Generation(), Seconds: float64(spec.Seconds),
			Detail: nodetext.Clean(spec.By)})
		return nil
	})
}

// Admit admits a claim: its next request makes it the node.
func (f *Fleet) Admit(ctx context.Context, reference string, spec api.AdmitSpec) (api.Admission, error) {
	code, err := admission.ParseCode(spec.Code)
	if err != nil {
		return api.Admission{}, refusal.Value("body.code", spec.Code, err)
	}
	sender := origin.Of(ctx)
	by := admission.Operator{Name: sender.Actor, Via: sender.Via}
	return f.decide(ctx, reference, admission.Admit{Code: code, Unseen: spec.Unseen, By: by},
		func(tx *nodeTx, out admission.Outcome) error {
			switch {
			case out.Standing == admission.Unknown:
				return refusal.New(refusal.NotFound, "node %s has no claim %s", tx.NameOr(reference), code)
			case out.Standing == admission.Waiting && out.Reason != "":
				return refusal.New(refusal.Conflict, "claim %s of node %s is not admitted: %s; read the code on the "+
					"console of the machine, and admit it as read", code, tx.NameOr(reference), out.Reason)
			}
			return nil
		})
}

// Refuse ends a claim.
func (f *Fleet) Refuse(ctx context.Context, reference string, spec api.CodeSpec) (api.Admission, error) {
	code, err := admission.ParseCode(spec.Code)
	if err != nil {
		return api.Admission{}, refusal.Value("body.code", spec.Code, err)
	}
	return f.decide(ctx, reference, admission.Refuse{Code: code}, func(tx *nodeTx, out admission.Outcome) error {
		if out.Standing == admission.Unknown {
			return refusal.New(refusal.NotFound, "node %s has no claim %s that waits; an admitted one is revoked",
				tx.NameOr(reference), code)
		}
		return nil
	})
}

// Revoke ends the admission of a node. Its tokens end.
func (f *Fleet) Revoke(ctx context.Context, reference string) (api.Admission, error) {
	return f.decide(ctx, reference, admission.Revoke{}, func(tx *nodeTx, out admission.Outcome) error {
		if out.Standing == admission.Unknown {
			return refusal.New(refusal.Conflict, "nobody is admitted as node %s", tx.NameOr(reference))
		}
		return nil
	})
}

// decide applies an operator's act to the admission of a node; check may refuse what it results in.
func (f *Fleet) decide(ctx context.Context, reference string, event admission.Event,
	check func(tx *nodeTx, out admission.Outcome) error) (api.Admission, error) {
	return f.decideIf(ctx, reference, func(*nodeTx) bool { return true }, event, check)
}

// decideIf is decide after what comes first, and only shows the admission of a node that the act is not for.
func (f *Fleet) decideIf(ctx context.Context, reference string, prepare func(tx *nodeTx) bool, event admission.Event,
	check func(tx *nodeTx, out admission.Outcome) error) (api.Admission, error) {
	var shown api.Admission
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return shown, err
	}
	err = f.update(ctx, address, func(tx *nodeTx) error {
		if !tx.Known() {
			return refusal.New(refusal.NotFound, "node %s does not exist", reference)
		}
		f.Policy.Step(tx.Tx, admission.Tick{}) // its notes are none of the act's
		if !prepare(tx) {
			shown = f.shownAdmission(tx.Tx)
			return nil
		}
		out := f.Policy.Step(tx.Tx, event)
		if err := check(tx, out); err != nil {
			return err
		}
		shown = f.shownAdmission(tx.Tx)
		return nil
	})
	return shown, err
}

// Ticket makes a token that proves one claim of a node. An earlier one ends.
func (f *Fleet) Ticket(ctx context.Context, reference string) (api.TicketToken, error) {
	var ticket api.TicketToken
	address, err := f.Resolve(ctx, reference)
	if err != nil {
		return ticket, err
	}
	err = f.update(ctx, address, func(tx *nodeTx) error {
		if tx.Node() == nil {
			return refusal.New(refusal.NotFound, "node %s is not declared", reference)
		}
		if err := tx.MayHaveTicket(); err != nil {
			return err
		}
		ticket = tx.IssueTicket()
		return nil
	})
	return ticket, err
}

// Ack acknowledges the alarms of a node that were counted last at a time or before.
func (f *Fleet) Ack(ctx context.Context, reference string, spec api.AckSpec) (api.Admission, error) {
	return f.decide(ctx, reference, admission.Tick{}, func(tx *nodeTx, _ admission.Outcome) error {
		var texts []string
		for _, alarm := range tx.Admission().Acknowledge(spec.Until) {
			text := string(alarm.Kind)
			if alarm.Address != "" {
				text += " from " + alarm.Address
			}
			texts = append(texts, fmt.Sprintf("%s (%d)", text, alarm.Count))
		}
		if len(texts) > 0 {
			tx.AddEvent(api.Event{Kind: "ack", Generation: tx.Generation(),
				Detail: nodetext.Clean(strings.Join(texts, ", "))})
		}
		return nil
	})
}

// shownNode is a node as operators see it.
func (f *Fleet) shownNode(tx *nodetx.Tx) api.Node {
	node, state := tx.Public(), f.Policy.Look(tx)
	node.AdmissionState = stateOf(state)
	node.Overdue = int64(node.Status.OverdueAt(tx.Now).Seconds())
	if state.Incumbent != nil {
		node.AdmissionLevel = state.Incumbent.Level.String()
	}
	for _, claim := range f.Policy.Attended(tx) {
		node.WaitingClaims = append(node.WaitingClaims, claim.Code)
	}
	node.Alarms = shownAlarms(state)
	node.Wait = f.waitOf(tx, state, node)
	return node
}

// stateOf is the state of an admission in one word.
func stateOf(state admission.State) string {
	switch {
	case state.Incumbent != nil && state.Incumbent.Contested:
		return "contested"
	case state.Incumbent != nil:
		return "admitted"
	case len(state.Claims) > 0:
		return "waiting"
	}
	return "none"
}

func shownAlarms(state admission.State) []api.Alarm {
	var shown []api.Alarm
	for _, alarm := range state.Alarms {
		shown = append(shown, api.Alarm{Kind: string(alarm.Kind), Address: alarm.Address, Detail: alarm.Detail,
			Since: alarm.Since, Last: alarm.Last, Count: alarm.Count})
	}
	return shown
}

// shownAdmission is an admission as operators see it.
func (f *Fleet) shownAdmission(tx *nodetx.Tx) api.Admission {
	state := tx.Admission()
	shown := api.Admission{MAC: tx.MAC, Name: tx.Spec().Name, State: stateOf(*state),
		Required: f.Policy.Required(tx).String(), HandedOver: state.HandedOver, Claims: []api.Claim{},
		Alarms: append([]api.Alarm{}, shownAlarms(*state)...)}
	for _, claim := range state.Claims {
		shown.Claims = append(shown.Claims, shownClaim(claim))
	}
	for _, proof := range state.Proofs {
		shown.Codes = append(shown.Codes, proof.Code)
	}
	if window := state.Window; window != nil {
		shown.Window = &api.Window{Opened: window.Opened, Ends: window.Ends, By: window.By}
	}
	if incumbent := state.Incumbent; incumbent != nil {
		shown.Incumbent = &api.Incumbent{Claim: shownClaim(incumbent.Claim), Level: incumbent.Level.String(),
			By: incumbent.By, Admitted: incumbent.At, Contested: incumbent.Contested}
	}
	return shown
}

func shownClaim(claim admission.Claim) api.Claim {
	shown := api.Claim{Code: claim.Code, Address: claim.Address, Link: string(claim.Link), NIC: claim.Hello.NIC,
		UUID: nodetext.CleanIdentifier(claim.Hello.UUID), Serial: nodetext.CleanIdentifier(claim.Hello.Serial),
		BootID: nodetext.CleanIdentifier(claim.Hello.Boot), Since: claim.Since, Seen: claim.Seen, Rival: claim.Rival,
		Evidence: []string{}}
	for _, evidence := range claim.Evidence {
		shown.Evidence = append(shown.Evidence, string(evidence))
	}
	return shown
}
