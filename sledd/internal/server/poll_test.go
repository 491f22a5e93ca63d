// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

func TestManyLongPollsAreAllAnswered(t *testing.T) {
	const nodes = manyPolls
	s := fresh(t)
	s.Register("d12")
	machines := make([]*sleddtest.Machine, nodes)
	specs := make([]api.BindingSpec, nodes)
	s.DeclareMany(nodes)
	for i := range nodes {
		machines[i] = s.Machine(i)
		machines[i].Poll(0)
		specs[i] = api.BindingSpec{Node: fmt.Sprintf("n%d", i), Image: "d12"}
	}
	done := make([]time.Time, nodes)
	answers := make([]sleddtest.Answer, nodes)
	var running sync.WaitGroup
	for i, m := range machines {
		running.Go(func() {
			answers[i], _ = s.Try("GET", "/node/v1/"+m.MAC+"/plan?run=1&wait=60", m.Token, "")
			done[i] = time.Now()
		})
	}
	patience.Until(t, "all long polls wait", func() bool { return s.Hub.Waiting() == nodes })
	memory := rss(t)
	begin := time.Now()
	s.admin(200, "POST", "/v1/bindings", bulk(specs...))
	bound := time.Since(begin)
	running.Wait()
	worst := time.Duration(0)
	for i, a := range answers {
		if a.Status != 200 || a.Header.Get("Sled-Token") == "" ||
			!strings.HasPrefix(a.Body, "plan 1\ngeneration 1 run 2\nwipe ") {
			t.Fatalf("n%d: %d: %s", i, a.Status, a.Body)
		}
		worst = max(worst, done[i].Sub(begin))
	}
	t.Logf("%d long polls: bulk bind answered after %s, last plan after %s, RSS %s with all waiting (server and "+
		"clients in one process)",
		nodes, bound.Round(time.Millisecond), worst.Round(time.Millisecond), memory)
}

// rss is the resident memory of this process as the kernel says it.
func rss(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for _, line := range strings.Split(string(text), "\n") {
		if value, found := strings.CutPrefix(line, "VmRSS:"); found {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func TestBindOnOneSleddWakesAPollOnAnother(t *testing.T) {
	one := fresh(t)
	two := run(t, shared)
	one.Declare(1)
	m := two.Machine(1)
	m.Poll(0)
	answered := make(chan sleddtest.Answer, 1)
	go func() {
		a, _ := two.Try("GET", "/node/v1/"+m.MAC+"/plan?run=1&wait=60", m.Token, "")
		answered <- a
	}()
	patience.Until(t, "the poll waits", func() bool { return two.Hub.Waiting() == 1 })
	one.Bind(api.BindingSpec{Node: "n1"})
	if a := <-answered; a.Status != 200 || !strings.Contains(a.Body, "generation 1 run 2\n") {
		t.Fatalf("%+v", a)
	}
}

func TestStopEndsPollsAndStreams(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	m := s.Machine(1)
	m.Poll(0)
	answered := make(chan sleddtest.Answer, 2)
	go func() {
		a, _ := s.Try("GET", "/node/v1/"+m.MAC+"/plan?run=1&wait=60", m.Token, "")
		answered <- a
	}()
	stream := s.follow("", 0)
	patience.Until(t, "the poll waits", func() bool { return s.Hub.Waiting() == 1 })
	s.Stop()
	if a := <-answered; a.Status != http.StatusNoContent {
		t.Errorf("poll: %+v", a)
	}
	for range stream.events { // ends when the stream does
		t.Error("an event out of nowhere")
	}
	if err := stream.ended(); err != nil {
		t.Errorf("the stream did not end cleanly: %v", err)
	}
}

func TestRestartInTheMiddleOfAWrite(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Register("d12")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d12"})
	m := s.Machine(1)
	m.Poll(0)
	m.Report("begin step=1 of=4 verb=wipe", "end step=1 verb=wipe code=0 seconds=1", "begin step=2 of=4 verb=write")
	s.Stop()
	s.Resume()
	s.phase(1, api.Writing)
	if m.Poll(0) != "" {
		t.Fatal("the plan was given again: the node would run its steps twice")
	}
	m.Report("begin step=2 of=4 verb=write") // sent again, because its answer was lost
	m.Report("end step=2 verb=write code=0 seconds=9")
	m.Seed()
	m.Report("begin step=4 of=4 verb=kexec", "end step=4 verb=kexec code=0 seconds=1")
	m.Say("operational", "operational 1\ngeneration 1\nos boot_id=x\n")
	s.phase(1, api.Operational)
	begins := 0
	for _, event := range as[api.EventList](t, s.admin(200, "GET", "/v1/nodes/n1/events", nil)).Items {
		if event.Kind == "begin" && event.Step == 2 {
			begins++
		}
	}
	if begins != 1 {
		t.Errorf("step 2 began %d times", begins)
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	s := fresh(t)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1"})
	m := s.Machine(1)
	m.Poll(0)
	node := "/node/v1/" + m.MAC
	for _, c := range []struct {
		method, path, body, says string
		want                     int
	}{
		{"POST", node + "/report", "report 1\ngeneration 1 run 1\nboot b\nbegin step=1 of=1 verb=erase\n", "line 4", 400},
		{"POST", node + "/report", "report 1\ngeneration 9 run 9\nboot b\nbegin step=1 of=1 verb=idle\n", "never issued",
			400},
		{"POST", node + "/report", "report 1\ngeneration 0 run 1\nboot b\nbegin step=1 of=1 verb=idle\n",
			"the binding has generation 1", 403},
		{"POST", node + "/facts", "facts 1\nboot b\ncpu a=1\ncpu a=1\n", "twice", 400},
		{"POST", node + "/facts", strings.Repeat("x", 1<<20+1), "too large", 413},
		{"POST", node + "/log", strings.Repeat("x", 64<<10+1), "too large", 413},
		{"POST", node + "/log?step=x", "x", "step", 400},
		{"GET", node + "/plan?wait=61", "", "60", 400},
		{"GET", node + "/plan?run=-1", "", "run", 400},
		{"GET", "/node/v1/n1/plan", "", "not a MAC", 400},
		{"GET", node + "/seed", "", "not bound to an image", 404},
		{"PUT", node + "/plan", "", "not known", 405},
	} {
		a := s.Ask(c.method, c.path, m.Token, c.body)
		if a.Status != c.want || !strings.Contains(a.Body, c.says) ||
			a.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: got %d, want %d and %q: %s", c.method, c.path, a.Status, c.want, c.says, a.Body)
		}
	}
}
