// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// Headline returns the verdict in one sentence.
func Headline(s rollout.Summary) string {
	all := len(s.Nodes)
	switch s.State {
	case api.RolloutDone:
		if s.Counts.Failed > 0 {
			return fmt.Sprintf("%d of %s are done, %d failed (%d allowed)", s.Counts.Done, Nodes(all),
				s.Counts.Failed, s.Budget)
		}
		if all == 1 {
			return "The node is done"
		}
		return fmt.Sprintf("All %s are done", Nodes(all))
	case api.RolloutRunning:
		if s.Silent > 0 {
			return fmt.Sprintf("%d of %s are done, %d running, but nobody follows it for %s", s.Counts.Done, Nodes(all),
				s.Counts.Running, Clock(time.Duration(s.Silent)*time.Second))
		}
		return fmt.Sprintf("%d of %s are done, %d running", s.Counts.Done, Nodes(all), s.Counts.Running)
	case api.RolloutStopped, api.RolloutAborted:
		return s.Reason.String()
	}
	return s.Reason.String()
}

// StartName names the way in which an installed system was started.
func StartName(name string) string {
	switch name {
	case "reboot":
		return "cold boot"
	case "fallback":
		return "fallback: kexec, then cold boot"
	}
	return name
}

// Started returns the same as part of a sentence; empty if it is not known.
func Started(name string) string {
	if name == "" {
		return ""
	}
	return "started by " + strings.SplitN(StartName(name), ":", 2)[0]
}

// EntryName names the way in which a node entered the Sled system.
func EntryName(name string) string {
	if name == "" {
		return "not reported"
	}
	return name
}

// Entered returns the same as part of a sentence; empty if it is not known.
func Entered(name string) string {
	if name == "" {
		return ""
	}
	return "entered by " + name
}

// OtherStarts counts the systems that were started in another way than most.
func OtherStarts(s rollout.Summary) string {
	var words []string
	for _, figure := range s.Starts[min(1, len(s.Starts)):] {
		words = append(words, fmt.Sprintf("%d %s", figure.Nodes, strings.SplitN(StartName(figure.Name), ":", 2)[0]))
	}
	if len(words) == 0 {
		return "none otherwise"
	}
	return strings.Join(words, ", ")
}
