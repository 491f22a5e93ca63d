// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/api"
)

const (
	wide      = "wide" // a table with all columns, whole, also on a narrow terminal
	onlyNames = "name" // the name of each object, one per line
)

var outputs = []string{"table", wide, onlyNames, "json", "yaml"}

// show prints value in the format of -o; asTable prints the table.
func (a *app) show(value any, asTable func()) error {
	switch a.output {
	case onlyNames:
		for _, name := range namesOf(value) {
			_, _ = fmt.Fprintln(a.Out, clean(name))
		}
		return nil
	case "json":
		encoder := json.NewEncoder(a.Out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(value)
	case "yaml":
		encoded, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		_, err = a.Out.Write(encoded)
		return err
	}
	asTable()
	return nil
}

// dash fills an empty cell, so that scripts can count columns.
func dash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}

// clean makes text of an operator safe for a terminal; text of a node is so by its type.
func clean(s string) string { return api.Clean(s).String() }

func bytesText(n int64) string { return progress.FormatBytes(n) }

// age is the time since t in one unit; empty for the zero time.
func age(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return durationText(max(now.Sub(t), 0))
}

// durationText is a duration in one unit.
func durationText(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func labelsText(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

// unseen stands for the phase of a node that has not been observed yet.
const unseen = "unseen"

// phaseText is a phase in its colour.
func (s Screen) phaseText(phase api.Phase) string {
	if phase == "" {
		return unseen
	}
	return s.paint(string(phase), phaseColours[phase]...)
}

// phaseName is a phase without colour.
func phaseName(phase api.Phase) string { return Screen{}.phaseText(phase) }

// say writes a sentence, in several lines on a narrow terminal.
func (a *app) say(w io.Writer, format string, values ...any) {
	_, _ = fmt.Fprintln(w, a.Screen.hang(fmt.Sprintf(format, values...), 2))
}
