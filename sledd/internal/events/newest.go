// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// Newest returns the newest events of the fleet, oldest first, of those that are held: all since the watch started, and
// some of before.
func (h *Hub) Newest(ctx context.Context, filter api.EventFilter) ([]api.Event, error) {
	select {
	case <-h.started:
	case <-ctx.Done():
		return nil, &store.UnavailableError{Operation: "watch", Err: ctx.Err()}
	}
	h.mu.Lock()
	records := h.tail.records[:len(h.tail.records):len(h.tail.records)]
	h.mu.Unlock()
	found := []api.Event{}
	for _, record := range slices.Backward(records) {
		if len(found) >= filter.Limit {
			break
		}
		var event api.Event
		if err := json.Unmarshal(record.Data, &event); err != nil {
			return nil, err
		}
		if filter.Takes(event) {
			found = append(found, event)
		}
	}
	slices.Reverse(found)
	return found, nil
}
