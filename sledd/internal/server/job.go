// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/gate"
)

// JobPath names a job.
type JobPath struct {
	Job string `path:"job" maxLength:"12" pattern:"^[0-9a-v]{12}$" doc:"Id of a job" example:"1kq7d2g3r9qa"`
}

// jobFileName is the name of a file that a node puts for a job.
var jobFileName = regexp.MustCompile(`^(out|err|files)\.[0-9]{6}$`)

// jobFile answers a web server that asks whether to take a file of a job. The sender is the owner of the token.
func (s *Server) jobFile(w http.ResponseWriter, r *http.Request) {
	if !jobFileName.MatchString(r.PathValue("file")) {
		writeProblem(w, statusProblem(http.StatusBadRequest, "want out.NNNNNN, err.NNNNNN or files.NNNNNN"))
		return
	}
	leave, err := s.Intake.Gate.Enter(r.Context(), gate.Transfer)
	if err == nil {
		defer leave()
		err = s.Intake.MayPutJobFile(r.Context(), bearer(r.Header.Get("Authorization")), r.PathValue("job"))
	}
	if err != nil {
		writeError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
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
	type file struct {
		JobPath
		File string `path:"file" maxLength:"12" pattern:"^(out|err|files)\\.[0-9]{6}$" doc:"out.000001 and so on: parts of standard output; err: of standard error; files: of the tar of the artefacts" example:"out.000001"`
	}
	read := operation("read-job-file", http.MethodGet, "/jobs/{job}/files/{file}", "Ask to read a file of a job")
	read.Description = "The web server in front of sledd serves the file if sledd's answer is 204; " +
		"404 for one that has not arrived."
	register(o, api.Operate, read, func(context.Context, *file) (*struct{}, error) { return nil, nil })
	type cancel struct {
		JobPath
		DryRun
	}
	op = dry(operation("cancel-job", http.MethodDelete, "/jobs/{job}",
		"Cancel a job: its payload gets SIGTERM, after its grace or with a second request SIGKILL"))
	op.Description = "A third request ends the job although its node does not answer."
	op.DefaultStatus = http.StatusOK
	register(o, api.Operate, op, func(ctx context.Context, in *cancel) (*answer[api.Job], error) {
		job, err := o.fleet(in.Dry).CancelJob(ctx, in.Job)
		return &answer[api.Job]{job}, err
	})
	o.jobEnergy()
}

func (o operations) jobEnergy() {
	type measured struct {
		JobPath
		Body api.Energy
	}
	register(o, api.Operate, operation("put-job-energy", http.MethodPut, "/jobs/{job}/energy",
		"Store what the node drew during a job that has ended: once, and by the operator who requested the job"),
		func(ctx context.Context, in *measured) (*answer[api.Job], error) {
			job, err := o.Fleet.PutEnergy(ctx, in.Job, in.Body)
			return &answer[api.Job]{job}, err
		})
}

// jobFolder answers with what a node runs its job with.
func (s *Server) jobFolder(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	folder, token, err := s.Intake.JobFolder(ctx, a.mac, a.bearer, a.r.URL.Query().Get("job"))
	return nodeResponse{token: token, kind: "application/x-tar", body: folder}, err
}

// jobSignal answers with the signal that a payload is to get, or none.
func (s *Server) jobSignal(ctx context.Context, a nodeRequest) (nodeResponse, error) {
	query := a.r.URL.Query()
	seconds, err := number(query, "wait", 0)
	if err != nil {
		return nodeResponse{}, err
	}
	signal, err := s.Intake.JobSignal(ctx, a.mac, a.bearer, query.Get("job"), query.Get("given"),
		min(time.Duration(seconds)*time.Second, maxWait))
	if err != nil || signal == "" {
		return nodeResponse{}, err
	}
	return nodeResponse{kind: "text/plain; charset=utf-8", body: []byte(signal + "\n")}, nil
}

// nested answers GET /node/v1/jobs/{job}/{file} and GET /node/v1/{mac}/job/signal, which a mux does not tell apart.
func (s *Server) nested(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.PathValue("mac") == "jobs":
		s.jobFile(w, r)
	case r.PathValue("job") == "job" && r.PathValue("file") == "signal":
		s.node(0, s.jobSignal)(w, r)
	default:
		writeProblem(w, statusProblem(http.StatusNotFound, r.Method+" "+r.URL.Path+" is not known"))
	}
}
