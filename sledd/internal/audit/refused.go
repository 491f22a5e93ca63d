// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Refused counts a request that was refused and changed nothing. An operator has one record of them for an hour, with
// the newest.
func (t *Trail) Refused(record api.AuditRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	record.Time, record.Refused = t.now().UTC().Truncate(time.Hour), 1
	hours := t.refused[record.Operator]
	if len(hours) > 0 && hours[len(hours)-1].Time.Equal(record.Time) {
		record.Refused += hours[len(hours)-1].Refused
		*hours[len(hours)-1] = record
		return
	}
	if len(hours) == heldHours {
		hours = hours[1:]
	}
	t.refused[record.Operator] = append(hours, &record)
}

// heldHours of refused requests of an operator wait for a store that does not answer.
const heldHours = 24

// storeRefused adds the counts that wait to those in the store, which several sledd may write.
func (t *Trail) storeRefused(ctx context.Context) error {
	t.mu.Lock()
	waiting := t.refused
	t.refused = map[string][]*api.AuditRecord{}
	t.mu.Unlock()
	var failed error
	for _, operator := range slices.Sorted(maps.Keys(waiting)) {
		for _, record := range waiting[operator] {
			if err := t.count(ctx, *record); err != nil { // another sledd may be first: later, then
				t.again(*record)
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
}

// count adds to the record of an hour.
func (t *Trail) count(ctx context.Context, record api.AuditRecord) error {
	snapshot, err := t.store.Read(ctx, store.Key(name(record)))
	if err != nil {
		return err //nolint:wrapcheck // names the operation
	}
	kv, found := snapshot.One(0)
	if found {
		var before api.AuditRecord
		if err := decode(kv, &before); err != nil {
			return err
		}
		record.Refused += before.Refused
	}
	text, err := json.Marshal(record)
	if err != nil {
		return err //nolint:wrapcheck // cannot happen
	}
	var transaction store.Transaction
	transaction.Unchanged(name(record), kv.Revision)
	transaction.Put(name(record), text)
	if _, err := t.store.Commit(ctx, transaction); err != nil {
		return err //nolint:wrapcheck // names the operation
	}
	t.write("audit: requests were refused", record)
	return nil
}

// again makes a count wait for the next attempt, beside what was refused meanwhile.
func (t *Trail) again(record api.AuditRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, newer := range t.refused[record.Operator] {
		if newer.Time.Equal(record.Time) {
			newer.Refused += record.Refused
			return
		}
	}
	t.refused[record.Operator] = slices.Insert(t.refused[record.Operator], 0, &record)
}
