// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestOverdue(t *testing.T) {
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	writing, long := api.Writing.Limit(), noon.AddDate(0, 0, -3)
	for name, c := range map[string]struct {
		status api.Status
		want   time.Duration
	}{
		"never seen":            {api.Status{}, 0},
		"phase without a start": {api.Status{Phase: api.Writing}, 0},
		"in time":               {api.Status{Phase: api.Writing, Since: noon.Add(-writing)}, 0},
		"stands":                {api.Status{Phase: api.Writing, Since: noon.Add(-writing - time.Minute)}, time.Minute},
		"moves for days":        {api.Status{Phase: api.Writing, Since: long, Moved: noon.Add(-time.Second)}, 0},
		"moved, then stood": {api.Status{Phase: api.Writing, Since: long, Moved: noon.Add(-writing - time.Second)},
			time.Second},
		"moved in another phase": {api.Status{Phase: api.Starting, Since: long, Moved: noon},
			noon.Sub(long) - api.Starting.Limit()},
		"waits for an operator": {api.Status{Phase: api.Idle, Since: noon.AddDate(-1, 0, 0)}, 0},
		"failed":                {api.Status{Phase: api.Failed, Since: noon.AddDate(-1, 0, 0)}, 0},
		"under rescue":          {api.Status{Phase: api.UnderRescue, Before: api.Writing, Since: noon.AddDate(-1, 0, 0)}, 0},
		"clock was set back":    {api.Status{Phase: api.Writing, Since: noon.AddDate(1, 0, 0)}, 0},
	} {
		if got := c.status.OverdueAt(noon); got != c.want {
			t.Errorf("%s: overdue for %v, want %v", name, got, c.want)
		}
	}
	for _, phase := range api.Phases() {
		if phase != api.UnderRescue && phase != api.Running && phase.Settled() != (phase.Limit() == 0) {
			t.Errorf("phase %s: settled %v, limit %v", phase, phase.Settled(), phase.Limit())
		}
	}
}
