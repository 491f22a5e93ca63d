// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"math"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// writes is a rollout of nodes that received that.
func writes(received ...api.Received) api.Rollout {
	r := api.Rollout{Name: "reimage-1", State: api.RolloutDone}
	for i := range received {
		r.Runs = append(r.Runs, api.NodeRun{State: api.RunDone, Stages: []api.Stage{{Name: "wipe"},
			{Name: "write", Received: &received[i]}}})
	}
	return r
}

func TestSent(t *testing.T) {
	const file = 1440 * 1000
	whole := api.Received{Image: "d12", FileBytes: file, HTTP: file}
	got := func(packets, lost, last int64) api.Received {
		return api.Received{Image: "d12", FileBytes: file, Packets: packets, Lost: lost, Last: last}
	}
	for _, c := range []struct {
		name     string
		received []api.Received
		copies   float64
	}{
		{"by HTTP", []api.Received{whole, whole}, 2},
		{"all hear the same", []api.Received{got(1000, 0, 5000), got(990, 10, 5000), got(1000, 0, 5000)}, 1},
		{"one after the other", []api.Received{got(1000, 0, 5000), got(1000, 0, 6000)}, 2},
		{"one joins in the middle", []api.Received{got(1000, 0, 5000), got(1000, 0, 5500)}, 1.5},
		{"one within another", []api.Received{got(100, 0, 4500), got(1000, 0, 5000), got(10, 0, 4990)}, 1},
		{"at the end of the sequence", []api.Received{got(1000, 0, 499), got(1000, 0, math.MaxUint32)}, 1.5},
		{"another sender", []api.Received{got(1000, 0, 5000), got(1000, 0, 3000000000)}, 2},
		{"a part by HTTP", []api.Received{got(1000, 0, 5000), {Image: "d12", FileBytes: file, HTTP: file / 4}}, 1.25},
		{"a lie", []api.Received{got(1<<40, 1<<40, 5000)}, float64(1<<31) / 1000},
	} {
		sent := rollout.Summarise(writes(c.received...), time.Time{}).Sent
		if len(sent) != 1 || math.Abs(sent[0].Copies-c.copies) > 1e-9 || sent[0].Nodes != len(c.received) {
			t.Errorf("%s: %+v, want %v copies", c.name, sent, c.copies)
		}
	}
}

func TestSentByImage(t *testing.T) {
	sent := rollout.Summarise(writes(api.Received{Image: "b", FileBytes: 10, HTTP: 10, Rejected: 2},
		api.Received{Image: "a", FileBytes: 20, HTTP: 30, Lost: 1}, api.Received{Image: "c"}), time.Time{}).Sent
	if len(sent) != 2 || sent[0].Image != "a" || sent[0].Copies != 1.5 || sent[0].Lost != 1 || sent[1].Rejected != 2 {
		t.Errorf("%+v", sent)
	}
}
