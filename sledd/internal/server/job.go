// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
)

// JobPath names a job.
type JobPath struct {
	Job string `path:"job" maxLength:"12" pattern:"^[0-9a-v]{12}$" doc:"Id of a job" example:"1kq7d2g3x9qa"`
}

func (o operations) jobs() {
	type create struct {
		DryRun
		Body api.JobSpec
	}
	op := dry(operation("create-job", http.MethodPost, "/jobs",
		"Run a container image once on a node, from RAM; its binding and its disks stay as they are"))
	op.DefaultStatus = http.StatusCreated
	register(o, api.Operate, op, func(ctx context.Context, in *create) (*answer[api.Job], error) {
		job, err := o.fleet(in.Dry).CreateJob(ctx, in.Body)
		return &answer[api.Job]{job}, err
	})
	type list struct {
		Node  string `query:"node" maxLength:"64" pattern:"^([0-9A-Za-z][0-9A-Za-z:-]*)?$" doc:"Only jobs of this node, by a MAC or its name"`
		State string `query:"state" enum:"waiting,preparing,running,done,failed,cancelled,lost" doc:"Only jobs in this state"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most jobs in the answer"`
	}
	register(o, api.Read, operation("list-jobs", http.MethodGet, "/jobs",
		"Jobs, the newest first; the newest 1,000 are kept"),
		func(ctx context.Context, in *list) (*answer[api.JobList], error) {
			jobs, err := o.Fleet.Jobs(ctx, fleet.JobFilter{Node: in.Node, State: api.JobState(in.State), Limit: in.Limit})
			return &answer[api.JobList]{jobs}, err
		})
	register(o, api.Read, operation("get-job", http.MethodGet, "/jobs/{job}", "Show a job"),
		func(ctx context.Context, in *JobPath) (*answer[api.Job], error) {
			job, err := o.Fleet.Job(ctx, in.Job)
			return &answer[api.Job]{job}, err
		})
	type cancel struct {
		JobPath
		DryRun
	}
	op = dry(operation("cancel-job", http.MethodDelete, "/jobs/{job}",
		"Cancel a job: its payload gets SIGTERM, after its grace SIGKILL; a second request does not wait for its end"))
	op.DefaultStatus = http.StatusOK
	register(o, api.Operate, op, func(ctx context.Context, in *cancel) (*answer[api.Job], error) {
		job, err := o.fleet(in.Dry).CancelJob(ctx, in.Job)
		return &answer[api.Job]{job}, err
	})
}
