// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

func TestAnUndeclaredMachineSendsItsFactsOnce(t *testing.T) {
	m := newMachine(t, nil).at(admission.Expected)
	m.change(func(tx *nodetx.Tx) { *tx.Status() = api.Status{} })
	const other = "52:54:00:77:00:02"
	_, claim, err := m.Hello(t.Context(), other, "", admission.Hello{Boot: "b", NIC: other}, intake.Source{})
	if err != nil {
		t.Fatal(err)
	}
	facts := report.Hardware{Facts: api.Facts{BootID: nodetext.CleanIdentifier("b")}}
	if err := m.Authenticate(t.Context(), other, claim); err != nil {
		t.Error(err)
	}
	if _, err := m.Facts(t.Context(), other, claim, facts); err != nil {
		t.Error(err)
	}
	_, err = m.Facts(t.Context(), other, claim, facts)
	m.refused("facts for the second time", err, refusal.TooMany)
	m.refused("a token of another node", m.Authenticate(t.Context(), mac, claim), refusal.Forbidden)
	tx, err := m.DB.Load(t.Context(), other, nodetx.Facts)
	if err != nil || tx.Status().Phase != api.Discovered || tx.Facts() == nil {
		t.Errorf("%+v, %+v, %v", tx.Status(), tx.Facts(), err)
	}
	for what, use := range map[string]error{
		"report": m.reportBy(other, claim),
		"seed":   third(m.Seed(t.Context(), other, claim)),
		"upload": m.Upload(t.Context(), other, claim, 0),
	} {
		m.refused(what+" of a claim", use, refusal.Forbidden)
	}
}

func TestFactsOfAClaimAreNotThoseOfANodeThatIsDeclared(t *testing.T) {
	m := newMachine(t, nil).at(admission.Expected)
	_, claim := m.hello("192.0.2.1")
	facts := report.Hardware{Facts: api.Facts{BootID: nodetext.CleanIdentifier("b")}}
	if _, err := m.Facts(t.Context(), mac, claim, facts); err != nil {
		t.Error(err)
	}
	tx, err := m.DB.Load(t.Context(), mac, nodetx.Facts)
	if err != nil || tx.Facts() != nil || !tx.Status().BootID.IsZero() {
		t.Errorf("%+v, %+v, %v", tx.Status(), tx.Facts(), err)
	}
}

// A claim that its facts admit need not poll: they are the next request of the claim, and those of the node.
func TestFactsAdmitAClaimThatLacksNothing(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
	_, claim := m.hello("192.0.2.1")
	disk := nodetexttest.Facts(map[string]string{"name": "vda", "serial": "1", "bytes": "1000", "transport": "virtio"})
	facts := report.Hardware{Facts: api.Facts{BootID: nodetext.CleanIdentifier(m.booted),
		Disks: []map[string]nodetext.Identifier{disk}}}
	first, err := m.Facts(t.Context(), mac, claim, facts)
	if err != nil || !strings.HasPrefix(first, "sledb_") {
		t.Fatalf("%q, %v", first, err)
	}
	tx, err := m.DB.Load(t.Context(), mac, nodetx.Facts)
	if err != nil || tx.Facts() == nil || tx.Status().Phase != api.Booting {
		t.Fatalf("%+v, %+v, %v", tx.Status(), tx.Facts(), err)
	}
	m.refused("the seed by the claim token", third(m.Seed(t.Context(), mac, claim)), refusal.Forbidden)
	if m.token, err = m.Facts(t.Context(), mac, claim, facts); err != nil || m.token == "" || m.token == first {
		t.Fatalf("a response that was lost is not repeated: %q, %q, %v", first, m.token, err)
	}
	if got := m.poll(); got != "wipe write configure kexec" {
		t.Fatalf("the plan is %q", got)
	}
	_, err = m.Facts(t.Context(), mac, claim, facts)
	m.refused("facts with the claim token, after the boot token was used", err, refusal.Unauthorized)
	for kind, want := range map[string]int{"claim": 1, "admit": 1, "facts": 1, "plan": 1} {
		if got := m.count(kind); got != want {
			t.Errorf("%d events %s, want %d", got, kind, want)
		}
	}
}

// Nor do facts admit a claim that a poll would not admit, and those of a rival change nothing that the incumbent sent.
func TestFactsOfARivalAreNotThoseOfTheNode(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	m.decide(admission.Expect{For: 15 * time.Minute, By: "power"})
	m.enter("192.0.2.1")
	m.poll()
	before := m.load().StoredValue(nodetx.Facts)
	_, rival := m.hello("192.0.2.66")
	facts := report.Hardware{Facts: api.Facts{BootID: nodetext.CleanIdentifier("b66")}}
	if got, err := m.Facts(t.Context(), mac, rival, facts); err != nil || got != "" {
		t.Fatalf("a rival was admitted by its facts: %q, %v", got, err)
	}
	if after := m.load().StoredValue(nodetx.Facts); string(after) != string(before) || len(before) == 0 {
		t.Errorf("facts before: %s\nafter: %s", before, after)
	}
	if m.poll(); m.count("rival") != 1 {
		t.Errorf("%d alarms, want that of the rival", m.count("rival"))
	}
}
