// SPDX-License-Identifier: Apache-2.0

package rolloutstore

import (
	"context"
	"errors"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

// PutRuns records the reports on nodes of a rollout, and evaluates the rollout by them once. An item that is refused
// changes no other. When the store fails, the error is of any of them, and all may be sent again.
func (rs *Rollouts) PutRuns(ctx context.Context, name string, items []api.NodeRunItem) (api.RunsAnswer, error) {
	answer := api.RunsAnswer{}
	reports, err := rs.reportsOf(ctx, items)
	if err != nil {
		return answer, err
	}
	if err := rs.putInTurns(ctx, name, reports); err != nil {
		return answer, err
	}
	if answer.Items, err = results(reports); err != nil {
		return answer, err
	}
	// after the runs are written, so that of several requests at the same time the last one sees all
	shown, err := rs.evaluate(ctx, name)
	shown.Runs = nil
	answer.Rollout = shown
	return answer, err
}

// reportsOf finds the nodes of items.
func (rs *Rollouts) reportsOf(ctx context.Context, items []api.NodeRunItem) ([]*report, error) {
	var reports []*report
	for some := range slices.Chunk(items, store.MaxOperations) {
		references := make([]string, len(some))
		for i, item := range some {
			references[i] = item.Node
		}
		resolved, err := rs.ResolveEach(ctx, references)
		if err != nil {
			return nil, err
		}
		for i, item := range some {
			reports = append(reports, &report{address: resolved[i].MAC, request: item.NodeRunSpec, err: resolved[i].Err})
		}
	}
	return reports, nil
}

// putInTurns records reports, several of the same node one after the other.
func (rs *Rollouts) putInTurns(ctx context.Context, name string, reports []*report) error {
	left := slices.DeleteFunc(slices.Clone(reports), func(one *report) bool { return one.err != nil })
	for len(left) > 0 {
		var now, later []*report
		seen := map[string]bool{}
		for _, one := range left {
			if seen[one.address] {
				later = append(later, one)
			} else {
				now = append(now, one)
			}
			seen[one.address] = true
		}
		if err := rs.putReports(ctx, name, now); err != nil {
			return err
		}
		left = later
	}
	return nil
}

// results are what became of reports. A refusal is a result, and no error.
func results(reports []*report) ([]api.RunResult, error) {
	list := make([]api.RunResult, len(reports))
	for i, one := range reports {
		var refused *refusal.Error
		switch {
		case one.err == nil:
			list[i].Run = &one.run
		case errors.As(one.err, &refused):
			list[i].Refused = refused.Message
		default:
			return list, one.err
		}
	}
	return list, nil
}
