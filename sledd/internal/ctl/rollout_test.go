// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// friday is a rollout of four nodes in three waves: a canary that is done, one that runs and one that failed, and one
// that waits.
func friday() api.Rollout {
	nodes := rack()
	started := noon.Add(-5 * time.Minute)
	r := api.Rollout{Name: "reimage-7", Kind: "reimage", State: api.RolloutRunning, Owner: "friday", Started: started,
		Seen: noon,
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

// ended is the same when all have ended and n2 failed too.
func ended() api.Rollout {
	r := friday()
	r.Runs[1].State, r.Runs[1].Reason, r.Runs[1].End = api.RunFailed, api.Clean("confirm: waited 300 s"), noon
	r.Counts = rollout.Count(r.Runs)
	r.State, r.Reason = api.RolloutStopped, api.Clean("2 of 4 nodes failed, 1 (25%) allowed")
	return r
}

// rolloutScenes answers one state of a rollout after the other, and the last for ever; nil is a store that is down.
func rolloutScenes(t *testing.T, states ...*api.Rollout) string {
	t.Helper()
	var at atomic.Int64
	return double(t, map[string]any{
		"/v1/nodes":    api.NodeList{Items: rack()},
		"/v1/rollouts": api.RolloutList{Items: []api.Rollout{friday()}},
		"/v1/rollouts/reimage-7": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			state := states[min(int(at.Add(1)), len(states))-1]
			if state == nil {
				refuse(w, http.StatusServiceUnavailable, "the store does not answer")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(state)
		}),
	})
}

func TestRolloutWatchLines(t *testing.T) {
	first, last := friday(), ended()
	first.Runs[1] = api.NodeRun{Node: "n2", MAC: first.Runs[1].MAC, Wave: 2, State: api.RunWaiting}
	first.Counts = rollout.Count(first.Runs)
	second := friday()
	got := sledctl(t, rolloutScenes(t, &first, nil, &second, &second, &last), "", "rollout", "watch", "--interval",
		"1ms")
	want := "sledctl: rollout reimage-7 was stopped: 2 of 4 nodes failed, 1 (25%) allowed\n"
	if got.code != exitFailed || got.err != want {
		t.Errorf("%+v", got)
	}
	golden(t, "rollout-watch-lines", got.out)
}

func TestRolloutWatchLive(t *testing.T) {
	first, last := friday(), ended()
	screen := Screen{Terminal: true, Size: func() (int, int) { return 100, 24 }}
	got := run(t.Context(), rolloutScenes(t, &first, &last), "", screen, "rollout", "watch", "--interval", "1ms")
	if got.code != exitFailed {
		t.Errorf("%+v", got)
	}
	golden(t, "rollout-watch-live", strings.ReplaceAll(got.out, "\x1b[K", ""))
}

// A person at a terminal of the usual size: reasons are read, nothing is wider or higher than the screen, and nothing
// is blank twice.
func TestRolloutWatchFits(t *testing.T) {
	r := friday()
	r.Runs[2].Reason = api.Clean("write: code 5 integrity: chunk 1042 is not as the index promises: " +
		"the image at http://10.0.0.1/images/debian-12-v2.raw.zst is damaged")
	many := ended()
	for i := range 20 {
		run := r.Runs[2]
		run.Node, run.End = fmt.Sprintf("rack-1-%02d", i), noon.Add(-time.Duration(i)*time.Second)
		many.Runs = append(many.Runs, run)
	}
	var seen strings.Builder
	for _, r := range []api.Rollout{r, many} {
		for _, size := range [][2]int{{60, 12}, {80, 24}, {120, 24}} {
			var out buffer
			screen := Screen{Terminal: true, Size: func() (int, int) { return size[0], size[1] }}
			v := &rolloutLive{liveView: liveView{app: &app{System: System{Out: &out, Now: noonNow, Screen: screen}}}}
			v.show(r, rack()[1:2][:r.Counts.Running], nil)
			drawn := strings.NewReplacer("\x1b[K", "", "\x1b[J", "").Replace(out.String())
			rows := strings.Split(drawn, "\n")
			if len(rows) > size[1] || strings.Contains(drawn, "\n\n\n") || strings.HasSuffix(drawn, "\n\n") {
				t.Errorf("%d rows in %d:\n%s", len(rows), size[1], drawn)
			}
			for _, row := range rows {
				if cells(row) >= size[0] {
					t.Errorf("%d cells in %d: %q", cells(row), size[0], row)
				}
			}
			fmt.Fprintf(&seen, "--- %d x %d\n%s", size[0], size[1], drawn)
		}
	}
	golden(t, "rollout-watch-sizes", seen.String())
}

func TestRolloutWatchVerdicts(t *testing.T) {
	done, partly, aborted := ended(), ended(), ended()
	done.State, done.Counts = api.RolloutDone, api.RolloutCount{Done: 4}
	partly.State = api.RolloutDone
	aborted.State, aborted.Reason = api.RolloutAborted, api.Clean("aborted by eve")
	for want, r := range map[string]api.Rollout{"": done, "2 of 4 nodes failed": partly,
		"was aborted: aborted by eve": aborted} {
		code := exitFailed
		if want == "" {
			code = exitDone
		}
		if got := sledctl(t, rolloutScenes(t, &r), "", "rollout", "watch", "reimage-7"); got.code != code ||
			!strings.Contains(got.err, want) {
			t.Errorf("%s: %+v", r.State, got)
		}
	}
	running := friday()
	if got := sledctl(t, rolloutScenes(t, &running), "", "rollout", "watch", "--timeout", "5ms", "--interval",
		"1ms"); got.code != exitFailed ||
		!strings.Contains(got.err, "rollout reimage-7 did not end within 5ms: 1 running, 1 waiting") {
		t.Errorf("%+v", got)
	}
	if got := sledctl(t, double(t, map[string]any{"/v1/rollouts": api.RolloutList{Items: []api.Rollout{}}}), "",
		"rollout", "watch"); got.code != exitFailed ||
		!strings.Contains(got.err, "no rollout exists yet") {
		t.Errorf("%+v", got)
	}
}

func TestRolloutReportFiles(t *testing.T) {
	r := ended()
	folder := t.TempDir()
	page, figures := filepath.Join(folder, "new", "r.html"), filepath.Join(folder, "r.json")
	got := sledctl(t, rolloutScenes(t, &r), "", "rollout", "report", "reimage-7", "--html", page, "--json", figures)
	if got.code != exitDone || got.err != "wrote "+figures+"\nwrote "+page+"\n" {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "2 of 4 nodes failed") ||
		!strings.Contains(string(text), "vdb matches") {
		t.Errorf("%v\n%s", err, text)
	}
	text, err = os.ReadFile(figures)
	var s rollout.Summary
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || len(s.Failures) != 2 || len(s.Nodes) != 4 || s.Starts[0].Median != 9 ||
		s.Stages[len(s.Stages)-1].Median != 53 {
		t.Errorf("%v %+v", err, s)
	}
	if got := sledctl(t, rolloutScenes(t, &r), "", "rollout", "report", "--html",
		filepath.Join(page, "x")); got.code != exitFailed {
		t.Errorf("a folder that cannot be: %+v", got)
	}
}

func TestRolloutAgainstSledd(t *testing.T) {
	s := begin(t)
	s.DeclareMany(3)
	s.Register("d12")
	s.does(exitFailed, "rollout report", "no rollout exists yet")
	s.does(exitNotFound, "rollout get reimage-1", "rollout reimage-1 does not exist")
	if _, err := s.Client().StartRollout(t.Context(), "",
		api.RolloutSpec{Nodes: []string{"n1", "n2"}, Desired: "image d12", Canary: "1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Client().PutRun(t.Context(), "reimage-1", "n1",
		api.NodeRunSpec{State: api.RunRunning, EntryMethod: "power"}); err != nil {
		t.Fatal(err)
	}
	s.does(exitDone, "bind n1 --image d12", "d12")
	m := s.Machine(1)
	m.Fail(4, "2 disks match")
	if _, err := s.Client().PutRun(t.Context(), "reimage-1", "n1",
		api.NodeRunSpec{State: api.RunFailed, Reason: "wipe: 2 disks match"}); err != nil {
		t.Fatal(err)
	}
	m.Say("log?step=1", "vda LAB-0001 matches\n--- dmesg\n") // later than the run's end
	s.does(exitDone, "rollout list", "canary n1 failed: wipe: 2 disks match")
	s.does(exitDone, "rollout report -o json", "vda LAB-0001 matches")
	s.does(exitFailed, "rollout watch", "was stopped: canary n1 failed")
	s.does(exitDone, "rollout abort reimage-1", "aborted by admin; stopped before: canary n1 failed")
	s.does(exitUsage, "rollout watch -o json", "sledctl rollout get")
}

// A rollout that nobody follows says so everywhere, and its time stands still.
func TestSilentRollout(t *testing.T) {
	r := friday()
	r.Seen, r.Silent = noon.Add(-245*time.Second), 245
	server := double(t, map[string]any{"/v1/rollouts": api.RolloutList{Items: []api.Rollout{r}},
		"/v1/rollouts/reimage-7": r, "/v1/nodes": api.NodeList{Items: rack()}})
	for line, want := range map[string]string{
		"rollout list":           "running, nobody follows it for 4m",
		"rollout get":            "reimage-7  running, nobody follows it for 4m\n",
		"rollout get -o json":    `"silent": 245`,
		"rollout report":         "reimage-7  running, nobody follows it for 4m\n",
		"rollout report -o json": `"silent": 245`,
		"rollout watch --timeout 1ms": "12:00:00 reimage-7 runs, but nobody follows it for 4m: " +
			"the same command resumes it\n",
	} {
		args := strings.Fields(line)
		if line == "rollout get" || line == "rollout get -o json" {
			args = append(args, r.Name)
		}
		if got := sledctl(t, server, "", args...); !strings.Contains(got.out, want) {
			t.Errorf("%s: %q, want %q", line, got.out, want)
		}
	}
	if got := sledctl(t, server, "", "rollout", "get", r.Name); !strings.Contains(got.out, "took 0:55") {
		t.Errorf("the time does not stand still:\n%s", got.out)
	}
	for _, width := range widths {
		for _, line := range []string{"rollout list", "rollout get reimage-7"} {
			got := run(t.Context(), server, "", terminal(width), strings.Fields(line)...)
			checkWidth(t, line, got.out, width)
		}
	}
	if s := rollout.Summarise(r, noon); s.Seconds != 55 {
		t.Errorf("%f s", s.Seconds)
	}
}
