// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"regexp"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/origin"
)

// RolloutPath names a rollout.
type RolloutPath struct {
	Rollout string `path:"rollout" maxLength:"64" pattern:"^[a-z0-9][a-z0-9-]*$" doc:"Name of a rollout" example:"reimage-7"`
}

func (o operations) rollouts() {
	o.startRollout()
	register(o, api.Read, operation("list-rollouts", http.MethodGet, "/rollouts",
		"Rollouts, newest first, without their nodes"),
		func(ctx context.Context, _ *struct{}) (*answer[api.RolloutList], error) {
			list, err := o.Rollouts.List(ctx)
			return &answer[api.RolloutList]{list}, err
		})
	register(o, api.Read, operation("get-rollout", http.MethodGet, "/rollouts/{rollout}", "A rollout with its nodes"),
		func(ctx context.Context, in *RolloutPath) (*answer[api.Rollout], error) {
			one, err := o.Rollouts.Get(ctx, in.Rollout)
			return &answer[api.Rollout]{one}, err
		})
	o.putRuns()
	register(o, api.Operate, operation("abort-rollout", http.MethodPost, "/rollouts/{rollout}/abort",
		"Abort a rollout; running nodes are not interrupted"),
		func(ctx context.Context, in *RolloutPath) (*answer[api.Rollout], error) {
			one, err := o.Rollouts.Abort(ctx, in.Rollout, origin.Of(ctx).By())
			return &answer[api.Rollout]{one}, err
		})
}

func (o operations) putRuns() {
	type runs struct {
		RolloutPath
		Body api.NodeRunItems
	}
	op := operation("put-rollout-runs", http.MethodPut, "/rollouts/{rollout}/runs",
		"Report the states of nodes of a rollout; stops the rollout if its failure budget is exceeded")
	op.MaxBodyBytes, op.BodyReadTimeout = bulkBody, bulkTime
	register(o, api.Operate, op, func(ctx context.Context, in *runs) (*answer[api.RunsAnswer], error) {
		recorded, err := o.Rollouts.PutRuns(ctx, in.Rollout, in.Body.Items)
		return &answer[api.RunsAnswer]{recorded}, err
	})
}

// rolloutHeader names the rollout that the sender of a request carries out.
const rolloutHeader = "Sled-Rollout"

var rolloutName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// follow records that a rollout is followed. The request does not fail with it: that record only informs.
func (o operations) follow(ctx context.Context, operator api.Operator, name string) {
	if operator.Role == api.Read || !rolloutName.MatchString(name) {
		return
	}
	if err := o.Rollouts.Follow(ctx, name); err != nil {
		o.Log.Warn("not recorded that a rollout is followed", "rollout", name, "error", err)
	}
}

// started is the answer to the start of a rollout, or to its resumption.
type started struct {
	Status int
	Body   api.Rollout
}

func (o operations) startRollout() {
	type request struct {
		DryRun
		Kind string `query:"kind" default:"reimage" maxLength:"32" pattern:"^[a-z][a-z0-9-]*$" doc:"Kind of work on the nodes; prefix of the name"`
		Body api.RolloutSpec
	}
	op := dry(operation("start-rollout", http.MethodPost, "/rollouts",
		"Start a rollout, or resume the same one if it has not ended; if a limit is exceeded, nothing changes"))
	op.DefaultStatus = http.StatusCreated
	op.Responses = map[string]*huma.Response{"200": {Description: "Resumed",
		Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Rollout"}}}}}
	register(o, api.Operate, op, func(ctx context.Context, in *request) (*started, error) {
		start := o.Rollouts.Start
		if in.Dry {
			start = o.Rollouts.Try
		}
		one, fresh, err := start(ctx, in.Kind, origin.Of(ctx).Actor, in.Body)
		if fresh {
			return &started{http.StatusCreated, one}, err
		}
		return &started{http.StatusOK, one}, err
	})
}
