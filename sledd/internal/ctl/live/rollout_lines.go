// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// rolloutLines prints a line when a node or the rollout starts or ends.
type rolloutLines struct {
	show.Printer
	state  api.RolloutState
	states map[string]api.RunState
	silent bool   // nobody followed it
	shown  string // trouble that was printed last
}

func (v *rolloutLines) show(r api.Rollout, _ []api.Node, trouble error) {
	now := v.Now().Local().Format(time.TimeOnly)
	printf := func(format string, values ...any) {
		_, _ = fmt.Fprintf(v.Out, "%s %s\n", now, fmt.Sprintf(format, values...))
	}
	if trouble != nil {
		if v.shown != trouble.Error() {
			v.shown = trouble.Error()
			printf("%s", v.shown)
		}
		return
	}
	v.shown = ""
	first := v.state == ""
	if first {
		printf("%s %s: %s", r.Name, wording.Clean(r.Desired), v.RolloutCounts(r))
	}
	for _, run := range r.Runs {
		before, known := v.states[run.MAC]
		v.states[run.MAC] = run.State
		if run.State == before || !known && run.State != api.RunFailed && run.State != api.RunRunning {
			continue
		}
		printf("wave %d: %s %s", run.Wave, run.Node, wording.Run(run, v.Now()))
	}
	if r.State != v.state && (!first || r.State != api.RolloutRunning) {
		printf("%s %s%s: %s", r.Name, r.State, wording.Around(" (", r.Reason.String(), ")"), v.RolloutCounts(r))
	}
	if silent := r.Silent > 0; silent != v.silent {
		v.silent = silent
		printf("%s %s", r.Name, wording.Followed(r))
	}
	v.state = r.State
}
