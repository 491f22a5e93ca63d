// SPDX-License-Identifier: Apache-2.0

package events

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/admission"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// admission wakes the polls of a node when one of them is to be answered, and not for each word that is recorded.
func (h *Hub) admission(kv store.KV) {
	mac := strings.TrimPrefix(kv.Key, key.Admissions)
	var state admission.State
	delete(h.unproven, mac)
	delete(h.alarms, mac)
	if err := json.Unmarshal(kv.Value, &state); err != nil { // deleted
		delete(h.calls, mac)
		return
	}
	for _, alarm := range state.Alarms {
		h.alarms[mac] = append(h.alarms[mac], string(alarm.Kind))
	}
	if state.Unproven() {
		h.unproven[mac] = true
	}
	call := fmt.Sprint(state.Calls)
	if state.Incumbent != nil {
		call += state.Incumbent.Asked.String()
	}
	if h.calls[mac] != call {
		h.calls[mac] = call
		h.wake(mac)
	}
}

// Unproven returns the nodes that have a claim or an incumbent without evidence of level proven.
func (h *Hub) Unproven() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.unproven))
}

// Alarms counts the alarms of each kind that no operator has acknowledged.
func (h *Hub) Alarms() map[string]int {
	count := map[string]int{}
	for _, kind := range api.AlarmKinds() {
		count[kind] = 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kinds := range h.alarms {
		for _, kind := range kinds {
			count[kind]++
		}
	}
	return count
}
