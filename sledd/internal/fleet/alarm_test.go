// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// contested makes node 1 contested: two machines speak in turns.
func contested(t *testing.T) *rack {
	t.Helper()
	r := newRackAt(t, admission.Expected)
	if _, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "power", Seconds: 900}); err != nil {
		t.Fatal(err)
	}
	r.hello(1, first)
	r.speaks(1, first)
	r.hello(1, other)
	r.speaks(1, first)
	return r
}

func (r *rack) node(i int) api.Node {
	r.Helper()
	node, err := r.Node(r.Context(), address(i))
	if err != nil {
		r.Fatal(err)
	}
	list, err := r.Nodes(r.Context(), fleet.Filter{Limit: 10})
	if err != nil {
		r.Fatal(err)
	}
	for _, listed := range list.Items {
		if listed.MAC == node.MAC && (listed.AdmissionState != node.AdmissionState ||
			listed.AdmissionLevel != node.AdmissionLevel || !slices.Equal(listed.WaitingClaims, node.WaitingClaims) ||
			len(listed.Alarms) != len(node.Alarms)) {
			r.Errorf("listed: %+v, alone: %+v", listed.NodeAdmission, node.NodeAdmission)
		}
	}
	return node
}

func (r *rack) ack(until time.Time) api.Admission {
	r.Helper()
	shown, err := r.Ack(r.Context(), "n1", api.AckSpec{Until: until})
	if err != nil {
		r.Fatal(err)
	}
	return shown
}

func TestAlarmsStayUntilTheyAreAcknowledged(t *testing.T) {
	r := contested(t)
	node := r.node(1)
	if node.AdmissionState != "contested" || node.AdmissionLevel != "expected" || len(node.Alarms) != 1 ||
		node.Alarms[0].Kind != "rival" || node.Alarms[0].Address != "192.0.2.1" || node.Alarms[0].Count != 1 ||
		!strings.Contains(node.Alarms[0].Detail.String(), other+" from 192.0.2.1: the incumbent at 192.0.2.1 lives") {
		t.Fatalf("%+v", node.NodeAdmission)
	}
	if _, err := r.Refuse(t.Context(), "n1", api.CodeSpec{Code: other}); err != nil {
		t.Fatal(err)
	}
	if node := r.node(1); node.AdmissionState != "admitted" || len(node.Alarms) != 1 {
		t.Errorf("the end of a contest ends its alarm: %+v", node.NodeAdmission)
	}
	if shown := r.ack(node.Alarms[0].Last.Add(-time.Nanosecond)); len(shown.Alarms) != 1 {
		t.Error("an acknowledgement of earlier alarms ends a later one")
	}
	for range 2 { // the response may be lost
		if shown := r.ack(node.Alarms[0].Last); len(shown.Alarms) != 0 || shown.State != "admitted" {
			t.Errorf("%+v", shown)
		}
	}
	events, err := r.Events(t.Context(), "n1", 100)
	last := events.Items[len(events.Items)-1]
	if err != nil || last.Kind != "ack" || last.Detail.String() != "rival from 192.0.2.1 (1)" ||
		events.Items[len(events.Items)-2].Kind == "ack" {
		t.Errorf("%v, %+v", err, last)
	}
	_, err = r.Ack(t.Context(), "n9", api.AckSpec{Until: now})
	r.refused("an unknown node", err, refusal.NotFound, "n9")
}

func TestAlarmsAreEventsOnceInTenMinutes(t *testing.T) {
	r := newRackAt(t, admission.Expected)
	for range 12 {
		r.step(1, admission.Arrive{Claim: admission.Claim{ID: "x", Code: other, Address: "192.0.2.9",
			Link: admission.LinkOther, Holder: "52:54:00:77:00:99"}})
	}
	events, err := r.Events(t.Context(), "n1", 100)
	alarms := 0 // of four claims that are listed at once, and of one in five seconds after that
	for _, event := range events.Items {
		if event.Kind == "link" {
			alarms++
		}
	}
	node := r.node(1)
	if err != nil || alarms != 1 || len(node.Alarms) != 1 || node.Alarms[0].Count != 8 ||
		!strings.HasSuffix(node.Alarms[0].Detail.String(), "its address belongs to MAC 52:54:00:77:00:99") {
		t.Errorf("%v, %d events, %+v", err, alarms, node.Alarms)
	}
	if len(node.WaitingClaims) != 0 || node.AdmissionState != "waiting" {
		t.Errorf("a claim with a wrong link is offered: %+v", node.NodeAdmission)
	}
}

func TestADeletedNodeHasNoAlarms(t *testing.T) {
	r := contested(t)
	if err := r.DeleteNode(t.Context(), "n1", nodetx.Wanted{}); err != nil {
		t.Fatal(err)
	}
	r.declare(1)
	if node := r.node(1); node.AdmissionState != "none" || len(node.Alarms) != 0 {
		t.Errorf("%+v", node.NodeAdmission)
	}
}

func TestClaimsThatWaitForAPersonAreShown(t *testing.T) {
	r := newRackAt(t, admission.Expected)
	r.hello(1, first)
	if node := r.node(1); node.AdmissionState != "waiting" || !slices.Equal(node.WaitingClaims, []string{first}) {
		t.Errorf("%+v", node.NodeAdmission)
	}
	if _, err := r.Expect(t.Context(), "n1", api.ExpectSpec{By: "power", Seconds: 900}); err != nil {
		t.Fatal(err)
	}
	if node := r.node(1); len(node.WaitingClaims) != 0 {
		t.Errorf("its next request admits it: %+v", node.NodeAdmission)
	}
	r.speaks(1, first)
	r.hello(1, other)
	if node := r.node(1); len(node.WaitingClaims) != 0 {
		t.Errorf("it may be a successor: %+v", node.NodeAdmission)
	}
}
