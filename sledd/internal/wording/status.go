// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

// Percent returns the part of a step that is done.
func Percent(p *api.Progress) int64 {
	if p.Total <= 0 {
		return 0
	}
	return min(max(p.Bytes, 0), p.Total) * 100 / p.Total
}

// TimeLeft returns the estimated remaining time of the step; empty if unknown.
func TimeLeft(p *api.Progress) string {
	if p.Rate <= 0 || p.Total <= p.Bytes {
		return ""
	}
	return Clock(time.Duration(float64(p.Total-p.Bytes)/float64(p.Rate)*float64(time.Second))) + " left"
}

// Code returns the exit code of a failed step with its name, such as "code 4 disk".
func Code(code int) string {
	if name := api.CodeName(code); name != "" {
		return fmt.Sprintf("code %d %s", code, name)
	}
	if code > 128 {
		return fmt.Sprintf("code %d killed by signal %d", code, code-128)
	}
	return fmt.Sprintf("code %d", code)
}

// Note explains the phase of a node: the reason of a failure, what it waits for, the progress of the running step, or
// the detail of the last one.
func Note(n api.Node) string {
	if n.Wait != nil && n.Status.Phase != api.Failed {
		return n.Wait.Text()
	}
	if n.Overdue > 0 {
		late, status := "overdue for "+Duration(time.Duration(n.Overdue)*time.Second), n.Status
		if status.Progress != nil { // the rate was that of a step that moved
			status.Progress = &api.Progress{Bytes: status.Progress.Bytes, Total: status.Progress.Total}
		}
		return strings.TrimSuffix(late+": "+Progress(status), ": ")
	}
	if reason := Reason(n.Status); reason != "" {
		return reason
	}
	if text := Detour(n); text != "" {
		return text
	}
	if n.Status.Phase.Working() {
		return Progress(n.Status)
	}
	if !n.Declared {
		return "not declared"
	}
	return Detail(n.Status)
}

// Detour returns the state of what the node does beside its binding; empty: nothing.
func Detour(n api.Node) string {
	if detour := n.Detour(); detour != nil {
		return detour.State()
	}
	return ""
}

// Detail returns the detail of the last step. It is outdated once a node boots again or waits.
func Detail(s api.Status) string {
	switch s.Phase {
	case api.Discovered, api.Booting, api.Idle:
		return ""
	default:
		return s.Detail.String()
	}
}

// Reason returns the failure of a node, with the name of the exit code.
func Reason(s api.Status) string {
	if s.Phase != api.Failed {
		return ""
	}
	var parts []string
	if s.Verb != "" {
		parts = append(parts, s.Verb)
	}
	if s.Code != 0 || s.Reason.IsZero() {
		parts = append(parts, Code(s.Code))
	}
	if !s.Reason.IsZero() {
		parts = append(parts, s.Reason.String())
	}
	return strings.Join(parts, ": ")
}

// Step returns the place of the step in its plan, and its verb.
func Step(s api.Status) string {
	if s.Steps == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d %s", s.Step, s.Steps, s.Verb)
}

// Progress returns the step, and how far it is.
func Progress(s api.Status) string {
	words := []string{Step(s)}
	if p := s.Progress; p != nil {
		if p.Total > 0 {
			words = append(words, fmt.Sprintf("%d%%", Percent(p)))
		}
		words = append(words, Bytes(p.Bytes))
		if p.Rate > 0 {
			words = append(words, Bytes(p.Rate)+"/s")
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
