// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// largeNodes is the largest fleet that one sledd is for.
const largeNodes = 10_000

// largeLines is what an operator looks at first.
var largeLines = []string{"status", "status --by rack", "status --by model", "node list --failed"}

// BenchmarkLargeFleet is the time of a command over 10,000 nodes on a terminal, and of the summary alone.
func BenchmarkLargeFleet(b *testing.B) {
	s := sleddtest.Start(b)
	s.Hall(largeNodes, time.Now())
	for _, line := range largeLines {
		b.Run(line, func(b *testing.B) {
			for b.Loop() {
				got := run(b.Context(), s.URL, "", ctltest.Terminal(80), strings.Fields(line)...)
				b.ReportMetric(float64(strings.Count(got.out, "\n")), "lines")
				if got.code != exitDone {
					b.Fatal(got.err)
				}
			}
		})
	}
	for _, by := range []string{"label:rack", "phase", "model"} {
		b.Run("summary by "+by, func(b *testing.B) {
			for b.Loop() {
				if answer := s.Ask(http.MethodGet, "/v1/summary?by="+by, s.Token, ""); answer.Status != http.StatusOK {
					b.Fatal(answer.Body)
				}
			}
		})
	}
}

// What an operator looks at first is one screen, however long its words are.
func TestLargeFleetIsOneScreen(t *testing.T) {
	const nodes = 1000
	s := sleddtest.Start(t)
	s.Hall(nodes, ctltest.Noon)
	checkOneScreen(t, s, "status", "status --by rack", "node list --failed", "node list", "binding list", "status --drift")
	if got := run(t.Context(), s.URL, "", ctltest.Terminal(80), "status"); strings.Count(got.out, "  failed  ") < 5 {
		t.Errorf("nodes that failed are not first:\n%s", got.out)
	}
	if got := sledctl(t, s.URL, "", "node", "list", "--failed=false"); strings.Count(got.out, "\n") != nodes+1 {
		t.Errorf("--failed=false selects:\n%s%s", got.out, got.err)
	}
	got := run(t.Context(), s.URL, "", ctltest.Terminal(80), "node", "list")
	if !strings.Contains(got.out, "more nodes are not shown; use a filter") {
		t.Errorf("it does not say how many are missing:\n%s", got.out)
	}
	if whole := sledctl(t, s.URL, "", "node", "list"); strings.Count(whole.out, "\n") != nodes+1 {
		t.Errorf("a pipe gets all nodes:\n%s", whole.out)
	}
}

// Its models are read from the facts, which take the race detector longer than a request may take.
func TestModelsAreOneScreen(t *testing.T) {
	s := sleddtest.Start(t)
	s.Hall(200, ctltest.Noon)
	checkOneScreen(t, s, "status --by model")
}

func checkOneScreen(t *testing.T, s *sleddtest.Sledd, lines ...string) {
	t.Helper()
	for _, width := range ctltest.Widths {
		for _, line := range lines {
			got := run(t.Context(), s.URL, "", ctltest.Terminal(width), strings.Fields(line)...)
			ctltest.CheckWidth(t, line, got.out, width)
			if n := strings.Count(got.out, "\n"); n > 60 || got.code != exitDone || n < 5 {
				t.Errorf("%s: exit %d, %d lines:\n%s%s", line, got.code, n, got.out, got.err)
			}
		}
	}
}
