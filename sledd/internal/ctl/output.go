// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/progress"
	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/api"
)

var outputs = []string{"table", "json", "yaml"}

// show prints value as -o says; asTable prints the table.
func (a *app) show(value any, asTable func()) error {
	switch a.output {
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

// dash stands for an empty cell, so that columns can be counted.
func dash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}

// clean makes text that came from a node safe for a terminal: control characters are shown, not obeyed. keep lists those that stay.
func clean(s, keep string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune(keep, r) {
			return '?'
		}
		return r
	}, s)
}

func bytesText(n int64) string { return progress.FormatBytes(n) }

// age is how long ago t was, in one unit, or empty for a time that never was.
func age(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := max(now.Sub(t), 0)
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

// phaseText is a phase in its colour; a node that was never seen has none.
func (s Screen) phaseText(phase api.Phase) string {
	if phase == "" {
		return "-"
	}
	return s.paint(string(phase), phaseColours[phase]...)
}
