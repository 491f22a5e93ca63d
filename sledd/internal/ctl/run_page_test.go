// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"os"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// The command lines of docs/run.md.
func TestCommandsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/run.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(page)) {
		command, found := strings.CutPrefix(strings.TrimSpace(line), "sledctl ")
		if !found || !strings.HasPrefix(command, "run ") && !strings.HasPrefix(command, "job ") {
			continue
		}
		command, _, _ = strings.Cut(command, "#")
		command, _, _ = strings.Cut(command, "|")
		s := newJobServer()
		s.has(api.JobDone, nil, func(j *api.Job) {
			s.exits(0)(j)
			j.Files = j.Output // of nothing
		})(&s.job)
		if got := s.sledctl(t, 0, strings.Fields(command)...); got.code != exitDone {
			t.Errorf("sledctl %s: exit %d: %s", command, got.code, got.err)
		}
		ran++
	}
	if ran < 10 {
		t.Errorf("%d command lines were run", ran)
	}
}
