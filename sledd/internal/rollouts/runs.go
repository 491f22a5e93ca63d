// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"errors"
	"sync"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// PutRuns records the reports on many nodes of a rollout, each as PutRun does, and evaluates the rollout once. An item
// that is refused changes no other. When the store fails, the error is of any of them, and all may be sent again.
func (rs *Rollouts) PutRuns(ctx context.Context, name string, items []api.NodeRunItem) (api.RunsAnswer, error) {
	answer := api.RunsAnswer{Items: make([]api.RunResult, len(items))}
	failed := make([]error, len(items))
	var running sync.WaitGroup
	slots := make(chan struct{}, runWriters)
	for i, item := range items {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			answer.Items[i], failed[i] = rs.putItem(ctx, name, item)
		})
	}
	running.Wait()
	for _, err := range failed {
		if err != nil {
			return answer, err
		}
	}
	shown, err := rs.evaluate(ctx, name)
	shown.Runs = nil
	answer.Rollout = shown
	return answer, err
}

// putItem records one report. A refusal of it is its result, and no error.
func (rs *Rollouts) putItem(ctx context.Context, name string, item api.NodeRunItem) (api.RunResult, error) {
	address, err := rs.Resolve(ctx, item.Node)
	var run api.NodeRun
	if err == nil {
		run, err = rs.queuedRun(ctx, name, address, item.NodeRunSpec)
	}
	var refused *refusal.Error
	switch {
	case err == nil:
		return api.RunResult{Run: &run}, nil
	case errors.As(err, &refused) && refused.Kind != refusal.Busy:
		return api.RunResult{Refused: refused.Message}, nil
	}
	return api.RunResult{}, err
}
