// SPDX-License-Identifier: Apache-2.0

package nodetx_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// TestAHoldKnowsTheStartsOfItsModel: of other machines too, and of no other model.
func TestAHoldKnowsTheStartsOfItsModel(t *testing.T) {
	db, memory := fresh()
	db.Policy = nodetx.Policy{Level: admission.Expected, Starts: &nodetx.Starts{}}
	var change store.Transaction
	for mac, machine := range map[string]struct {
		product string
		starts  []time.Duration
	}{
		"52:54:00:77:00:01": {product: "R760"},
		"52:54:00:77:00:02": {"R760", []time.Duration{time.Minute, 7 * time.Minute}},
		"52:54:00:77:00:03": {"R760", []time.Duration{2 * time.Minute}},
		"52:54:00:77:00:04": {product: "R660"},
	} {
		change.Put(key.Facts+mac, nodetx.Encode(api.Facts{DMI: nodetexttest.Facts(
			map[string]string{"vendor": "Dell", "product": machine.product})}))
		change.Put(key.Admissions+mac, nodetx.Encode(admission.State{Starts: machine.starts}))
	}
	if _, err := memory.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if err := db.ReadStarts(t.Context()); err != nil {
		t.Fatal(err)
	}
	for mac, hold := range map[string]time.Duration{"52:54:00:77:00:01": 460 * time.Second,
		"52:54:00:77:00:03": 460 * time.Second, "52:54:00:77:00:04": 5 * time.Minute} {
		update(t, db, mac, func(tx *nodetx.Tx) {
			claim := admission.Claim{ID: "a", Code: "a", Link: admission.LinkSame, Since: now}
			db.Policy.Step(tx, admission.Expect{For: time.Hour, By: "power", Reset: true})
			claim.Epoch = tx.Admission().Epoch
			db.Policy.Step(tx, admission.Arrive{Claim: claim})
			db.Policy.Step(tx, admission.Speak{Claim: claim})
			if may := db.Policy.May(tx, "a"); !may.Until.Equal(now.Add(hold)) {
				t.Errorf("%s: %+v", mac, may)
			}
		})
	}
}
