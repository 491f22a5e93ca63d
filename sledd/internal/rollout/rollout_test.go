// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		canary, batch, budget string
		nodes                 int
		want                  Sizes
	}{
		{"", "", "", 8, Sizes{0, 8, 0}},
		{"1", "25%", "25%", 8, Sizes{1, 2, 2}},
		{"1%", "30%", "30%", 9, Sizes{1, 3, 2}}, // up for waves, down for failures
		{"0", "3", "10", 8, Sizes{0, 3, 10}},
		{"20", "99999", "100%", 8, Sizes{8, 8, 8}},
		{"0%", "1%", "99%", 1, Sizes{0, 1, 0}},
		{"100%", "100%", "0%", 10000, Sizes{10000, 10000, 0}},
	} {
		got, err := SizesOf(api.RolloutSpec{Canary: c.canary, Batch: c.batch, FailureBudget: c.budget}, c.nodes)
		if err != nil || got != c.want {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
	}
}

func TestSizesRefused(t *testing.T) {
	for _, c := range []struct {
		spec api.RolloutSpec
		want string
	}{
		{api.RolloutSpec{Canary: "one"}, `canary "one": want a count of nodes`},
		{api.RolloutSpec{Canary: "%"}, `canary "%": want`},
		{api.RolloutSpec{Batch: "-1"}, `batch "-1": want`},
		{api.RolloutSpec{Batch: "+1"}, `batch "+1": want`},
		{api.RolloutSpec{Batch: "1.5%"}, `batch "1.5%": want`},
		{api.RolloutSpec{Batch: "0"}, `batch "0": no node would ever be done`},
		{api.RolloutSpec{Batch: "0%"}, `batch "0%": no node would ever be done`},
		{api.RolloutSpec{FailureBudget: "101%"}, `failure_budget "101%": want`},
		{api.RolloutSpec{FailureBudget: "100000"}, `failure_budget "100000": want`},
		{api.RolloutSpec{FailureBudget: strings.Repeat("9", 40)}, `want`},
		{api.RolloutSpec{MaxUnavailable: map[string]int{"rack": 0}}, `max_unavailable "rack: 0": want`},
		{api.RolloutSpec{MaxUnavailable: map[string]int{"": 1}}, `max_unavailable ": 1": want`},
	} {
		_, err := SizesOf(c.spec, 8)
		var fault *SpecError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
		}
		if _, err := Waves(c.spec, make([]map[string]string, 8)); err == nil {
			t.Errorf("%+v: waves were made", c.spec)
		}
	}
}

// racks are labels of nodes, a letter each; "-" has none.
func racks(letters string) []map[string]string {
	var labels []map[string]string
	for _, letter := range letters {
		if letter == '-' {
			labels = append(labels, nil)
			continue
		}
		labels = append(labels, map[string]string{"rack": string(letter), "row": strings.ToUpper(string(letter))[:1]})
	}
	return labels
}

func TestWaves(t *testing.T) {
	for _, c := range []struct {
		name  string
		spec  api.RolloutSpec
		racks string
		want  string
	}{
		{"all at once", api.RolloutSpec{}, "aabb", "1111"},
		{"a canary, then the rest", api.RolloutSpec{Canary: "1"}, "aabb", "1222"},
		{"batches", api.RolloutSpec{Canary: "1", Batch: "25%"}, "aaaaaaaa", "12233445"},
		{"racks by turns", api.RolloutSpec{MaxUnavailable: map[string]int{"rack": 1}}, "aaabbb", "123123"},
		{"a full rack lets others go first", api.RolloutSpec{Batch: "2", MaxUnavailable: map[string]int{"rack": 1}},
			"aaabb", "12312"},
		{"without the label there is no limit", api.RolloutSpec{MaxUnavailable: map[string]int{"rack": 1}}, "a-a-",
			"1121"},
		{"the canary keeps to it too", api.RolloutSpec{Canary: "2", MaxUnavailable: map[string]int{"rack": 1}},
			"aabb", "1212"},
		{"two labels", api.RolloutSpec{MaxUnavailable: map[string]int{"rack": 2, "row": 1}}, "aab", "121"},
		{"an unknown label", api.RolloutSpec{MaxUnavailable: map[string]int{"room": 1}}, "aab", "111"},
		{"a canary of all", api.RolloutSpec{Canary: "100%", Batch: "1"}, "aab", "111"},
	} {
		waves, err := Waves(c.spec, racks(c.racks))
		got := strings.Trim(strings.ReplaceAll(fmt.Sprint(waves), " ", ""), "[]")
		if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.name, got, err, c.want)
		}
	}
}

// seeded returns numbers that are the same in each run.
func seeded(seed, of, below int) int {
	sum := fnv.New32a()
	_, _ = fmt.Fprint(sum, seed, " ", of)
	return int(sum.Sum32()) % below
}

// Whatever is requested: each node is in one wave, no wave is too big or holds too many of a label,
// and none waits without need.
func TestWavesHold(t *testing.T) {
	for seed := range 500 {
		nodes := 1 + seeded(seed, 0, 60)
		labels := make([]map[string]string, nodes)
		for i := range labels {
			if seeded(seed, 100+i, 5) > 0 {
				labels[i] = map[string]string{"rack": fmt.Sprint(seeded(seed, 200+i, 4)),
					"row": fmt.Sprint(seeded(seed, 300+i, 2))}
			}
		}
		spec := api.RolloutSpec{Canary: fmt.Sprint(seeded(seed, 1, 4)), Batch: fmt.Sprintf("%d%%", 1+seeded(seed, 2,
			100)),
			MaxUnavailable: map[string]int{"rack": 1 + seeded(seed, 3, 6), "row": 1 + seeded(seed, 4, 20)}}
		waves, err := Waves(spec, labels)
		if err != nil || len(waves) != nodes {
			t.Fatalf("seed %d: %v %v", seed, waves, err)
		}
		check(t, seed, spec, labels, waves)
	}
}

func check(t *testing.T, seed int, spec api.RolloutSpec, labels []map[string]string, waves []int) {
	t.Helper()
	sizes, _ := SizesOf(spec, len(waves))
	last := slices.Max(waves)
	for wave := 1; wave <= last; wave++ {
		room := sizes.Batch
		if wave == 1 && sizes.Canary > 0 {
			room = sizes.Canary
		}
		held, size := map[string]int{}, 0
		for i, in := range waves {
			if in == wave {
				size++
				for label := range spec.MaxUnavailable {
					if value, has := labels[i][label]; has {
						held[label+"="+value]++
					}
				}
			}
		}
		if size == 0 || size > room {
			t.Errorf("seed %d: wave %d has %d nodes, room for %d", seed, wave, size, room)
		}
		for i, in := range waves {
			fits := size < room
			for label, most := range spec.MaxUnavailable {
				value, has := labels[i][label]
				if in == wave && held[label+"="+value] > most {
					t.Errorf("seed %d: wave %d has %d of %s %s, %d may", seed, wave, held[label+"="+value], label,
						value, most)
				}
				fits = fits && (!has || held[label+"="+value] < most)
			}
			if in > wave && fits {
				t.Errorf("seed %d: node %d is in wave %d, wave %d has room for it", seed, i, in, wave)
			}
		}
	}
	for i := range waves {
		for j := i + 1; j < len(waves); j++ {
			if waves[j] < waves[i] && fmt.Sprint(labels[i]) == fmt.Sprint(labels[j]) {
				t.Errorf("seed %d: node %d comes before node %d, which is like it", seed, j, i)
			}
		}
	}
}

// runsOf makes runs, a letter each: waiting, running, done, failed.
func runsOf(letters string) []api.NodeRun {
	states := map[rune]api.RunState{'w': api.RunWaiting, 'r': api.RunRunning, 'd': api.RunDone, 'f': api.RunFailed}
	var runs []api.NodeRun
	for i, letter := range letters {
		runs = append(runs, api.NodeRun{Node: fmt.Sprintf("n%d", i+1), Wave: min(i+1, 2), State: states[letter],
			Reason: api.Clean("no power")})
	}
	return runs
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		state  api.RolloutState
		spec   api.RolloutSpec
		runs   string
		want   api.RolloutState
		reason string
	}{
		{api.RolloutRunning, api.RolloutSpec{}, "wwww", api.RolloutRunning, ""},
		{api.RolloutRunning, api.RolloutSpec{}, "ddrw", api.RolloutRunning, ""},
		{api.RolloutRunning, api.RolloutSpec{}, "dddd", api.RolloutDone, ""},
		{api.RolloutRunning, api.RolloutSpec{}, "wfww", api.RolloutStopped, "1 of 4 nodes failed, 0 allowed"},
		{api.RolloutRunning, api.RolloutSpec{FailureBudget: "25%"}, "wfww", api.RolloutRunning, ""},
		{api.RolloutRunning, api.RolloutSpec{FailureBudget: "25%"}, "dfdd", api.RolloutDone, ""},
		{api.RolloutRunning, api.RolloutSpec{FailureBudget: "25%"}, "dffd", api.RolloutStopped,
			"2 of 4 nodes failed, 1 (25%) allowed"},
		{api.RolloutRunning, api.RolloutSpec{FailureBudget: "9"}, "ffff", api.RolloutDone, ""},
		{api.RolloutRunning, api.RolloutSpec{FailureBudget: "9", Canary: "1"}, "fwww", api.RolloutStopped,
			"canary n1 failed: no power"},
		{api.RolloutRunning, api.RolloutSpec{FailureBudget: "9", Canary: "1"}, "dfff", api.RolloutDone, ""},
		{api.RolloutStopped, api.RolloutSpec{}, "dddd", api.RolloutStopped, ""},
		{api.RolloutAborted, api.RolloutSpec{}, "ffff", api.RolloutAborted, ""},
		{api.RolloutDone, api.RolloutSpec{}, "ffff", api.RolloutDone, ""},
	} {
		state, reason, err := Judge(c.state, c.spec, runsOf(c.runs))
		if err != nil || state != c.want || reason.String() != c.reason {
			t.Errorf("%s %+v %s: got %s %q %v", c.state, c.spec, c.runs, state, reason, err)
		}
	}
	if _, _, err := Judge(api.RolloutRunning, api.RolloutSpec{Batch: "x"}, nil); err == nil {
		t.Error("a spec that cannot be meant was judged by")
	}
	if counts := Count(runsOf("wrrdddffff")); counts != (api.RolloutCount{Waiting: 1, Running: 2, Done: 3, Failed: 4}) {
		t.Errorf("%+v", counts)
	}
}

func TestCompare(t *testing.T) {
	there := Identity{Kind: "reimage", Spec: api.RolloutSpec{Desired: "image d12", Batch: "2",
		MaxUnavailable: map[string]int{"rack": 1}}, MACs: []string{"a", "b", "c"}}
	changed := func(change func(*Identity)) Identity {
		asked := there
		change(&asked)
		return asked
	}
	for _, c := range []struct {
		name             string
		asked            Identity
		running, stopped Relation
	}{
		{"the same", there, Resumes, Resumes},
		{"what is left", changed(func(o *Identity) { o.MACs = []string{"c"} }), Resumes, Resumes},
		{"in another order", changed(func(o *Identity) { o.MACs = []string{"c", "a"} }), Resumes, Resumes},
		{"nodes by other names", changed(func(o *Identity) { o.Spec.Nodes = []string{"x"} }), Resumes, Resumes},
		{"one node more", changed(func(o *Identity) { o.MACs = []string{"c", "d"} }), Conflicts, Replaces},
		{"other nodes", changed(func(o *Identity) { o.MACs = []string{"d"} }), Unrelated, Unrelated},
		{"another desired state", changed(func(o *Identity) { o.Spec.Desired = "image d13" }), Conflicts, Replaces},
		{"another kind", changed(func(o *Identity) { o.Kind = "wipe" }), Conflicts, Replaces},
		{"other waves", changed(func(o *Identity) { o.Spec.Batch = "3" }), Conflicts, Replaces},
		{"other limits", changed(func(o *Identity) { o.Spec.MaxUnavailable = map[string]int{"rack": 2} }), Conflicts,
			Replaces},
		{"another budget", changed(func(o *Identity) { o.Spec.FailureBudget = "1" }), Conflicts, Replaces},
		{"again", changed(func(o *Identity) { o.Spec.Again = true }), Conflicts, Replaces},
	} {
		for state, want := range map[api.RolloutState]Relation{api.RolloutRunning: c.running,
			api.RolloutStopped: c.stopped,
			api.RolloutDone:    Unrelated, api.RolloutAborted: Unrelated} {
			if got := Compare(there, state, c.asked); got != want {
				t.Errorf("%s, %s: got %d, want %d", c.name, state, got, want)
			}
		}
	}
}

func TestSummaryHoldsEveryStage(t *testing.T) {
	run := api.NodeRun{Node: "n1", State: api.RunDone}
	for i, name := range api.Stages() {
		run.Stages = append(run.Stages, api.Stage{Name: name, Seconds: float64(i + 1)})
	}
	var got []string
	for _, figure := range Summarise(api.Rollout{Runs: []api.NodeRun{run}}, time.Time{}).Stages {
		got = append(got, figure.Name)
	}
	if want := append(api.Stages(), Total); !slices.Equal(got, want) {
		t.Errorf("figures of %v, the stages are %v", got, want)
	}
}
