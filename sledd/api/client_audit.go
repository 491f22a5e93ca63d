// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// AuditFilter selects audit records. Empty fields select all.
type AuditFilter struct {
	Operator string
	Node     string // as the client named it
	Limit    int    // the newest
}

// Audit returns the newest changes that operators requested, oldest first.
func (c *Client) Audit(ctx context.Context, filter AuditFilter) ([]AuditRecord, error) {
	query := url.Values{}
	for name, value := range map[string]string{"operator": filter.Operator, "node": filter.Node} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if filter.Limit > 0 {
		query.Set("limit", strconv.Itoa(filter.Limit))
	}
	var answer AuditList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/audit", query: query}, &answer)
	return answer.Items, err
}
