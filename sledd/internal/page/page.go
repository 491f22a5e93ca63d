// SPDX-License-Identifier: Apache-2.0

// Package page makes HTML pages: the report of a rollout, and the record of an erased disk. Each is one file that needs
// nothing else, and all have one style sheet.
package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

const (
	denseFrom   = 60 // nodes; with more, rows are lower
	densestFrom = 200
	namesShown  = 60 // of nodes that were not started, a wave
	openShown   = 6  // failures whose log is open
)

// Style is the style sheet of all pages.
//
//go:embed style.css
var Style string

var (
	//go:embed *.html
	sources embed.FS
)

var pages = template.Must(template.Must(template.New("style").Funcs(template.FuncMap{
	"clock": clock, "exact": wording.Seconds, "when": when, "times": wording.Times, "nodes": wording.Nodes,
	"zone":      func(t time.Time) string { return t.Format("MST") },
	"startName": wording.StartName, "entryName": wording.EntryName,
	"copies": wording.SentCopies, "sent": wording.SentHow,
	"stage": stageOf, "has": has, "took": rollout.Took,
}).Parse("<style>\n"+Style+"</style>")).ParseFS(sources, "*.html"))

// view is the data of the template.
type view struct {
	rollout.Summary
	Verdict   string
	Headline  string
	Parts     []part
	Median    rollout.Figures // of whole nodes
	Density   string
	Ticks     []tick
	Pauses    []tick
	Bands     []band
	StageKeys []string
	Scales    map[string]float64 // the longest of each table of figures
	OpenShown int
	Kexec     string

	scale float64 // seconds that the lines of the chart stand for
}

// part of the bar that stands for all nodes.
type part struct {
	Name  string
	Nodes int
	Width float64
}

// band is a wave on the chart.
type band struct {
	rollout.Wave
	Left, Width float64 // on the line of waves
	Length      float64 // of its line
	Pauses      []tick
	Rows        []row
	Waiting     []string // names of nodes that were not started
	More        int      // nodes beside those
}

// row is a node on the chart.
type row struct {
	Node        string
	State       api.RunState
	Left, Width float64
	Bars        []bar
	Label       string // read by screen readers
	Tip         string // what the pointer shows
}

// bar is a stage; what comes between stages is the row's own line.
type bar struct {
	Stage       string
	Left, Width float64
}

// Rollout writes the report of a rollout.
func Rollout(w io.Writer, s rollout.Summary) error {
	if err := pages.ExecuteTemplate(w, "rollout.html", viewOf(s)); err != nil {
		return fmt.Errorf("report of %s: %w", s.Name, err)
	}
	return nil
}

func viewOf(s rollout.Summary) view {
	v := view{Summary: s, Headline: wording.Headline(s), Verdict: string(s.State), OpenShown: openShown,
		Scales: map[string]float64{}, Kexec: wording.OtherStarts(s)}
	if s.State == api.RolloutDone && s.Counts.Failed > 0 {
		v.Verdict = "partly"
	}
	all := s.Counts.Done + s.Counts.Failed + s.Counts.Running + s.Counts.Waiting
	for _, p := range []part{{"done", s.Counts.Done, 0}, {"failed", s.Counts.Failed, 0}, {"running", s.Counts.Running,
		0},
		{"waiting", s.Counts.Waiting, 0}} {
		p.Width = share(float64(p.Nodes), float64(all))
		v.Parts = append(v.Parts, p)
	}
	for _, figure := range s.Stages {
		if figure.Name == rollout.Total {
			v.Median = figure
		}
	}
	for name, list := range lists(s) {
		for _, figure := range list {
			v.Scales[name] = max(v.Scales[name], figure.Worst)
		}
	}
	v.chart()
	return v
}

// chart places the nodes of each wave on a line that starts with the wave; all lines have one
// scale. The waves have a separate line.
func (v *view) chart() {
	spans := map[int][]span{}
	var all []span
	for _, run := range v.Nodes {
		if run.State != api.RunWaiting {
			spans[run.Wave] = append(spans[run.Wave], v.spanOf(run))
			all = append(all, v.spanOf(run))
		}
	}
	switch {
	case len(all) > densestFrom:
		v.Density = "densest"
	case len(all) > denseFrom:
		v.Density = "dense"
	}
	lines, whole := map[int]axis{}, newAxis(all)
	for wave, busy := range spans {
		lines[wave] = newAxis(busy)
		v.scale = max(v.scale, lines[wave].length)
	}
	v.Ticks = ticks(v.scale)
	v.Pauses = v.placed(whole.pauses, whole.length)
	for _, wave := range v.Waves {
		b := v.band(lines[wave.Number], wave)
		if !wave.Begin.IsZero() {
			b.Left = share(whole.at(wave.Begin), whole.length)
			b.Width = percent(share(whole.at(wave.Begin.Add(seconds(wave.Seconds))), whole.length) - b.Left)
		}
		v.Bands = append(v.Bands, b)
	}
	for _, name := range api.Stages() {
		if slices.ContainsFunc(v.Nodes, func(run api.NodeRun) bool { return has(run, name) }) {
			v.StageKeys = append(v.StageKeys, name)
		}
	}
}

// placed returns pauses in percent of a line of that length.
func (v *view) placed(pauses []tick, length float64) []tick {
	var list []tick
	for _, p := range pauses {
		list = append(list, tick{share(p.At, length), share(p.Width, length), p.Label})
	}
	return list
}

// band is a wave with its nodes on its line.
func (v *view) band(line axis, wave rollout.Wave) band {
	b := band{Wave: wave, Length: share(line.length, v.scale), Pauses: v.placed(line.pauses, v.scale)}
	for _, run := range v.Nodes {
		switch {
		case run.Wave != wave.Number:
		case run.State != api.RunWaiting:
			b.Rows = append(b.Rows, v.row(line, run))
		case len(b.Waiting) < namesShown:
			b.Waiting = append(b.Waiting, run.Node)
		default:
			b.More++
		}
	}
	return b
}

func (v *view) spanOf(run api.NodeRun) span {
	return span{run.Begin, run.Begin.Add(seconds(rollout.Took(run, v.AsOf())))}
}

func (v *view) row(a axis, run api.NodeRun) row {
	whole := v.spanOf(run)
	at := func(t time.Time) float64 { return share(a.at(t), v.scale) }
	r := row{Node: run.Node, State: run.State, Left: at(whole.begin)}
	r.Width = percent(at(whole.end) - r.Left)
	words := []string{run.Node + " " + string(run.State)}
	if took := whole.seconds(); run.State != api.RunRunning {
		words[0] += " after " + clock(took)
	} else {
		words[0] += " for " + clock(took)
	}
	for _, detail := range []string{wording.Entered(run.EntryMethod), wording.Started(run.Start), run.Reason.String()} {
		if detail != "" {
			words = append(words, detail)
		}
	}
	r.Label = strings.Join(words, ", ")
	tip := words
	for _, stage := range run.Stages {
		end := stage.Begin.Add(seconds(stage.Seconds))
		if !end.After(whole.begin) || stage.Begin.After(whole.end) {
			continue
		}
		b := bar{Stage: stage.Name, Left: max(at(stage.Begin), r.Left)}
		b.Width = percent(min(at(end), r.Left+r.Width) - b.Left)
		r.Bars = append(r.Bars, b)
		tip = append(tip, fmt.Sprintf("%-10s%9s", stage.Name, wording.Seconds(stage.Seconds))+rate(stage.Rate))
	}
	r.Tip = strings.Join(tip, "\n")
	return r
}

func rate(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return fmt.Sprintf("%7.0f MB/s", float64(bytes)/1e6)
}

func seconds(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }

// End returns the end of the row's line.
func (r row) End() float64 { return percent(r.Left + r.Width) }

func percent(value float64) float64 { return math.Round(value*1000) / 1000 }

// table is one table of figures.
type table struct {
	Kind  string
	List  []rollout.Figures
	scale float64
}

// Table returns one of the tables of figures.
func (v view) Table(kind string) table {
	return table{kind, lists(v.Summary)[kind], v.Scales[kind]}
}

// lists are the figures of each table.
func lists(s rollout.Summary) map[string][]rollout.Figures {
	return map[string][]rollout.Figures{"stages": s.Stages, "starts": s.Starts, "entry_methods": s.EntryMethods}
}

// Share returns a value in percent of the longest bar.
func (t table) Share(value float64) float64 {
	return share(value, t.scale)
}
