// SPDX-License-Identifier: Apache-2.0

package double

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

// lineMost is the longest line of a history: the events of a node.
const lineMost = 16 << 20

// step is the start or the end of a step of a run.
type step struct {
	kind   string
	run    int64
	number int
}

// account is what a history has of one node.
type account struct {
	accepted map[step]bool
	failed   map[int64]bool // runs
	begun    map[string]int64
	stored   map[step]int
	phase    string
	faults   []string
}

// Check reads a history and returns its faults by node: a report that was acknowledged and is not stored, a step that
// is stored twice, two plans of a generation that one boot has started although the first one did not fail, and a node
// that is not operational.
func Check(from io.Reader) (faults []string, nodes int, err error) {
	all := map[string]*account{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, lineMost)
	for number := 1; lines.Scan(); number++ {
		var call Call
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", number, err)
		}
		if all[call.Node] == nil {
			all[call.Node] = &account{accepted: map[step]bool{}, failed: map[int64]bool{}, begun: map[string]int64{},
				stored: map[step]int{}}
		}
		if err := all[call.Node].take(call); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("history: %w", err)
	}
	for node, one := range all {
		for _, fault := range one.judge() {
			faults = append(faults, node+": "+fault)
		}
	}
	slices.Sort(faults)
	return faults, len(all), nil
}

// take adds a line.
func (t *account) take(call Call) error {
	if call.Phase != "" {
		t.phase = call.Phase
		var events []api.Event
		if err := json.Unmarshal(call.Events, &events); err != nil {
			return fmt.Errorf("events: %w", err)
		}
		for _, event := range events {
			t.stored[step{event.Kind, event.Run, event.Step}]++
		}
		return nil
	}
	if !strings.HasSuffix(call.Path, "/report") || call.Status != http.StatusNoContent {
		return nil
	}
	sent, err := report.Parse(call.Sent)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, line := range sent.Lines {
		if line.Kind == report.Progress {
			continue
		}
		t.accepted[step{string(line.Kind), sent.Run, line.Step}] = true
		if line.Kind == report.End && line.Code != 0 {
			t.failed[sent.Run] = true
		}
		plan := fmt.Sprintf("%d of boot %s", sent.Generation, sent.Boot)
		if before := t.begun[plan]; before != 0 && before != sent.Run && !t.failed[before] {
			t.faults = append(t.faults, fmt.Sprintf("runs %d and %d of generation %s were started", before, sent.Run, plan))
		}
		t.begun[plan] = sent.Run
	}
	return nil
}

// judge compares what the node was answered with what is stored.
func (t *account) judge() []string {
	faults := t.faults
	for one := range t.accepted {
		if count := t.stored[one]; count != 1 {
			faults = append(faults, fmt.Sprintf("%s of step %d, run %d: acknowledged, and stored %d times", one.kind,
				one.number, one.run, count))
		}
	}
	if t.phase != string(api.Operational) {
		faults = append(faults, fmt.Sprintf("it ended in phase %q", t.phase))
	}
	return faults
}
