// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

var update = flag.Bool("update", false, "write the golden files anew")

// small is eight nodes; the budget of one failure is exceeded in the second wave but one.
func small() api.Rollout {
	spec := api.RolloutSpec{Desired: "image debian-12-v2", Canary: "1", Batch: "3", FailureBudget: "12%", Pause: 10}
	return fixture(8, spec, func(i int) bool { return i == 5 })
}

func large() api.Rollout {
	spec := api.RolloutSpec{Desired: "image debian-12-v2", Canary: "4", Batch: "25%", FailureBudget: "5%",
		MaxUnavailable: map[string]int{"rack": 5}}
	return fixture(400, spec, func(i int) bool { return i%57 == 23 })
}

func render(t *testing.T, r api.Rollout, now time.Time) string {
	t.Helper()
	var out bytes.Buffer
	if err := Rollout(&out, rollout.Summarise(r, now)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// small.html is the report of small. Its style sheet is style.css itself.
func golden(t *testing.T) string {
	t.Helper()
	// By way of its JSON, as sledctl gets it.
	sent, err := json.Marshal(rollout.Summarise(small(), small().Seen))
	if err != nil {
		t.Fatal(err)
	}
	var s rollout.Summary
	if err := json.Unmarshal(sent, &s); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Rollout(&out, s); err != nil {
		t.Fatal(err)
	}
	_, body := styled(out.String())
	file := filepath.Join("testdata", "small.html")
	if *update {
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if body != string(want) {
		t.Errorf("%s differs: look at the page in a browser, then go test ./sledd/internal/page -update", file)
	}
	return out.String()
}

// styled returns the style sheet of a page, and the page without it.
func styled(page string) (style, body string) {
	head, rest, _ := strings.Cut(page, "<style>")
	style, rest, _ = strings.Cut(rest, "</style>")
	return style, head + rest
}

func TestReport(t *testing.T) {
	text := golden(t)
	whole(t, text)
	for what, want := range map[string]int{`class="row done"`: 6, `class="row failed"`: 1, `class="wave"`: 4,
		"not started: r01-n08": 1, "not started: ": 1,
		"Wave 1: canary": 1, "<h1>1 of 8 nodes failed, 0 (12%) allowed</h1>": 1, `class="mark"`: 1} {
		if got := strings.Count(text, what); got != want {
			t.Errorf("%d times %s, want %d", got, what, want)
		}
	}
	if strings.Index(text, ">Failures<") > strings.Index(text, "Nodes, wave by wave") {
		t.Error("failures do not come first")
	}
}

func TestEveryStageHasAColourAndAKey(t *testing.T) {
	r := small()
	stages := r.Runs[0].Stages[:1]
	for _, name := range api.Stages() {
		stages = append(stages, api.Stage{Name: name, Begin: stages[0].Begin, Seconds: 1})
	}
	r.Runs[0].Stages = stages
	text := render(t, r, r.Seen)
	for _, name := range api.Stages() {
		for what, want := range map[string]int{"--" + name + ": #": 2,
			".s-" + name + " { background: var(--" + name + ")":   1,
			`<li><i class="s-` + name + `"></i>` + name + "</li>": 1} {
			if got := strings.Count(text, what); got != want {
				t.Errorf("%d times %s, want %d", got, what, want)
			}
		}
	}
}

// void elements have no end tag.
var void = []string{"meta", "br"}

// whole checks that a page is in order by itself: tags are closed, nothing runs, and nothing is fetched.
func whole(t *testing.T, text string) {
	t.Helper()
	var open []string
	_, body := styled(text)
	for _, tag := range regexp.MustCompile(`<(/?)([a-z0-9]+)[^>]*>`).FindAllStringSubmatch(body, -1) {
		switch {
		case slices.Contains(void, tag[2]):
		case tag[1] == "":
			open = append(open, tag[2])
		case len(open) == 0 || open[len(open)-1] != tag[2]:
			t.Fatalf("</%s> closes none of %v", tag[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
	for _, bad := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", " src=", " href=", " onload",
		" onclick", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(text,
		`http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("no policy forbids to fetch and run")
	}
}

// What nodes and operators say is shown, not obeyed.
func TestHostileWords(t *testing.T) {
	const evil = `</pre><script>alert("1")</script><img src=x onerror=alert(1)>" onload="z`
	r := small()
	r.Desired, r.Reason, r.Owner = evil, api.Clean(evil), evil
	for i := range r.Runs {
		r.Runs[i].Node, r.Runs[i].EntryMethod, r.Runs[i].Start, r.Runs[i].Reason, r.Runs[i].Log = evil, evil, evil,
			api.Clean(evil), nodetext.RawOf([]byte(evil))
		for k := range r.Runs[i].Stages {
			r.Runs[i].Stages[k].Name = `x" style="y;} ` + evil
		}
	}
	text := render(t, r, r.Seen)
	for _, bad := range []string{"<script", "<img", `" onload=`, `x" style`} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if strings.Count(text, "&lt;script&gt;") < 20 {
		t.Error("what was said is not shown")
	}
}

func TestAlarmsAreShown(t *testing.T) {
	s := rollout.Summarise(small(), noon.Add(time.Hour))
	for count, detail := range []string{"", "its address belongs to MAC <b>", "the incumbent lives"} {
		s.Alarms = append(s.Alarms, rollout.Alarm{Node: "r01-n01", Alarm: api.Alarm{Kind: "rival", Count: int64(count),
			Last: noon, Detail: api.Clean(detail)}})
	}
	s.Alarms = s.Alarms[1:]
	var out bytes.Buffer
	if err := Rollout(&out, s); err != nil {
		t.Fatal(err)
	}
	whole(t, out.String())
	for _, want := range []string{"Alarms that nobody has acknowledged", "rival, once, last at 2026-11-20 12:00:00",
		"rival, 2 times", "its address belongs to MAC &lt;b&gt;"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestManyNodes(t *testing.T) {
	r := large()
	text := render(t, r, r.Seen)
	whole(t, text)
	if got := strings.Count(text, `class="row `); got != 400 || !strings.Contains(text, "chart densest") {
		t.Errorf("%d rows", got)
	}
	if len(text) > 1<<20 {
		t.Errorf("the page has %d bytes", len(text))
	}
}

// Each state that a rollout can be in has a verdict, and is in order where nothing was measured yet.
func TestVerdicts(t *testing.T) {
	for state, want := range map[api.RolloutState]string{api.RolloutRunning: "<h1>0 of 8 nodes are done, 0 running</h1>",
		api.RolloutAborted: "<h1>aborted by friday</h1>",
		api.RolloutDone:    "<h1>All 8 nodes are done</h1>"} {
		r := small()
		r.State, r.Reason = state, api.Clean("aborted by friday")
		for i := range r.Runs {
			r.Runs[i] = api.NodeRun{Node: r.Runs[i].Node, Wave: r.Runs[i].Wave, State: api.RunWaiting}
		}
		r.Counts = rollout.Count(r.Runs)
		text := render(t, r, noon.Add(time.Hour))
		whole(t, text)
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %s", state, want)
		}
	}
	r := small()
	for i := range r.Runs {
		r.Runs[i].State, r.Runs[i].End = api.RunRunning, time.Time{}
	}
	whole(t, render(t, r, noon.Add(10*time.Minute)))
}

func TestOneNodeIsNotMany(t *testing.T) {
	r := small()
	r.State, r.Runs = api.RolloutDone, r.Runs[:1]
	r.Counts = rollout.Count(r.Runs)
	text := render(t, r, noon.Add(time.Hour))
	for _, want := range []string{"<h1>The node is done</h1>", "1 node as a table"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

// Between a stop and a resumption may lie a night: it does not make all the rest too small to see.
func TestAxisCutsPauses(t *testing.T) {
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	a := newAxis([]span{{at(10), at(60)}, {at(0), at(50)}, {at(63), at(100)}, {at(36000), at(36100)}})
	if len(a.spans) != 2 || len(a.pauses) != 1 || a.pauses[0].Label != "9:58:20" {
		t.Fatalf("%+v", a)
	}
	last := -1.0
	for _, c := range []struct {
		at   int
		want float64
	}{{-5, 0}, {0, 0}, {50, 50}, {62, 62}, {100, 100}, {20000, 100}, {36000, 106}, {36050, 156}, {36100, 206},
		{40000, 206}} {
		got := a.at(at(c.at))
		if got < c.want-0.5 || got > c.want+0.5 || got < last {
			t.Errorf("second %d lies at %.2f, want %.0f", c.at, got, c.want)
		}
		last = got
	}
	if empty := newAxis(nil); empty.at(noon) != 0 || empty.length != 0 {
		t.Errorf("%+v", empty)
	}
}

func TestTicks(t *testing.T) {
	for _, length := range []float64{0, 0.5, 9, 87, 400, 86400, 1e7} {
		list := ticks(length)
		if len(list) == 0 || len(list) > 20 && length < 1e6 || list[0].Label != "0:00" || list[len(list)-1].At > 100 {
			t.Errorf("%g s: %+v", length, list)
		}
	}
}

// TestScreenshots writes the reports that the pictures in docs/screenshots are taken of.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("REPORTS")
	if folder == "" {
		t.Skip("REPORTS names no directory to write to")
	}
	for name, r := range map[string]api.Rollout{"small": small(), "large": large()} {
		if err := os.WriteFile(filepath.Join(folder, name+".html"), []byte(render(t, r, r.Seen)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
