// SPDX-License-Identifier: Apache-2.0

package ctltest

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// Friday is a rollout of four nodes in three waves: a canary that is done, one that runs and one that failed, and one
// that waits.
func Friday() api.Rollout {
	nodes := Rack()
	started := Noon.Add(-5 * time.Minute)
	r := api.Rollout{Name: "reimage-7", Kind: "reimage", State: api.RolloutRunning, Owner: "friday", Started: started,
		Seen: Noon,
		RolloutSpec: api.RolloutSpec{Nodes: []string{"n1", "n2", "n3", "n4"}, Desired: "image debian-12-v2",
			Canary: "1",
			Batch:  "2", FailureBudget: "25%"},
		Waves: [][]string{{"n1"}, {"n2", "n3"}, {"n4"}}}
	for i, node := range nodes[:4] {
		r.Runs = append(r.Runs, api.NodeRun{Node: r.Nodes[i], MAC: node.MAC, Wave: []int{1, 2, 2, 3}[i], Attempts: 1,
			Begin: started.Add(time.Duration(i) * time.Minute)})
	}
	done, runs, failed, waits := &r.Runs[0], &r.Runs[1], &r.Runs[2], &r.Runs[3]
	done.State, done.EntryMethod, done.Start, done.End = api.RunDone, "power", "kexec", started.Add(53*time.Second)
	done.Stages = []api.Stage{{Name: "firmware", Begin: started, Seconds: 20},
		{Name: "write", Begin: started.Add(20 * time.Second), Seconds: 12, Received: &api.Received{
			Image: "debian-12-v2", FileBytes: 112_600_000, HTTP: 2_480_000, Multicast: 110_120_000, Packets: 79_180, Lost: 812,
			Rejected: 1, Last: 4_294_967_290}},
		{Name: "start", Begin: started.Add(32 * time.Second), Seconds: 9}}
	runs.State, runs.EntryMethod = api.RunRunning, "warm"
	failed.State, failed.EntryMethod, failed.Reason, failed.End, failed.Log = api.RunFailed, "idle",
		api.Clean("wipe: code 4 disk: 2 disks match only"), started.Add(3*time.Minute),
		nodetext.RawOf([]byte("vda matches\nvdb matches"))
	*waits = api.NodeRun{Node: waits.Node, MAC: waits.MAC, Wave: 3, State: api.RunWaiting}
	r.Counts = rollout.Count(r.Runs)
	return r
}

// Ended is the same when all have ended and n2 failed too.
func Ended() api.Rollout {
	r := Friday()
	r.Runs[1].State, r.Runs[1].Reason, r.Runs[1].End = api.RunFailed, api.Clean("confirm: waited 300 s"), Noon
	r.Counts = rollout.Count(r.Runs)
	r.State, r.Reason = api.RolloutStopped, api.Clean("2 of 4 nodes failed, 1 (25%) allowed")
	return r
}
