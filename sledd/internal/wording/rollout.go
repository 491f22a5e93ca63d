// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"fmt"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
)

// Received describes what a write received: "110.12MB by multicast, 2.48MB by HTTP, 812 packets lost, 1 chunk
// rejected".
func Received(r *api.Received) string {
	text := Bytes(r.HTTP) + " by HTTP"
	if r.Multicast == 0 && r.Packets == 0 && r.Rejected == 0 {
		return text
	}
	return fmt.Sprintf("%s by multicast, %s, %s lost, %s rejected", Bytes(r.Multicast), text,
		Counted(r.Lost, "packet"), Counted(r.Rejected, "chunk"))
}

// Sent describes what the boot server sent: "the boot server sent 1.04 copies of debian-12-v2 to 8 nodes: ..."
func Sent(s rollout.Sent) string { return "the boot server sent " + SentCopies(s) + " " + SentHow(s) }

// SentCopies counts the copies of an image that were sent.
func SentCopies(s rollout.Sent) string { return fmt.Sprintf("%.2f copies", s.Copies) }

// SentHow names the image and its receivers, and counts bytes and losses.
func SentHow(s rollout.Sent) string {
	return fmt.Sprintf("of %s to %s: %s by multicast, %s by HTTP, %s lost, %s rejected", Clean(s.Image), Nodes(s.Nodes),
		Bytes(s.Multicast), Bytes(s.HTTP), Counted(s.Lost, "packet"), Counted(s.Rejected, "chunk"))
}

// CurrentWave returns the last wave that has started, or the first.
func CurrentWave(r api.Rollout) int {
	wave := 1
	for _, run := range r.Runs {
		if run.State != api.RunWaiting {
			wave = max(wave, run.Wave)
		}
	}
	return wave
}

// RolloutTook returns the time that a rollout has run.
func RolloutTook(r api.Rollout, now time.Time) time.Duration {
	switch {
	case !r.Ended.IsZero():
		return r.Ended.Sub(r.Started)
	case r.State == api.RolloutRunning && r.Counts.Running > 0:
		return rollout.AsOf(r, now).Sub(r.Started)
	}
	return r.Seen.Sub(r.Started)
}

// RunTook returns the time that a node has run; empty for one that waits.
func RunTook(n api.NodeRun, now time.Time) string {
	if n.State == api.RunWaiting {
		return ""
	}
	return Clock(time.Duration(rollout.Took(n, now) * float64(time.Second)))
}

// Silent returns the time since the runner of a rollout was last heard; empty if it is heard.
func Silent(r api.Rollout) string {
	if r.Silent == 0 {
		return ""
	}
	return "nobody follows it for " + Duration(time.Duration(r.Silent)*time.Second)
}

// Followed tells that nobody follows a rollout any more, or that it is followed again.
func Followed(r api.Rollout) string {
	if r.Silent == 0 {
		return "is followed again"
	}
	return "runs, but " + Silent(r) + ": the same command resumes it"
}

// Run describes the state of a node.
func Run(run api.NodeRun, now time.Time) string {
	switch run.State {
	case api.RunRunning:
		return "running" + Around(" (", run.EntryMethod, ")")
	case api.RunDone:
		how := strings.TrimPrefix(run.EntryMethod+", "+run.Start, ", ")
		return "done in " + RunTook(run, now) + Around(" (", how, ")")
	case api.RunFailed:
		return "failed after " + RunTook(run, now) + ": " + run.Reason.String()
	case api.RunWaiting:
	}
	return "waiting"
}
