// SPDX-License-Identifier: Apache-2.0

// Package wording puts the objects of the API into words: for the command line, for pages, and for whatever else shows
// them. It knows neither terminals nor HTML.
package wording

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/sled-fleet/sled/sledd/api"
)

// Times returns "once", or how often.
func Times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Clock formats a duration as [H:]M:SS.
func Clock(d time.Duration) string {
	seconds := int(max(d, 0).Round(time.Second).Seconds())
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// OnlyYes returns yes, and nothing for false.
func OnlyYes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// YesNo returns yes or no.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Count returns a number; empty for 0.
func Count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Time returns a time; empty for the zero time.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

// Dash fills an empty cell, so that scripts can count columns.
func Dash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}

// Clean makes text of an operator safe for a terminal; text of a node is so by its type.
func Clean(s string) string { return api.Clean(s).String() }

// Bytes returns a number of bytes in a readable unit.
func Bytes(n int64) string { return progress.FormatBytes(n) }

// Age returns the time since t in one unit; empty for the zero time.
func Age(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Duration(max(now.Sub(t), 0))
}

// Duration returns a duration in one unit.
func Duration(d time.Duration) string {
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

// Labels lists labels in the order of their keys.
func Labels(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

// Counted returns a number with its noun.
func Counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Nodes returns a number of nodes.
func Nodes(n int) string { return Counted(int64(n), "node") }

// Around puts words between others; it is empty without words.
func Around(before, words, after string) string {
	words = strings.TrimSuffix(words, ", ")
	if words == "" {
		return ""
	}
	return before + words + after
}

// List returns a list, or the word for an empty one.
func List(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// Seconds returns a duration in seconds.
func Seconds(seconds float64) string { return fmt.Sprintf("%.1f s", seconds) }

// Joules returns an energy in a readable unit.
func Joules(j float64) string {
	switch {
	case j < 1e4:
		return fmt.Sprintf("%.0f J", j)
	case j < 1e7:
		return fmt.Sprintf("%.1f kJ", j/1e3)
	}
	return fmt.Sprintf("%.1f MJ", j/1e6)
}
