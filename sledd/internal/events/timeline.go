// SPDX-License-Identifier: Apache-2.0

package events

import (
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

const (
	// warm is an entry method: the detail of its event, and its stage.
	warm = "warm"
	// hold is the event of what is withheld first, and the stage until it is given.
	hold = "hold"
)

func holds(e api.Event) bool { return e.Kind == hold }

// run is the newest run within a node's events; -1: there is no such event.
type run struct {
	list   []api.Event // oldest first
	now    time.Time
	admit  int // boot of the Sled system
	plan   int // plan of the binding with steps to do
	bind   int // binding of a node that was waiting already
	stages []api.Stage
}

// Timeline finds the newest run in a node's events (oldest first). The run starts with power-on, or
// with the kernel when no power event was reported, or with the bind when the node was already
// waiting, or with the entry method when it is started warm. What is not over yet lasts until now.
func Timeline(list []api.Event, now time.Time) api.Timeline {
	r := run{list: list, now: now, bind: -1, stages: []api.Stage{}}
	line := api.Timeline{}
	r.find()
	end := now
	switch {
	case r.bind >= 0:
		line.Begin = list[r.bind].Time
	case r.admit >= 0:
		line.Begin = r.boot()
	case r.plan >= 0:
		line.Begin = list[r.plan].Time
	default:
		line.Stages = r.stages
		return line
	}
	if r.plan >= 0 {
		line.Generation = list[r.plan].Generation
		end = r.steps()
	}
	line.Stages = r.stages
	line.Total = between(line.Begin, end)
	return line
}

func (r *run) find() {
	working := func(e api.Event) bool { return e.Kind == "plan" && e.Detour == "" && e.Steps > 0 }
	r.admit = r.last(len(r.list), booted)
	r.plan = r.last(len(r.list), working)
	if r.admit > r.plan { // booting again, and nothing to do yet
		r.plan = -1
		return
	}
	if r.plan < 0 {
		return
	}
	waiting := r.last(r.plan, func(e api.Event) bool { return e.Kind == "plan" })
	if waiting > r.admit {
		r.bind = r.last(r.plan, func(e api.Event) bool { return e.Kind == "bind" })
		if r.bind < waiting {
			r.bind, r.admit = -1, -1
		}
	}
}

// last returns the index of the newest event that matches before another, or -1.
func (r *run) last(before int, wanted func(api.Event) bool) int {
	for i := before - 1; i >= 0; i-- {
		if wanted(r.list[i]) {
			return i
		}
	}
	return -1
}

// booted reports whether a node was admitted that has booted to follow its binding. A detour leaves the phase as it
// was.
func booted(e api.Event) bool {
	return e.Kind == "admit" && !e.BootID.IsZero() && (e.Phase == api.Booting || e.Phase == api.Discovered)
}

// boot adds the stages from power-on, or from the decision to start warm, to the plan. It returns the time of the
// first.
func (r *run) boot() time.Time {
	earlier := r.last(r.admit, func(e api.Event) bool {
		return booted(e) || e.Kind == "operational" || e.Kind == "end"
	})
	kernel, handed := r.kernel(earlier), r.now
	begin := kernel
	if entry := r.last(r.admit, entered); entry > earlier {
		begin = r.list[entry].Time
		if kernel.Before(begin) {
			kernel = begin
		}
		name := "firmware"
		if r.list[entry].Kind == "entry" {
			name = warm
		}
		r.add(name, begin, kernel)
	}
	planned := r.after(r.admit, func(e api.Event) bool { return e.Kind == "plan" })
	if planned >= 0 {
		handed = r.list[planned].Time
	}
	if held := r.after(r.admit, holds); held >= 0 && (planned < 0 || held < planned) { // the plan of a capture
		r.add("kernel", kernel, r.list[held].Time)
		r.add(hold, r.list[held].Time, handed)
		return begin
	}
	r.add("kernel", kernel, handed)
	return begin
}

// entered reports whether the node was switched on or started warm.
func entered(e api.Event) bool {
	detail := e.Detail.String()
	return e.Kind == "power" && detail != "off" || e.Kind == "entry" && detail == warm
}

// kernel returns when the kernel of the boot started: by its facts, or at the latest when it was admitted.
func (r *run) kernel(earlier int) time.Time {
	admit := r.list[r.admit]
	facts := r.after(earlier, func(e api.Event) bool { return e.Kind == "facts" && e.BootID == admit.BootID })
	if facts < 0 {
		return admit.Time
	}
	return r.list[facts].Time.Add(-time.Duration(r.list[facts].Seconds * float64(time.Second)))
}

// after returns the index of the first event that matches after another, or -1.
func (r *run) after(from int, wanted func(api.Event) bool) int {
	for i := from + 1; i < len(r.list); i++ {
		if wanted(r.list[i]) {
			return i
		}
	}
	return -1
}

// bars is what is drawn of the steps of a plan.
type bars struct {
	*run
	open   string // the stage that continues
	held   string // the stage that a hold interrupts
	since  time.Time
	begins map[string]time.Time
}

func (b *bars) begin(name string, at time.Time) { b.open, b.since, b.begins[name] = name, at, at }

// hold interrupts the stage that continues.
func (b *bars) hold(at time.Time) {
	if b.open != "" && b.open != hold {
		b.add(b.open, b.since, at)
		b.held, b.open, b.since = b.open, hold, at
	}
}

// resume continues the stage that a hold has interrupted.
func (b *bars) resume(at time.Time) {
	if b.open == hold {
		b.add(hold, b.since, at)
		b.begin(b.held, at)
	}
}

// close ends the stage that continues.
func (b *bars) close(at time.Time) {
	if b.open != "" {
		b.add(b.open, b.since, at)
	}
}

// steps adds the stages of the plan and returns the end of the run, or now.
func (r *run) steps() time.Time {
	generation, number := r.list[r.plan].Generation, r.list[r.plan].Run
	b := bars{run: r, begins: map[string]time.Time{}}
	for _, e := range r.list[r.plan+1:] {
		verb, _ := plan.VerbOf(e.Verb)
		name := verb.Stage
		if e.Kind == "seed" || e.Kind == "end" && e.Run == number {
			b.resume(e.Time)
		}
		switch {
		case e.Kind != "operational" && e.Run != number:
		case e.Kind == hold:
			b.hold(e.Time)
		case e.Kind == "begin" && name != "":
			b.begin(name, e.Time)
		case e.Kind == "end" && e.Code != 0:
			r.moved(name, b.begins[name], e)
			return e.Time
		case e.Kind == "end" && name == "start": // continues until the system reports that it runs
			if b.open != name {
				b.open, b.since = name, e.Time
			}
		case e.Kind == "end" && name != "":
			r.moved(name, b.begins[name], e)
			b.open = ""
			if done(e) {
				return e.Time
			}
		case e.Kind == "operational" && e.Generation == generation:
			if b.open == "start" {
				r.add(b.open, b.since, e.Time)
			}
			return e.Time
		}
	}
	b.close(r.now)
	return r.now
}

// done reports whether the end of a step satisfied the binding: a wipe alone, a capture, or the start of a system that
// cannot report.
func done(e api.Event) bool {
	return e.Phase == api.Wiped || e.Phase == api.Unconfirmed || e.Verb == "capture"
}

// moved puts the bar of a step that has ended on the line, with what it moved.
func (r *run) moved(name string, from time.Time, end api.Event) {
	r.add(name, from, end.Time)
	if name == "" {
		return
	}
	stage := &r.stages[len(r.stages)-1]
	stage.Received = end.Received
	if end.Bytes == 0 {
		return
	}
	stage.Bytes = end.Bytes
	// the step's own clock: between the two events lies the network too
	if seconds := end.Seconds; seconds > 0 {
		stage.Rate = int64(float64(end.Bytes) / seconds)
	}
}

// add puts a bar on the line; one whose begin was never heard has no length.
func (r *run) add(name string, from, to time.Time) {
	if name == "" {
		return
	}
	if from.IsZero() {
		from = to
	}
	r.stages = append(r.stages, api.Stage{Name: name, Begin: from, Seconds: between(from, to)})
}

func between(from, to time.Time) float64 { return max(0, to.Sub(from).Seconds()) }
