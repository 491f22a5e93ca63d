// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

const privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----"

// A private key is refused wherever keys enter, and is in no answer.
func TestAPrivateKeyIsNeitherStoredNorShown(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	change := binding(1, "v1")
	change.AuthorizedKeys = []string{sshkeys.Alice, privateKey}
	_, alone := r.PutBinding(t.Context(), "n1", change)
	_, dry := r.Dry().PutBinding(t.Context(), "n1", change)
	_, bulk := r.PutBindings(t.Context(), api.BulkBindings{Items: []api.BulkBinding{change.BulkBinding}}, false, false)
	_, rescue := r.PutRescue(t.Context(), "n1", api.RescueSpec{AuthorizedKeys: change.AuthorizedKeys}, false)
	for what, err := range map[string]error{"binding": alone, "dry run": dry, "bulk": bulk, "rescue": rescue} {
		var refused *refusal.Error
		if !errors.As(err, &refused) || refused.Kind != refusal.Invalid || len(refused.Details) != 1 ||
			refused.Details[0].Value != nil || strings.Contains(refused.Details[0].Message, "secret") ||
			!strings.Contains(refused.Details[0].Message, "authorized key 2 is a private key: give the public key") {
			t.Errorf("%s: %+v", what, refused)
		}
	}
	if node, err := r.Node(t.Context(), "n1"); err != nil || node.Binding != nil || node.Rescue != nil {
		t.Errorf("%+v, %v", node, err)
	}
}

func TestKeysAreStoredWithoutTheEndOfTheirLine(t *testing.T) {
	r := newRack(t)
	r.declare(1)
	r.register("v1")
	change := binding(1, "v1")
	change.AuthorizedKeys = []string{sshkeys.Alice + " alice\n"}
	want := []string{sshkeys.Alice + " alice"}
	if bound := r.bind(change); !slices.Equal(bound.AuthorizedKeys, want) {
		t.Errorf("%q", bound.AuthorizedKeys)
	}
	node, err := r.PutRescue(t.Context(), "n1", api.RescueSpec{AuthorizedKeys: change.AuthorizedKeys}, false)
	if err != nil || !slices.Equal(node.Rescue.AuthorizedKeys, want) {
		t.Errorf("%+v, %v", node.Rescue, err)
	}
}
