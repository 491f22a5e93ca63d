// SPDX-License-Identifier: Apache-2.0

package events

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

func (h *Hub) phase(kv store.KV, deleted bool) {
	mac := strings.TrimPrefix(kv.Key, key.Status)
	var status api.Status
	delete(h.found, mac)
	delete(h.due, mac)
	delete(h.starting, mac)
	if err := json.Unmarshal(kv.Value, &status); deleted || err != nil || status.Phase == "" {
		delete(h.phases, mac)
		h.trim.forget(mac)
		return
	}
	h.phases[mac] = status.Phase
	if since := status.OverdueSince(); !since.IsZero() {
		h.due[mac] = since
	}
	if status.Phase == api.Starting && status.Memory || status.Phase == api.Running && status.Run.Payload ||
		status.Phase == api.Booting && status.Kernel.State == api.KernelLeft {
		h.starting[mac] = true
	}
	if status.Phase == api.Discovered {
		h.found[mac] = Discovered{MAC: mac, Seen: status.Seen, Facts: status.BootID.String() != ""}
	}
}

// Discovered is a machine that was seen and is not declared.
type Discovered struct {
	MAC   string
	Seen  time.Time
	Facts bool // it sent its facts
}

// Discovered returns the machines in that phase.
func (h *Hub) Discovered() []Discovered {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.found))
}

// Starting returns the nodes that have started a system from memory, the payload of a job or a kernel, until that is
// heard.
func (h *Hub) Starting() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.starting))
}

// Phases counts the nodes in each phase.
func (h *Hub) Phases() map[api.Phase]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := map[api.Phase]int{}
	for phase := range maps.Values(h.phases) {
		count[phase]++
	}
	return count
}

// Overdue counts the nodes that stand still longer than their phase allows.
func (h *Hub) Overdue(now time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := 0
	for since := range maps.Values(h.due) {
		if now.After(since) {
			count++
		}
	}
	return count
}
