// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// headline is the verdict in one sentence.
func headline(s rollout.Summary) string {
	all := len(s.Nodes)
	switch s.State {
	case api.RolloutDone:
		if s.Counts.Failed > 0 {
			return fmt.Sprintf("%d of %s are done, %d failed (%d allowed)", s.Counts.Done, nodes(all),
				s.Counts.Failed, s.Budget)
		}
		if all == 1 {
			return "The node is done"
		}
		return fmt.Sprintf("All %s are done", nodes(all))
	case api.RolloutRunning:
		if s.Silent > 0 {
			return fmt.Sprintf("%d of %s are done, %d running, but nobody follows it for %s", s.Counts.Done, nodes(all),
				s.Counts.Running, clock(float64(s.Silent)))
		}
		return fmt.Sprintf("%d of %s are done, %d running", s.Counts.Done, nodes(all), s.Counts.Running)
	case api.RolloutStopped, api.RolloutAborted:
		return s.Reason.String()
	}
	return s.Reason.String()
}

func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// clock is seconds as minutes and seconds, with hours when there are any.
func clock(value float64) string {
	whole := int(math.Round(max(value, 0)))
	if whole >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", whole/3600, whole/60%60, whole%60)
	}
	return fmt.Sprintf("%d:%02d", whole/60, whole%60)
}

// exact is seconds with one digit after the point.
func exact(value float64) string { return fmt.Sprintf("%.1f s", value) }

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02 15:04:05")
}

func startName(name string) string {
	switch name {
	case "reboot":
		return "cold boot"
	case "fallback":
		return "fallback: kexec, then cold boot"
	}
	return name
}

func startText(name string) string {
	if name == "" {
		return ""
	}
	return "started by " + strings.SplitN(startName(name), ":", 2)[0]
}

func entryName(name string) string {
	if name == "" {
		return "not reported"
	}
	return name
}

func entryText(name string) string {
	if name == "" {
		return ""
	}
	return "entered by " + name
}

// kexecText reports how often systems were started otherwise than most.
func kexecText(s rollout.Summary) string {
	var words []string
	for _, figure := range s.Starts[min(1, len(s.Starts)):] {
		words = append(words, fmt.Sprintf("%d %s", figure.Nodes, strings.SplitN(startName(figure.Name), ":", 2)[0]))
	}
	if len(words) == 0 {
		return "none otherwise"
	}
	return strings.Join(words, ", ")
}

// stageOf returns the seconds of one stage of a node.
func stageOf(run api.NodeRun, name string) float64 {
	sum := 0.0
	for _, stage := range run.Stages {
		if stage.Name == name {
			sum += stage.Seconds
		}
	}
	return sum
}

func has(run api.NodeRun, name string) bool {
	for _, stage := range run.Stages {
		if stage.Name == name {
			return true
		}
	}
	return false
}
