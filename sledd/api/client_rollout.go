// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"net/url"
)

// StartRollout starts a rollout, or resumes the same one if it has not ended (see Rollout.Resumed). Kind is the prefix
// of its name; empty: reimage.
func (c *Client) StartRollout(ctx context.Context, kind string, spec RolloutSpec, options ...Option) (Rollout, error) {
	r := request{method: http.MethodPost, path: "/v1/rollouts", body: spec}.apply(options)
	if kind != "" {
		r.query.Set("kind", kind)
	}
	var started Rollout
	err := c.call(ctx, r, &started)
	return started, err
}

// Rollouts lists rollouts without their nodes, newest first.
func (c *Client) Rollouts(ctx context.Context) ([]Rollout, error) {
	return Collect(list[Rollout](ctx, c, "/v1/rollouts", url.Values{}))
}

// Rollout reads one rollout with its nodes.
func (c *Client) Rollout(ctx context.Context, name string) (Rollout, error) {
	return single[Rollout](ctx, c, request{method: http.MethodGet}, "rollouts", name)
}

// PutRuns reports the states of nodes of a rollout. An item that is refused changes no other. Starting a node of a
// stopped or aborted rollout is refused.
func (c *Client) PutRuns(ctx context.Context, rollout string, items []NodeRunItem) (RunsAnswer, error) {
	var answer RunsAnswer
	address, err := path("rollouts", rollout, "runs")
	if err != nil {
		return answer, err
	}
	err = c.call(ctx, request{method: http.MethodPut, path: address, body: NodeRunItems{Items: items}}, &answer)
	return answer, err
}

// AbortRollout aborts a rollout; running nodes are not interrupted.
func (c *Client) AbortRollout(ctx context.Context, name string) (Rollout, error) {
	var aborted Rollout
	address, err := path("rollouts", name, "abort")
	if err != nil {
		return aborted, err
	}
	err = c.call(ctx, request{method: http.MethodPost, path: address}, &aborted)
	return aborted, err
}
