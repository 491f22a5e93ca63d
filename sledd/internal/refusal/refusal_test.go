// SPDX-License-Identifier: Apache-2.0

package refusal_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

func TestKindIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("bind: %w", refusal.New(refusal.Conflict, "node %s is bound", "n1"))
	if !refusal.Is(err, refusal.Conflict) || refusal.Is(err, refusal.NotFound) || err.Error() != "bind: node n1 is bound" {
		t.Error(err)
	}
	if refusal.Is(nil, refusal.Conflict) || refusal.Is(errors.New("other"), refusal.Invalid) {
		t.Error("an error that is no refusal has a kind")
	}
}

func TestFaultsOfItemsAreCollected(t *testing.T) {
	all := &refusal.Error{Kind: refusal.Invalid, Message: "nothing was changed"}
	if all.OrNil() != nil {
		t.Error("a refusal without faults")
	}
	all.AddItem(3, "image", "d13", "image d13 does not exist")
	var refused *refusal.Error
	if !errors.As(all.OrNil(), &refused) || refused.Details[0].Location != "body.items[3].image" ||
		refused.Details[0].Value != "d13" {
		t.Errorf("%+v", refused)
	}
	if one := refusal.Value("body.disk", "x", errors.New("no such disk")); one.Kind != refusal.Invalid ||
		one.Details[0].Message != "no such disk" {
		t.Errorf("%+v", one)
	}
}
