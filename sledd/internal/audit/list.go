// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// page is the number of records that are read at once.
const page = 1000

// Filter selects records. Empty fields select all.
type Filter struct {
	Operator string
	Node     string // as it was named in the request
	Limit    int
}

// List returns the newest records, the oldest first.
func (t *Trail) List(ctx context.Context, filter Filter) ([]api.AuditRecord, error) {
	if err := t.Store(ctx); err != nil {
		return nil, err
	}
	list := []api.AuditRecord{}
	err := t.walk(ctx, false, func(kv store.KV) error {
		var record api.AuditRecord
		if err := decode(kv, &record); err != nil {
			return err
		}
		if (filter.Operator == "" || record.Operator == filter.Operator) &&
			(filter.Node == "" || record.Node == filter.Node) {
			list = append(list, record)
		}
		if len(list) == filter.Limit {
			return errEnough
		}
		return nil
	})
	slices.Reverse(list)
	return list, err
}

func decode(kv store.KV, into *api.AuditRecord) error {
	if err := json.Unmarshal(kv.Value, into); err != nil {
		return &store.UnavailableError{Operation: "decode " + kv.Key, Err: err}
	}
	return nil
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// walk calls see for each record, the newest first.
func (t *Trail) walk(ctx context.Context, keysOnly bool, see func(store.KV) error) error {
	query := store.Prefix(key.Audit)
	query.Descending, query.KeysOnly, query.Limit = true, keysOnly, page
	for {
		snapshot, err := t.store.Read(ctx, query)
		if err != nil {
			return err //nolint:wrapcheck // names the operation
		}
		found := snapshot.Results[0]
		for _, kv := range found {
			if err := see(kv); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if len(found) < page {
			return nil
		}
		query.To = found[len(found)-1].Key
	}
}
