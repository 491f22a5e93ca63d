// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// rolloutScenes answers one state of a rollout after the other, and the last for ever; nil is a store that is down.
func rolloutScenes(t *testing.T, states ...*api.Rollout) string {
	t.Helper()
	var at atomic.Int64
	return double(t, map[string]any{
		"/v1/nodes":    api.NodeList{Items: ctltest.Rack()},
		"/v1/rollouts": api.RolloutList{Items: []api.Rollout{ctltest.Friday()}},
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
	first, last := ctltest.Friday(), ctltest.Ended()
	first.Runs[1] = api.NodeRun{Node: "n2", MAC: first.Runs[1].MAC, Wave: 2, State: api.RunWaiting}
	first.Counts = rollout.Count(first.Runs)
	second := ctltest.Friday()
	got := sledctl(t, rolloutScenes(t, &first, nil, &second, &second, &last), "", "rollout", "watch", "--interval",
		"1ms")
	want := "sledctl: rollout reimage-7 was stopped: 2 of 4 nodes failed, 1 (25%) allowed\n"
	if got.code != exitFailed || got.err != want {
		t.Errorf("%+v", got)
	}
	ctltest.Golden(t, "rollout-watch-lines", got.out)
}

func TestRolloutWatchLive(t *testing.T) {
	first, last := ctltest.Friday(), ctltest.Ended()
	screen := show.Screen{Terminal: true, Size: func() (int, int) { return 100, 24 }}
	got := run(t.Context(), rolloutScenes(t, &first, &last), "", screen, "rollout", "watch", "--interval", "1ms")
	if got.code != exitFailed {
		t.Errorf("%+v", got)
	}
	ctltest.Golden(t, "rollout-watch-live", strings.ReplaceAll(got.out, "\x1b[K", ""))
}

func TestRolloutWatchVerdicts(t *testing.T) {
	done, partly, aborted := ctltest.Ended(), ctltest.Ended(), ctltest.Ended()
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
	running := ctltest.Friday()
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
	r := ctltest.Ended()
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
	s.Report("reimage-1", "n1", api.NodeRunSpec{State: api.RunRunning, EntryMethod: "power"})
	s.does(exitDone, "bind n1 --image d12", "d12")
	m := s.Machine(1)
	m.Fail(4, "2 disks match")
	s.Report("reimage-1", "n1", api.NodeRunSpec{State: api.RunFailed, Reason: "wipe: 2 disks match"})
	m.Say("log?step=1", "vda LAB-0001 matches\n--- dmesg\n") // later than the run's end
	s.does(exitDone, "rollout list", "canary n1 failed: wipe: 2 disks match")
	s.does(exitDone, "rollout report -o json", "vda LAB-0001 matches")
	s.does(exitFailed, "rollout watch", "was stopped: canary n1 failed")
	s.does(exitDone, "rollout abort reimage-1", "aborted by admin via sledctl; stopped before: canary n1 failed")
	s.does(exitUsage, "rollout watch -o json", "sledctl rollout get")
}

// A rollout that nobody follows says so everywhere, and its time stands still.
func TestSilentRollout(t *testing.T) {
	r := ctltest.Friday()
	r.Seen, r.Silent = ctltest.Noon.Add(-245*time.Second), 245
	server := double(t, map[string]any{"/v1/rollouts": api.RolloutList{Items: []api.Rollout{r}},
		"/v1/rollouts/reimage-7": r, "/v1/nodes": api.NodeList{Items: ctltest.Rack()}})
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
	for _, width := range ctltest.Widths {
		for _, line := range []string{"rollout list", "rollout get reimage-7"} {
			got := run(t.Context(), server, "", ctltest.Terminal(width), strings.Fields(line)...)
			ctltest.CheckWidth(t, line, got.out, width)
		}
	}
	if s := rollout.Summarise(r, ctltest.Noon); s.Seconds != 55 {
		t.Errorf("%f s", s.Seconds)
	}
}
