// SPDX-License-Identifier: Apache-2.0

package erasure

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Chain is the records in the store. The records of one report share a key, which has the number of the last of them.
type Chain struct {
	store store.Store
	key   ed25519.PrivateKey // nil: records are not signed
	turn  chan struct{}
}

// New makes a Chain; without a key its records are not signed.
func New(s store.Store, private ed25519.PrivateKey) *Chain {
	return &Chain{store: s, key: private, turn: make(chan struct{}, 1)}
}

// PublicPEM is the key that the records are verified with; empty: they are not signed.
func (c *Chain) PublicPEM() string { return PublicPEM(c.key) }

// Turn waits until no other report of this sledd appends: thousands of nodes may end a wipe at once, and each would
// change the head of the chain under the others.
func (c *Chain) Turn(ctx context.Context) (release func(), err error) {
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err() //nolint:wrapcheck // the client is gone
	}
}

func blockKey(last int64) string { return fmt.Sprintf("%s%012d", key.Erasures, last) }

func (c *Chain) head(snapshot store.Snapshot, i int) (head api.ErasureHead, revision int64, err error) {
	kv, found := snapshot.One(i)
	if !found {
		return api.ErasureHead{SHA256: None, Signature: sign(c.key, headText(api.ErasureHead{SHA256: None}))}, 0, nil
	}
	if err := json.Unmarshal(kv.Value, &head); err != nil {
		return head, 0, &store.UnavailableError{Operation: "decode " + kv.Key, Err: err}
	}
	return head, kv.Revision, nil
}

// Append adds records to a commit. It happens only if no other is appended meanwhile.
func (c *Chain) Append(ctx context.Context, writes *store.Transaction, records []api.Erasure) error {
	if len(records) == 0 {
		return nil
	}
	snapshot, err := c.store.Read(ctx, store.Key(key.ErasureHead))
	if err != nil {
		return err //nolint:wrapcheck // names the operation
	}
	head, revision, err := c.head(snapshot, 0)
	if err != nil {
		return err
	}
	var block bytes.Buffer
	for _, record := range records {
		record.Number, record.Previous = head.Number+1, head.SHA256
		text, err := recordText(record)
		if err != nil {
			return err
		}
		record.Signature = sign(c.key, text)
		line, err := Encode(record)
		if err != nil {
			return err
		}
		block.Write(append(line, '\n'))
		head = api.ErasureHead{Number: record.Number, SHA256: Hash(line)}
	}
	head.Signature = sign(c.key, headText(head))
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("head of the chain: %w", err)
	}
	writes.Unchanged(key.ErasureHead, revision)
	writes.Unchanged(blockKey(head.Number), 0)
	writes.Put(key.ErasureHead, text)
	writes.Put(blockKey(head.Number), block.Bytes())
	return nil
}

// List returns records behind a number, the oldest first, at most about limit, and the head as of that moment.
func (c *Chain) List(ctx context.Context, after int64, limit int) (api.ErasureList, error) {
	list := api.ErasureList{Items: []api.Erasure{}}
	snapshot, err := c.store.Read(ctx, store.Key(key.ErasureHead),
		store.Query{Key: blockKey(after + 1), To: store.PrefixEnd(key.Erasures), Limit: int64(limit)})
	if err != nil {
		return list, err //nolint:wrapcheck // names the operation
	}
	if list.Head, _, err = c.head(snapshot, 0); err != nil {
		return list, err
	}
	for _, kv := range snapshot.Results[1] {
		for line := range bytes.Lines(kv.Value) {
			var record api.Erasure
			if err := json.Unmarshal(line, &record); err != nil {
				return list, &store.UnavailableError{Operation: "decode " + kv.Key, Err: err}
			}
			if record.Number > after {
				list.Items = append(list.Items, record)
			}
		}
		if len(list.Items) >= limit {
			break
		}
	}
	return list, nil
}
