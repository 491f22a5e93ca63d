// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/audit"
)

// longestPath is how much of a path an audit record holds.
const longestPath = 512

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

// audited records a change that an operator has requested, with its result.
func (o operations) audited(ctx huma.Context, operator api.Operator) {
	target := ctx.URL()
	path := target.RequestURI()
	o.Audit.Add(api.AuditRecord{Operator: operator.Name, Role: operator.Role,
		From: source(ctx.RemoteAddr(), ctx.Header("X-Forwarded-For")), Method: ctx.Method(),
		Path: path[:min(len(path), longestPath)], Node: ctx.Param("node"),
		Status: cmp.Or(ctx.Status(), http.StatusInternalServerError)})
}

// source is the address of a client. The web server in front, on the same machine, names it in a header; from elsewhere
// that header counts for nothing.
func source(peer, forwarded string) string {
	host, _, err := net.SplitHostPort(peer)
	if err != nil {
		host = peer
	}
	address, err := netip.ParseAddr(host)
	if local := err != nil || address.IsLoopback(); !local {
		return host
	}
	if named, err := netip.ParseAddr(forwarded); err == nil {
		return named.String()
	}
	return host
}
