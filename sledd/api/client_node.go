// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
)

// EventFilter selects events of the fleet. Empty fields select everything.
type EventFilter struct {
	Kinds []string
	By    string // operator who requested it
	Since time.Time
	Limit int // most events, the newest; default 100
}

// Takes reports whether the filter selects an event.
func (f EventFilter) Takes(e Event) bool {
	return (len(f.Kinds) == 0 || slices.Contains(f.Kinds, e.Kind)) && (f.By == "" || e.Actor == f.By) &&
		!e.Time.Before(f.Since)
}

// NewestEvents lists the newest events of the fleet, oldest first.
func (c *Client) NewestEvents(ctx context.Context, filter EventFilter) ([]Event, error) {
	query := url.Values{"kind": filter.Kinds}
	if filter.By != "" {
		query.Set("by", filter.By)
	}
	if !filter.Since.IsZero() {
		query.Set("since", filter.Since.Format(time.RFC3339Nano))
	}
	if filter.Limit > 0 {
		query.Set("limit", strconv.Itoa(filter.Limit))
	}
	var answer EventList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/events/newest", query: query}, &answer)
	return answer.Items, err
}

// Events reads the newest events of a node, oldest first; limit 0 leaves the number to sledd.
func (c *Client) Events(ctx context.Context, node string, limit int) ([]Event, error) {
	address, err := path("nodes", node)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	var answer EventList
	err = c.call(ctx, request{method: http.MethodGet, path: address + "/events", query: query}, &answer)
	return answer.Items, err
}

// ReplaceNode moves a node to another MAC: it keeps its name, binding and history.
func (c *Client) ReplaceNode(ctx context.Context, node, mac string, options ...Option) (Node, error) {
	var replaced Node
	address, err := path("nodes", node)
	if err != nil {
		return replaced, err
	}
	r := request{method: http.MethodPost, path: address + "/replace", body: ReplaceSpec{MAC: mac}}
	err = c.call(ctx, r.apply(options), &replaced)
	return replaced, err
}

// Boot returns what a running system needs to start the Sled system by kexec. It ends the validity of earlier
// responses.
func (c *Client) Boot(ctx context.Context, node string) (Boot, error) {
	var boot Boot
	address, err := path("nodes", node)
	if err != nil {
		return boot, err
	}
	err = c.call(ctx, request{method: http.MethodPost, path: address + "/boot"}, &boot)
	return boot, err
}

// Log reads the log of the last failed step of a node.
func (c *Client) Log(ctx context.Context, node string) (Raw, error) {
	address, err := path("nodes", node)
	if err != nil {
		return Raw{}, err
	}
	accept := http.Header{"Accept": {"text/plain, application/problem+json"}}
	body, err := c.read(ctx, request{method: http.MethodGet, path: address + "/log", header: accept})
	return nodetext.RawOf(body), err
}

// Timeline reads the last run of a node.
func (c *Client) Timeline(ctx context.Context, node string) (Timeline, error) {
	var timeline Timeline
	address, err := path("nodes", node)
	if err != nil {
		return timeline, err
	}
	err = c.call(ctx, request{method: http.MethodGet, path: address + "/timeline"}, &timeline)
	return timeline, err
}

// Operators lists the operators, without tokens (role admin).
func (c *Client) Operators(ctx context.Context) ([]Operator, error) {
	var answer OperatorList
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/operators"}, &answer)
	return answer.Items, err
}

// PutOperator creates an operator, or replaces role and token of one. Only this response has the token.
func (c *Client) PutOperator(ctx context.Context, operator Operator, options ...Option) (Operator, error) {
	r := request{method: http.MethodPut, body: operator}.apply(options)
	return single[Operator](ctx, c, r, "operators", operator.Name)
}

// DeleteOperator deletes an operator; its token is refused at once.
func (c *Client) DeleteOperator(ctx context.Context, name string) error {
	return remove(ctx, c, "operators", name, nil)
}

// Console reads the end of the recorded serial console of a node; bytes 0 leaves the size to sledd.
func (c *Client) Console(ctx context.Context, node string, bytes int) (Raw, error) {
	address, err := path("nodes", node)
	if err != nil {
		return Raw{}, err
	}
	query := url.Values{}
	if bytes > 0 {
		query.Set("bytes", strconv.Itoa(bytes))
	}
	accept := http.Header{"Accept": {"text/plain, application/problem+json"}}
	body, err := c.read(ctx, request{method: http.MethodGet, path: address + "/console", query: query, header: accept})
	return nodetext.RawOf(body), err
}

// NodeDisks reads which disk of a node a selector means, and why not the others. Empty ones leave selector and keep
// list to the binding and the node.
func (c *Client) NodeDisks(ctx context.Context, node, match string, keep []string) (NodeDisks, error) {
	var disks NodeDisks
	address, err := path("nodes", node)
	if err != nil {
		return disks, err
	}
	query := url.Values{"keep": keep}
	if match != "" {
		query.Set("match", match)
	}
	err = c.call(ctx, request{method: http.MethodGet, path: address + "/disks", query: query}, &disks)
	return disks, err
}

// NodeNetwork reads the files that the declared network of a node is rendered to.
func (c *Client) NodeNetwork(ctx context.Context, node string) (RenderedNetwork, error) {
	var rendered RenderedNetwork
	address, err := path("nodes", node)
	if err != nil {
		return rendered, err
	}
	err = c.call(ctx, request{method: http.MethodGet, path: address + "/network"}, &rendered)
	return rendered, err
}

// ForgetDisk forgets a disk of a node that is missing in its newest boot, named by serial:, wwn: or path:.
func (c *Client) ForgetDisk(ctx context.Context, node, disk string) error {
	address, err := path("nodes", node)
	if err != nil {
		return err
	}
	query := url.Values{"disk": {disk}}
	return c.call(ctx, request{method: http.MethodDelete, path: address + "/disks", query: query}, nil)
}
