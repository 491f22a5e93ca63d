// SPDX-License-Identifier: Apache-2.0

package rollouts_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// A rollout and a run as stored when their fields still were wish, begun and way.
const (
	formerRollout = `{"nodes":["n1"],"wish":"image d12","name":"reimage-4","kind":"reimage","waves":null,` +
		`"state":"running","owner":"alice","begun":"2026-01-02T03:00:00Z","seen":"2026-01-02T03:00:01Z",` +
		`"counts":{"waiting":0,"running":0,"done":0,"failed":0},"macs":["52:54:00:77:00:01"],"wave_of":[1]}`
	formerRun = `{"node":"n1","mac":"52:54:00:77:00:01","wave":1,"state":"running","way":"warm","from":3,"attempts":1,` +
		`"begin":"2026-01-02T03:00:01Z","resumption":0,"seen":"2026-01-02T03:00:01Z"}`
)

// TestFormerRecordsAreRead: a rollout that an earlier version started is shown, resumed and ended.
func TestFormerRecordsAreRead(t *testing.T) {
	r := newRack(t)
	var change store.Transaction
	change.Put(key.Rollouts+"reimage-4", []byte(formerRollout))
	change.Put(key.RunsOf("reimage-4")+address(1), []byte(formerRun))
	if _, err := r.Store.Commit(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	one, err := r.Get(t.Context(), "reimage-4")
	if err != nil {
		t.Fatal(err)
	}
	if one.Desired != "image d12" || !one.Started.Equal(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)) ||
		one.Owner != "alice" || one.Runs[0].EntryMethod != "warm" || one.Runs[0].From != 3 {
		t.Errorf("%+v", one)
	}
	same, fresh, err := r.Start(t.Context(), "reimage", "alice",
		api.RolloutSpec{Nodes: []string{"n1"}, Desired: "image d12"})
	if err != nil || fresh || same.Name != "reimage-4" {
		t.Errorf("it is not resumed: %v %+v", err, same)
	}
	r.observe(1, 4, true)
	if done := r.put("reimage-4", 1, api.NodeRunSpec{State: api.RunDone}); done.Run.EntryMethod != "warm" ||
		done.Rollout.State != api.RolloutDone || done.Rollout.Started != one.Started {
		t.Errorf("%+v", done)
	}
}
