// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/store"
	"github.com/sled-fleet/sled/sledd/internal/token"
)

// claimKeyLife is after how long the key of claims is read again: another sledd may have made another one.
const claimKeyLife = time.Minute

// claimKey is the key that seals claims, as it was read last. All sledd of a store share it.
type claimKey struct {
	token.ClaimKey
	read time.Time
}

// storedClaimKey is the key of claims as stored: sealed, if there is a key for that.
type storedClaimKey struct {
	Key    string `json:"key,omitempty"` // hexadecimal
	Sealed string `json:"sealed_key,omitempty"`
}

// readClaimKey makes the key of claims known, before a request that may have a claim token. The first call on an empty
// store creates it.
func (in *Intake) readClaimKey(ctx context.Context) error {
	now := in.DB.Now()
	if known := in.claimKey.Load(); known != nil && now.Sub(known.read).Abs() < claimKeyLife {
		return nil
	}
	return nodetx.Retry(ctx, func(ctx context.Context) error {
		snapshot, err := in.DB.Store.Read(ctx, store.Key(key.ClaimKey))
		if err != nil {
			return err
		}
		kv, exists := snapshot.One(0)
		if found, opens := in.openClaimKey(kv); exists && opens {
			in.claimKey.Store(&claimKey{found, now})
			return nil
		}
		var made token.ClaimKey
		_, _ = rand.Read(made[:]) // never fails: the Go runtime ends the process first
		var t store.Transaction
		t.Unchanged(key.ClaimKey, kv.Revision)
		t.Put(key.ClaimKey, nodetx.Encode(in.storeClaimKey(made)))
		if _, err = in.DB.Store.Commit(ctx, t); err == nil {
			in.claimKey.Store(&claimKey{made, now})
		}
		return err
	})
}

func (in *Intake) storeClaimKey(made token.ClaimKey) storedClaimKey {
	text := hex.EncodeToString(made[:])
	if in.DB.Box == nil {
		return storedClaimKey{Key: text}
	}
	return storedClaimKey{Sealed: in.DB.Box.Seal(text, key.ClaimKey)}
}

// openClaimKey reads the stored key. One that is sealed with a key that is no more, or is in clear though there is one,
// is replaced: the claims that it sealed end, and their machines say hello again.
func (in *Intake) openClaimKey(kv store.KV) (found token.ClaimKey, opens bool) {
	var stored storedClaimKey
	if len(kv.Value) == 0 || nodetx.Decode(kv, &stored) != nil {
		return found, false
	}
	text := stored.Key
	if in.DB.Box != nil {
		var err error
		if text, err = in.DB.Box.Open(stored.Sealed, key.ClaimKey); err != nil {
			return found, false
		}
	}
	data, err := hex.DecodeString(text)
	return found, err == nil && copy(found[:], data) == len(found)
}
