// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// Summary is a rollout in figures. Seconds are measured; what was not measured is left out.
type Summary struct {
	Name         string           `json:"name"`
	Kind         string           `json:"kind"`
	Desired      string           `json:"desired"`
	State        api.RolloutState `json:"state"`
	Reason       api.Prose        `json:"reason,omitzero"`
	Owner        string           `json:"owner,omitempty"`
	Started      time.Time        `json:"started"`
	Ended        time.Time        `json:"ended,omitzero"`
	Seconds      float64          `json:"seconds"`          // from its begin to its end, or to what was heard last
	Silent       int              `json:"silent,omitempty"` // seconds; nobody follows it
	Resumed      int              `json:"resumed,omitempty"`
	Made         time.Time        `json:"made"` // when this was summed up
	Counts       api.RolloutCount `json:"counts"`
	Budget       int              `json:"budget"` // nodes that may fail
	Failures     []Failure        `json:"failures"`
	Waves        []Wave           `json:"waves"`
	Stages       []Figures        `json:"stages"`        // of nodes that are done; the last is the total
	Starts       []Figures        `json:"starts"`        // stage start by how the system was started
	EntryMethods []Figures        `json:"entry_methods"` // total by entry method
	Sent         []Sent           `json:"sent"`          // by the boot server, by image; what nodes do not tell is left out
	Nodes        []api.NodeRun    `json:"nodes"`
	Alarms       []Alarm          `json:"alarms,omitempty"` // of the nodes, as of Made
}

// Alarm is one of a node that no operator has acknowledged.
type Alarm struct {
	Node string `json:"node"`
	api.Alarm
}

// Failure is a node that failed.
type Failure struct {
	Node        string    `json:"node"`
	MAC         string    `json:"mac"`
	Wave        int       `json:"wave"`
	EntryMethod string    `json:"entry_method,omitempty"`
	Stage       string    `json:"stage,omitempty"` // the last it was in
	Seconds     float64   `json:"seconds"`         // from its begin
	Reason      api.Prose `json:"reason"`
	Log         api.Raw   `json:"log,omitzero"`
}

// Wave is one wave. Seconds are from the start of its first node to the end of its last.
type Wave struct {
	Number  int              `json:"number"`
	Canary  bool             `json:"canary,omitempty"`
	Counts  api.RolloutCount `json:"counts"`
	Begin   time.Time        `json:"begin,omitzero"`
	Seconds float64          `json:"seconds"`
}

// Figures are those of one thing that several nodes did.
type Figures struct {
	Name   string  `json:"name"`
	Nodes  int     `json:"nodes"`
	Failed int     `json:"failed,omitempty"`
	Median float64 `json:"median"` // seconds
	Worst  float64 `json:"worst"`
	Of     string  `json:"worst_node,omitempty"`
}

// AsOf is until when the time of what runs is counted.
func (s Summary) AsOf() time.Time { return s.Made.Add(-time.Duration(s.Silent) * time.Second) }

// Total names the figures of all stages together.
const Total = "total"

// AsOf is until when the time of a rollout that has not ended is counted: now, or when its runner was heard last.
func AsOf(r api.Rollout, now time.Time) time.Time {
	if r.Silent > 0 {
		return r.Seen
	}
	return now
}

// Summarise puts a rollout into figures, as of now.
func Summarise(r api.Rollout, now time.Time) Summary {
	s := Summary{Name: r.Name, Kind: r.Kind, Desired: r.Desired, State: r.State, Reason: r.Reason, Owner: r.Owner,
		Started: r.Started, Ended: r.Ended,
		Resumed: r.Resumed, Silent: r.Silent, Made: now, Counts: r.Counts, Nodes: r.Runs,
		Failures: []Failure{}, Waves: []Wave{}}
	end := r.Ended
	if end.IsZero() {
		end = r.Seen
	}
	now = AsOf(r, now)
	if r.Counts.Running > 0 && r.State == api.RolloutRunning {
		end = now
	}
	s.Seconds = seconds(r.Started, end)
	if sizes, err := SizesOf(r.RolloutSpec, len(r.Runs)); err == nil {
		s.Budget = sizes.Budget
	}
	stages, starts, methods := figures{}, figures{}, figures{}
	for _, run := range r.Runs {
		took := Took(run, now)
		switch run.State {
		case api.RunFailed:
			s.Failures = append(s.Failures, failure(run, took))
			methods.failed(run.EntryMethod)
		case api.RunDone:
			lengths := lengthsOf(run)
			for name, length := range lengths {
				stages.add(name, run.Node, length)
			}
			stages.add(Total, run.Node, took)
			if length, measured := lengths["start"]; measured && run.Start != "" {
				starts.add(run.Start, run.Node, length)
			}
			methods.add(run.EntryMethod, run.Node, took)
		case api.RunWaiting, api.RunRunning:
		}
	}
	s.Stages = stages.sorted(append(api.Stages(), Total))
	s.Starts = starts.sorted([]string{"kexec", "reboot", "fallback", "memory"})
	s.EntryMethods = methods.sorted([]string{"idle", "warm", "power", "wol", "manual", ""})
	s.Waves = wavesOf(r, now)
	s.Sent = sentOf(r.Runs)
	return s
}

// Took is how long a node was worked on: from its begin to its end, or to now while it runs.
func Took(run api.NodeRun, now time.Time) float64 {
	switch {
	case run.State == api.RunWaiting:
		return 0
	case run.End.IsZero():
		return seconds(run.Begin, now)
	}
	return seconds(run.Begin, run.End)
}

func seconds(from, to time.Time) float64 { return max(to.Sub(from).Seconds(), 0) }

func failure(run api.NodeRun, took float64) Failure {
	f := Failure{Node: run.Node, MAC: run.MAC, Wave: run.Wave, EntryMethod: run.EntryMethod, Seconds: took,
		Reason: run.Reason, Log: run.Log}
	if n := len(run.Stages); n > 0 {
		f.Stage = run.Stages[n-1].Name
	}
	return f
}

// lengthsOf returns the seconds of each stage; one that occurred twice counts as a whole.
func lengthsOf(run api.NodeRun) map[string]float64 {
	lengths := map[string]float64{}
	for _, stage := range run.Stages {
		lengths[stage.Name] += stage.Seconds
	}
	return lengths
}

func wavesOf(r api.Rollout, now time.Time) []Wave {
	waves := make([]Wave, len(r.Waves))
	runs := make([][]api.NodeRun, len(r.Waves))
	for _, run := range r.Runs {
		if run.Wave >= 1 && run.Wave <= len(runs) {
			runs[run.Wave-1] = append(runs[run.Wave-1], run)
		}
	}
	sizes, err := SizesOf(r.RolloutSpec, len(r.Runs))
	for i := range waves {
		waves[i] = Wave{Number: i + 1, Canary: i == 0 && err == nil && sizes.Canary > 0, Counts: Count(runs[i])}
		var end time.Time
		for _, run := range runs[i] {
			if run.State == api.RunWaiting {
				continue
			}
			if waves[i].Begin.IsZero() || run.Begin.Before(waves[i].Begin) {
				waves[i].Begin = run.Begin
			}
			if ended := run.Begin.Add(time.Duration(Took(run, now) * float64(time.Second))); ended.After(end) {
				end = ended
			}
		}
		waves[i].Seconds = seconds(waves[i].Begin, end)
	}
	return waves
}

// measured is one figure of one node.
type measured struct {
	node    string
	seconds float64
}

// gathered is what several nodes did.
type gathered struct {
	all    []measured
	failed int
}

type figures map[string]*gathered

func (f figures) of(name string) *gathered {
	if f[name] == nil {
		f[name] = &gathered{}
	}
	return f[name]
}

func (f figures) add(name, node string, seconds float64) {
	one := f.of(name)
	one.all = append(one.all, measured{node, seconds})
}

func (f figures) failed(name string) { f.of(name).failed++ }

// sorted returns the figures in an order; what is not in it has none.
func (f figures) sorted(order []string) []Figures {
	list := []Figures{}
	for _, name := range order {
		one := f[name]
		if one == nil {
			continue
		}
		figure := Figures{Name: name, Nodes: len(one.all) + one.failed, Failed: one.failed}
		if n := len(one.all); n > 0 {
			slices.SortStableFunc(one.all, func(a, b measured) int { return cmp.Compare(a.seconds, b.seconds) })
			figure.Median = (one.all[(n-1)/2].seconds + one.all[n/2].seconds) / 2
			figure.Worst, figure.Of = one.all[n-1].seconds, one.all[n-1].node
		}
		list = append(list, figure)
	}
	return list
}
