// SPDX-License-Identifier: Apache-2.0

package intake_test

import (
	"context"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/intake"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// Anybody can poll with the token of a claim: a word that only repeats the one before leaves nothing in the store.
func TestRepeatedWordsOfAClaimAreNotStored(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Proven)
	_, claim := m.hello("192.0.2.1")
	m.after(6 * time.Second).pollBy(claim)
	before, seen := m.load().Revision, m.load().Admission().Claims[0].Seen
	for range 10 {
		m.pollBy(claim)
		answer, issued, err := m.helloFrom("192.0.2.1", claim)
		if err != nil || issued != "" || answer.Level != admission.Proven {
			t.Fatalf("%+v, %q, %v", answer, issued, err)
		}
	}
	if after := m.load().Revision; after != before {
		t.Errorf("20 words within a moment were %d changes of the store", after-before)
	}
	m.after(6 * time.Second).pollBy(claim)
	if got := m.load().Admission().Claims[0].Seen; got.Sub(seen) < 5*time.Second {
		t.Errorf("a word %s later is not recorded", got.Sub(seen))
	}
}

// What the same poll changes is stored at once: the claim is admitted, or it becomes a rival.
func TestAWordThatDecidesIsStored(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Expected)
	code, claim := m.hello("192.0.2.1")
	m.pollBy(claim)
	m.decide(admission.Admit{Code: code})
	if token := m.pollBy(claim); token == "" {
		t.Fatal("the claim is not admitted by its next word")
	}
	_, other := m.hello("192.0.2.2")
	m.pollBy(other)
	if !m.load().Admission().Claims[0].Spoke {
		t.Error("a claim beside the incumbent has not spoken")
	}
}

// A stranger can hold one poll open for each of its claims, and not thousands, each of which is woken by the node.
func TestAClaimHasOnePoll(t *testing.T) {
	m := newMachine(t, &api.BindingSpec{Image: "d12"}).at(admission.Proven)
	_, claim := m.hello("192.0.2.1")
	_, other := m.hello("192.0.2.2")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 10)
	poll := func(bearer string) {
		_, err := m.Poll(ctx, mac, bearer, intake.None, time.Minute)
		ended <- err
	}
	go poll(other)
	for range 5 {
		go poll(claim)
	}
	for range 4 {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience.Limit):
			t.Fatalf("%d polls wait, want one of each claim", m.Hub.Waiting())
		}
	}
	patience.Until(t, "one poll of each claim waits", func() bool { return m.Hub.Waiting() == 2 })
	cancel()
	<-ended
	<-ended
}
