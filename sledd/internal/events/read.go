// SPDX-License-Identifier: Apache-2.0

package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// copyMark is in every copy. A string cannot hold it, because its quotes would be escaped.
var copyMark = []byte(`"copied":true`)

// Copy encodes an event for another MAC that its node got. It is history there, and no news.
func Copy(event api.Event) []byte {
	text, err := json.Marshal(struct {
		api.Event
		Copied bool `json:"copied"`
	}{event, true})
	if err != nil {
		panic(fmt.Sprintf("encode an event: %v", err)) // our own type: cannot happen
	}
	return text
}

// copiedTo returns the MAC that an event was copied to.
func copiedTo(kv store.KV) (mac string, copied bool) {
	if !bytes.Contains(kv.Value, copyMark) {
		return "", false
	}
	mac, _, _ = strings.Cut(strings.TrimPrefix(kv.Key, key.Events), "/")
	return mac, true
}

// Read decodes a stored event.
func Read(kv store.KV) (api.Event, error) {
	var event api.Event
	err := json.Unmarshal(kv.Value, &event)
	event.ID = kv.Revision
	return event, err
}
