// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// Count counts the nodes of a rollout by where they are.
func Count(runs []api.NodeRun) api.RolloutCount {
	var counts api.RolloutCount
	for _, run := range runs {
		switch run.State {
		case api.RunWaiting:
			counts.Waiting++
		case api.RunRunning:
			counts.Running++
		case api.RunDone:
			counts.Done++
		case api.RunFailed:
			counts.Failed++
		}
	}
	return counts
}

// Judge returns the state of a running rollout by its runs, and why if it stops. A rollout in
// another state keeps it.
func Judge(state api.RolloutState, spec api.RolloutSpec, runs []api.NodeRun) (api.RolloutState, api.Prose, error) {
	if state != api.RolloutRunning {
		return state, api.Prose{}, nil
	}
	sizes, err := SizesOf(spec, len(runs))
	if err != nil {
		return state, api.Prose{}, err
	}
	for _, run := range runs {
		if sizes.Canary > 0 && run.Wave == 1 && run.State == api.RunFailed {
			return api.RolloutStopped, nodetext.Clean(fmt.Sprintf("canary %s failed: %s", run.Node, run.Reason)), nil
		}
	}
	counts := Count(runs)
	switch {
	case counts.Failed > sizes.Budget:
		return api.RolloutStopped, nodetext.Clean(fmt.Sprintf("%d of %d nodes failed, %s allowed", counts.Failed,
			len(runs), budgetText(spec, sizes))), nil
	case counts.Waiting+counts.Running == 0:
		return api.RolloutDone, api.Prose{}, nil
	}
	return state, api.Prose{}, nil
}

// budgetText is the budget for people, such as "2 (25%)".
func budgetText(spec api.RolloutSpec, sizes Sizes) string {
	if number, percent, _ := parse("failure_budget", spec.FailureBudget); percent {
		return fmt.Sprintf("%d (%d%%)", sizes.Budget, number)
	}
	return fmt.Sprint(sizes.Budget)
}
