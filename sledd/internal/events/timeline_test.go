// SPDX-License-Identifier: Apache-2.0

package events_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/events"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

var start = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

// at makes an event that many seconds after the start.
func at(second float64, event api.Event) api.Event {
	event.Time = start.Add(time.Duration(second * float64(time.Second)))
	return event
}

func step(second float64, kind, verb string, generation int64, code int) api.Event {
	return at(second, api.Event{Kind: kind, Verb: verb, Generation: generation, Code: code})
}

// admit is the admission of a boot.
func admit(second float64, boot string) api.Event {
	return at(second, api.Event{Kind: "admit", BootID: nodetext.CleanIdentifier(boot), Phase: api.Booting})
}

func facts(second float64, boot string, uptime float64) api.Event {
	return at(second, api.Event{Kind: "facts", BootID: nodetext.CleanIdentifier(boot), Seconds: uptime})
}

func booted() []api.Event {
	return []api.Event{
		at(0, api.Event{Kind: "power", Detail: api.Clean("on")}),
		admit(6, "b1"),
		facts(8, "b1", 2.5),
		at(9, api.Event{Kind: "plan", Generation: 1, Steps: 4}),
	}
}

func installed() []api.Event {
	return append(booted(), step(9.5, "begin", "wipe", 1, 0), step(10, "end", "wipe", 1, 0),
		step(10, "begin", "write", 1, 0),
		step(20, "end", "write", 1, 0), step(20, "begin", "configure", 1, 0), step(21, "end", "configure", 1, 0),
		step(21, "begin", "kexec", 1, 0), step(22, "end", "kexec", 1, 0),
		at(30, api.Event{Kind: "operational", Generation: 1}))
}

// bound waited without a binding, and writes now.
func bound() []api.Event {
	return append(installed()[:3:3], at(9, api.Event{Kind: "plan", Run: 1}),
		at(50, api.Event{Kind: "bind", Generation: 1}),
		at(50.1, api.Event{Kind: "plan", Generation: 1, Steps: 4}), step(50.2, "begin", "wipe", 1, 0),
		step(50.4, "end", "wipe", 1, 0),
		step(50.5, "begin", "write", 1, 0))
}

// rewarmed was installed, and enters the Sled system again out of its own.
func rewarmed() []api.Event {
	return append(installed(), at(99, api.Event{Kind: "bind", Generation: 2}),
		at(100, api.Event{Kind: "entry", Detail: api.Clean("warm")}),
		admit(104, "b2"), facts(105, "b2", 1.5),
		at(106, api.Event{Kind: "plan", Generation: 2, Steps: 4}), step(106.5, "begin", "wipe", 2, 0),
		step(107, "end", "wipe", 2, 0))
}

func TestTimeline(t *testing.T) {
	warm := rewarmed()
	all := "firmware 0+5.5 kernel 5.5+3.5 wipe 9.5+0.5 write 10+10 configure 20+1 start 21+9"
	for _, c := range []struct {
		name  string
		list  []api.Event
		now   float64
		want  string
		total float64
	}{
		{"nothing yet", nil, 5, "", 0},
		{"whole run", installed(), 99, all, 30},
		{"claims, evidence and rescues are no run", append(installed(), at(80, api.Event{Kind: "claim"}),
			at(81, api.Event{Kind: "admit", Phase: api.Booting}),
			at(82, api.Event{Kind: "admit", BootID: nodetext.CleanIdentifier("b9"), Phase: api.Operational})), 99, all, 30},
		{"no power event", installed()[1:], 99, strings.TrimPrefix(all, "firmware 0+5.5 "), 24.5},
		{"no facts yet", booted()[:2], 7, "firmware 0+6 kernel 6+1", 7},
		{"facts sent before it was admitted", []api.Event{facts(3, "b1", 2.5), admit(6, "b1")}, 9, "kernel 0.5+8.5", 8.5},
		{"only facts of another boot", append(booted()[:2:2], facts(6.5, "b0", 1)), 7, "firmware 0+6 kernel 6+1", 7},
		{"still writing", installed()[:7], 14, "firmware 0+5.5 kernel 5.5+3.5 wipe 9.5+0.5 write 10+4", 14},
		{"was waiting", bound(), 60.5, "wipe 50.2+0.2 write 50.5+10", 10.5},
		{"failed", append(installed()[:7:7], step(12, "end", "write", 1, 5)), 99,
			"firmware 0+5.5 kernel 5.5+3.5 wipe 9.5+0.5 write 10+2", 12},
		{"boots again", append(installed(), at(100, api.Event{Kind: "power", Detail: api.Clean("cycle")}),
			admit(104, "b2")), 106, "firmware 100+4 kernel 104+2", 6},
		{"warm", warm, 199, "warm 100+3.5 kernel 103.5+2.5 wipe 106.5+0.5", 99},
		{"warm, and nobody said so before", append(installed(), warm[len(installed())+2:]...), 199,
			"kernel 103.5+2.5 wipe 106.5+0.5", 95.5},
		{"warm, and no facts yet", warm[:len(installed())+3], 105, "warm 100+4 kernel 104+1", 5},
		{"warm failed, then power", append(warm[:len(installed())+3:len(installed())+3],
			at(110, api.Event{Kind: "entry", Detail: api.Clean("warm failed: no memory")}),
			at(110.5, api.Event{Kind: "entry", Detail: api.Clean("power")}), at(111, api.Event{Kind: "power",
				Detail: api.Clean("cycle")}),
			admit(114, "b3")), 116, "firmware 111+3 kernel 114+2", 5},
		{"wiped only", append(booted(), step(10, "begin", "wipe", 1, 0),
			at(12, api.Event{Kind: "end", Verb: "wipe", Generation: 1, Phase: api.Wiped})), 99,
			"firmware 0+5.5 kernel 5.5+3.5 wipe 10+2", 12},
	} {
		line := events.Timeline(c.list, start.Add(time.Duration(c.now*float64(time.Second))))
		if text := drawn(line); text != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, text, c.want)
		}
		if line.Total < c.total-0.001 || line.Total > c.total+0.001 {
			t.Errorf("%s: total %v, want %v", c.name, line.Total, c.total)
		}
	}
}

// drawn is a timeline as text: each stage with its begin and its seconds.
func drawn(line api.Timeline) string {
	var list []string
	for _, stage := range line.Stages {
		list = append(list, fmt.Sprintf("%s %.4g+%.4g", stage.Name, stage.Begin.Sub(start).Seconds(), stage.Seconds))
	}
	return strings.Join(list, " ")
}

func TestAHoldIsAStage(t *testing.T) {
	hold := func(second float64) api.Event { return at(second, api.Event{Kind: "hold", Generation: 1}) }
	list := append(installed()[:9:9], hold(20.5), at(25, api.Event{Kind: "seed", Generation: 1}),
		step(26, "end", "configure", 1, 0))
	before := "firmware 0+5.5 kernel 5.5+3.5 wipe 9.5+0.5 write 10+10 configure 20+0.5 "
	capture := append(booted()[:3:3], hold(8), at(20, api.Event{Kind: "plan", Generation: 1, Steps: 2}))
	for want, of := range map[string][]api.Event{
		before + "hold 20.5+4.5 configure 25+1":   list,
		before + "hold 20.5+9.5":                  list[:10],
		before + "hold 20.5+5.5 configure 26+0":   append(list[:10:10], step(26, "end", "configure", 1, 6)),
		"firmware 0+5.5 kernel 5.5+2.5 hold 8+12": capture,
		"firmware 0+5.5 kernel 5.5+2.5 hold 8+22": capture[:4],
	} {
		if got := drawn(events.Timeline(of, start.Add(30*time.Second))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Neither a plan of a detour nor what is reported of another plan belongs to the newest run.
func TestTimelineIsByRun(t *testing.T) {
	writing := installed()[:7:7]
	for name, later := range map[string][]api.Event{
		"the end of another plan": {at(12, api.Event{Kind: "end", Verb: "write", Generation: 1, Run: 2, Code: 5})},
		"a detour": {at(12, api.Event{Kind: "plan", Generation: 1, Run: 2, Steps: 1, Detour: "rescue"}),
			at(13, api.Event{Kind: "end", Verb: "rescue", Generation: 1, Run: 2})},
	} {
		line := events.Timeline(append(writing, later...), start.Add(20*time.Second))
		last := line.Stages[len(line.Stages)-1]
		if last.Name != "write" || last.Seconds != 10 || line.Total != 20 {
			t.Errorf("%s: %+v", name, line)
		}
	}
}
