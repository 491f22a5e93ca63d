// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
)

// JobFilter selects jobs. Empty fields select everything.
type JobFilter struct {
	Node  string // MAC or name
	State JobState
	Limit int // most jobs, the newest; default 100
}

// CreateJob requests a job.
func (c *Client) CreateJob(ctx context.Context, spec JobSpec, options ...Option) (Job, error) {
	var job Job
	err := c.call(ctx, request{method: http.MethodPost, path: "/v1/jobs", body: spec}.apply(options), &job)
	return job, err
}

// Jobs lists jobs, the newest first.
func (c *Client) Jobs(ctx context.Context, filter JobFilter) ([]Job, error) {
	query := url.Values{}
	if filter.Node != "" {
		query.Set("node", filter.Node)
	}
	if filter.State != "" {
		query.Set("state", string(filter.State))
	}
	if filter.Limit > 0 {
		query.Set("limit", strconv.Itoa(filter.Limit))
	}
	var answer JobList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/jobs", query: query}, &answer)
	return answer.Items, err
}

// Job reads one job.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	return single[Job](ctx, c, request{method: http.MethodGet}, "jobs", id)
}

// CancelJob cancels a job: its payload gets SIGTERM, after its grace or with a second request SIGKILL. A third request
// ends a job whose node does not answer.
func (c *Client) CancelJob(ctx context.Context, id string, options ...Option) (Job, error) {
	return single[Job](ctx, c, request{method: http.MethodDelete}.apply(options), "jobs", id)
}

// JobFile opens a file of a job: a part of a stream such as out.000001. The error is fs.ErrNotExist
// while there is none. The file must be closed; ctx ends its reading.
func (c *Client) JobFile(ctx context.Context, id, name string) (io.ReadCloser, error) {
	address, err := path("jobs", id, "files", name)
	if err != nil {
		return nil, err
	}
	response, err := c.send(ctx, request{method: http.MethodGet, path: address})
	switch {
	case StatusOf(err) == http.StatusNotFound:
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusNoContent: // sledd has no files, only a web server in front of it
		_ = response.Body.Close()
		return nil, fs.ErrNotExist
	}
	return response.Body, nil
}
