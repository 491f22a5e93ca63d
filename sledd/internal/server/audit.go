// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/audit"
	"github.com/sled-fleet/sled/sledd/internal/origin"
)

// longestPath is the number of bytes of a path that an audit record holds.
const longestPath = 512

// unknownAddress stands for that of a request over the unix socket that the web server in front has not sent.
const unknownAddress = "unknown"

func (o operations) audits() {
	type filter struct {
		Limit    int    `query:"limit" minimum:"1" maximum:"20000" default:"100" doc:"Most records in the answer, the newest"`
		Operator string `query:"operator" maxLength:"64" doc:"Only those of an operator"`
		Node     string `query:"node" maxLength:"64" doc:"Only those with this node in the path, as the client named it"`
	}
	register(o, api.Admin, operation("list-audit", http.MethodGet, "/audit",
		"List the changes that operators requested, oldest first"),
		func(ctx context.Context, in *filter) (*answer[api.AuditList], error) {
			list, err := o.Audit.List(ctx, audit.Filter{Operator: in.Operator, Node: in.Node, Limit: in.Limit})
			return &answer[api.AuditList]{api.AuditList{Items: list}}, err
		})
}

// attempt is a change that an operator requests.
func attempt(ctx huma.Context, operator api.Operator) *audit.Attempt {
	target := ctx.URL()
	path := target.RequestURI()
	return &audit.Attempt{Record: api.AuditRecord{Operator: operator.Name, Role: operator.Role,
		From: cmp.Or(origin.Of(ctx.Context()).From(), unknownAddress),
		Via:  origin.Via(ctx.Header("User-Agent")), Method: ctx.Method(),
		Path: path[:min(len(path), longestPath)], Node: ctx.Param("node")}}
}

// made stores the record of a change that was carried out with a status, or in part before it failed, and then the
// request is answered. Requests that read have no attempt.
func (o operations) made(ctx context.Context, status int, failed error) error {
	one := audit.Of(ctx)
	if failed != nil {
		status = problem(failed).Status
	}
	if one == nil || failed != nil && (!one.Wrote() || status >= http.StatusInternalServerError) {
		return failed
	}
	one.Record.Status, one.Stored = status, true
	return cmp.Or(failed, o.Audit.Made(ctx, one.Record))
}

// settle records an attempt that changed nothing, or failed.
func (o operations) settle(ctx huma.Context, one *audit.Attempt) {
	if one.Stored {
		return
	}
	one.Record.Status = cmp.Or(ctx.Status(), http.StatusInternalServerError)
	if one.Record.Status < http.StatusInternalServerError && !one.Wrote() {
		o.Audit.Refused(one.Record)
		return
	}
	o.Audit.Failed(one.Record)
}
