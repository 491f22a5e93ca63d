// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// chance returns a number from 0 to 1 that is the same in each run.
func chance(words ...any) float64 {
	sum := fnv.New64a()
	_, _ = fmt.Fprintln(sum, words...)
	return float64(sum.Sum64()%1e6) / 1e6
}

// fixture is a rollout of nodes in racks of 20; every one that fails says so.
func fixture(nodes int, spec api.RolloutSpec, fails func(i int) bool) api.Rollout {
	labels := make([]map[string]string, nodes)
	for i := range nodes {
		spec.Nodes = append(spec.Nodes, fmt.Sprintf("r%02d-n%02d", i/20+1, i%20+1))
		labels[i] = map[string]string{"rack": fmt.Sprintf("r%02d", i/20+1)}
	}
	waves, err := rollout.Waves(spec, labels)
	if err != nil {
		panic(err)
	}
	r := api.Rollout{RolloutSpec: spec, Name: "reimage-7", Kind: "reimage", State: api.RolloutRunning, Owner: "friday",
		Started: noon, Seen: noon}
	at := noon.Add(3 * time.Second)
	for wave := 1; r.State == api.RolloutRunning; wave++ {
		end := at
		r.Waves = append(r.Waves, members(spec.Nodes, waves, wave))
		for i := range nodes {
			if waves[i] != wave {
				continue
			}
			run := ran(spec.Nodes[i], i, at.Add(time.Duration(chance("begin", i)*4*float64(time.Second))), fails(i))
			run.Wave, run.Labels = wave, labels[i]
			r.Runs = append(r.Runs, run)
			if run.End.After(end) {
				end = run.End
			}
		}
		if len(r.Waves[wave-1]) == 0 {
			r.Waves = r.Waves[:wave-1]
			r.State = api.RolloutDone
			break
		}
		all := append(append([]api.NodeRun{}, r.Runs...), waiting(spec.Nodes, waves, wave)...)
		r.State, r.Reason, _ = rollout.Judge(r.State, spec, all)
		r.Seen = end
		if r.State != api.RolloutRunning {
			r.Runs = all
			for later := wave + 1; later <= waves[nodes-1]; later++ {
				r.Waves = append(r.Waves, members(spec.Nodes, waves, later))
			}
			break
		}
		at = end.Add(time.Duration(spec.Pause+2) * time.Second)
	}
	if r.State == api.RolloutDone {
		r.Ended = r.Seen
	}
	r.Counts = rollout.Count(r.Runs)
	return r
}

// waiting are the runs of the nodes after a wave.
func waiting(nodes []string, waves []int, wave int) []api.NodeRun {
	var runs []api.NodeRun
	for i, node := range nodes {
		if waves[i] > wave {
			runs = append(runs, api.NodeRun{Node: node, Wave: waves[i], State: api.RunWaiting})
		}
	}
	return runs
}

// members are the nodes of one wave.
func members(nodes []string, waves []int, wave int) []string {
	var members []string
	for i, node := range nodes {
		if waves[i] == wave {
			members = append(members, node)
		}
	}
	return members
}

// ran is how one node went.
func ran(name string, i int, begin time.Time, fails bool) api.NodeRun {
	run := api.NodeRun{Node: name, MAC: fmt.Sprintf("52:54:00:77:%02x:%02x", i>>8, i&255), State: api.RunDone,
		EntryMethod: "power", Begin: begin,
		Attempts: 1, From: 1, Generation: 2, Start: "kexec"}
	lengths := []struct {
		name    string
		seconds float64
	}{{"firmware", 42}, {"kernel", 6}, {"wipe", 1.2}, {"write", 14}, {"configure", 1}, {"start", 9}}
	switch {
	case chance("way", i) < 0.5:
		run.EntryMethod = "warm"
		lengths[0].name, lengths[0].seconds = "warm", 2
	case chance("way", i) < 0.56:
		run.EntryMethod, lengths = "idle", lengths[2:]
	}
	switch {
	case chance("start", i) < 0.08:
		run.Start, lengths[len(lengths)-1].seconds = "reboot", 52
	case chance("start", i) < 0.1:
		run.Start, lengths[len(lengths)-1].seconds = "fallback", 355
	}
	stop := len(lengths)
	if fails {
		run.State, run.Start = api.RunFailed, ""
		stop = 1 + int(chance("stop", i)*float64(len(lengths)-1))
	}
	at := begin.Add(time.Duration((1 + chance("ask", i)) * float64(time.Second)))
	for k, stage := range lengths[:stop] {
		seconds := stage.seconds * (0.85 + chance(stage.name, i)*0.4)
		one := api.Stage{Name: stage.name, Begin: at, Seconds: float64(int(seconds*1000)) / 1000}
		if stage.name == "write" && (k < stop-1 || !fails) {
			one.Bytes = 1 << 30
			one.Rate = int64(float64(one.Bytes) / seconds)
		}
		run.Stages = append(run.Stages, one)
		at = at.Add(time.Duration(one.Seconds * float64(time.Second)))
	}
	run.End = at.Add(700 * time.Millisecond)
	if fails {
		run.Reason, run.Log = why(run.Stages[stop-1].Name)
	}
	return run
}

// why is a reason, and what a node logs before it.
func why(stage string) (reason api.Prose, log api.Raw) {
	text, lines := whyText(stage)
	return api.Clean(text), nodetext.RawOf([]byte(lines))
}

func whyText(stage string) (reason, log string) {
	switch stage {
	case "write":
		return "write: code 5 integrity: chunk 812 is not as signed, from both servers",
			"write: http://10.77.0.1/images/8f3c.raw.zst: chunk 812 of 2048: SHA-256 differs\n" +
				"write: the same from http://10.77.0.2/images/8f3c.raw.zst\nwrite: 811 of 2048 chunks are on the disk; the first " +
				"MiB is not: nothing starts from it"
	case "wipe":
		return "wipe: code 4 disk: 2 disks match only",
			"sda serial=S4EVNX0R1 bytes=480103981056 matches\nsdb serial=S4EVNX0R7 bytes=480103981056 matches\n" +
				"wipe: disk=only: 2 disks match, nothing was touched"
	case "configure":
		return "configure: code 1 failed: no EFI system partition on the disk",
			"configure: vda: 2 partitions, neither of type esp\nconfigure: nothing was changed"
	case "kernel":
		return "step image: waited 180 s for a plan to begin", ""
	case "start":
		return "confirm: waited 300 s for the installed system, and 300 s after a cold boot",
			"Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)"
	}
	return "entered: waited 300 s for the Sled system by warm, power: no claim was admitted", ""
}
