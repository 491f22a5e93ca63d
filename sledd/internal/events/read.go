// SPDX-License-Identifier: Apache-2.0

package events

import (
	"encoding/json"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// formerEntry is the kind of the events "entry" that earlier versions stored.
const formerEntry = "way"

// Read decodes a stored event.
func Read(kv store.KV) (api.Event, error) {
	var event api.Event
	err := json.Unmarshal(kv.Value, &event)
	if event.Kind == formerEntry {
		event.Kind = "entry"
	}
	event.ID = kv.Revision
	return event, err
}
