// SPDX-License-Identifier: Apache-2.0

package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	reports "github.com/sled-fleet/sled/sledd/internal/page"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

var (
	//go:embed html
	sources embed.FS
	//go:embed dashboard.css
	ownStyle string
	//go:embed dashboard.js
	script string
	//go:embed icon.svg
	iconImage string
)

// styleSheet is that of the reports, and what only the dashboard has.
var styleSheet = reports.Style + ownStyle

// Paths of what does not change until the next upgrade. They depend on the content: a browser may keep it, and gets the
// new one after an upgrade.
var (
	stylePath  = pathOf(styleSheet, ".css")
	iconPath   = pathOf(iconImage, ".svg")
	scriptPath = pathOf(script, ".js")
)

func pathOf(content, suffix string) string {
	sum := sha256.Sum256([]byte(content))
	return "/ui/static/" + hex.EncodeToString(sum[:8]) + suffix
}

// static answers with a file.
func static(content, kind string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", kind)
		out.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
		_, _ = out.Write([]byte(content)) // the browser may be gone
	}
}

var functions = template.FuncMap{
	"age": age, "clock": clock, "day": day,
	"zone": func(t time.Time) string { return t.Local().Format("MST") },
	"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) }, "kind": kindOf, "phase": wording.Phase,
	"name": wording.NodeName, "image": wording.Image, "note": wording.Note, "step": wording.Step, "percent": percent,
	"left": wording.TimeLeft, "reason": wording.Reason, "detail": wording.Detail, "generation": wording.Generation,
	"nodes": wording.Nodes, "bytes": wording.Bytes, "used": wording.Used, "digest": wording.ShortDigest,
	"what": wording.EventKind, "words": eventWords, "claimed": wording.ClaimedName, "alarm": alarmWords,
	"incumbent": wording.Incumbent, "silent": wording.Silent, "seconds": wording.Seconds, "overdue": wording.Overdue,
	"tookOf": wording.RolloutTook, "duration": wording.Clock, "bootOrder": wording.BootOrder, "rescue": wording.Detour,
	"tab": newTab, "atWork": wording.AtWork, "groupNote": group.Note,
	"may":    func(p page) bool { return p.Stale == "" && fleet.Permit(p.Operator, api.Operate) == nil },
	"resume": resume, "yesno": wording.YesNo, "style": func() string { return stylePath },
	"icon":   func() string { return iconPath },
	"script": func() string { return scriptPath }, "times": wording.Times, "join": strings.Join,
	"took": rollout.Took,
	"size": func(fact api.Identifier) string { return wording.Size(fact.String()) },
}

// templates are the pages by the name of their view.
var templates = func() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(functions).ParseFS(sources, "html/layout.html", "html/parts.html"))
	found := map[string]*template.Template{}
	files, err := sources.ReadDir("html")
	if err != nil {
		panic(fmt.Sprintf("embedded files: %v", err)) // our own: cannot happen
	}
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".html")
		if name != "layout" && name != "parts" {
			found[name] = template.Must(template.Must(shared.Clone()).ParseFS(sources, path.Join("html", file.Name())))
		}
	}
	return found
}()

// age is the time since another one, as people say it; a dash for the zero time.
func age(now, t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return wording.Age(now, t)
}

// claimCode is the code of a claim, with which the text of an event or alarm about it starts. The dashboard does not
// show codes: an operator types one that was read on the console of the machine, which admits it as proven.
var claimCode = regexp.MustCompile(`^[0-9A-Z]{4}-[0-9A-Z]{4}\b:? *`)

func eventWords(e api.Event) string {
	e.Detail = api.Clean(claimCode.ReplaceAllString(e.Detail.String(), ""))
	return wording.EventDetail(e)
}

func alarmWords(alarm api.Alarm, now time.Time) string {
	return claimCode.ReplaceAllString(wording.Alarm(alarm, now), "")
}

// clock is the time of the day, day that of a year, as where sledd runs.
func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }

func day(t time.Time) string { return wording.Time(t) }

// tab is a link of the navigation.
type tab struct {
	Link, Text string
	Here       bool
}

func newTab(nav, name, link, text string) tab { return tab{link, text, nav == name} }
