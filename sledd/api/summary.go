// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"net/http"
)

// What nodes can be summed up by, beside label:KEY.
const (
	ByModel = "model"
	ByImage = "image"
	ByPhase = "phase"
	ByLabel = "label:" // and the key
)

// What lists of nodes can be sorted by, beside label:KEY. A minus before it reverses the order.
const (
	SortName    = "name"
	SortPhase   = "phase"
	SortImage   = "image"
	SortSince   = "since" // when the phase started
	SortUrgency = "urgency"
)

// SortKeys returns what lists of nodes can be sorted by, without labels.
func SortKeys() []string { return []string{SortName, SortPhase, SortImage, SortSince, SortUrgency} }

// Urgency is 0 for a node that failed, 1 for one with alarms or overdue, 2 for one that does not have what is
// requested, and 3 for all others.
func (n Node) Urgency() int {
	switch {
	case n.Status.Phase == Failed:
		return 0
	case len(n.Alarms) > 0, n.Overdue > 0:
		return 1
	case n.Binding != nil && !n.Binding.Satisfied:
		return 2
	}
	return 3
}

// Unseen stands for the phase of nodes that were not observed yet.
const Unseen = "unseen"

// Summary counts nodes in groups.
type Summary struct {
	By     string         `json:"by" example:"label:rack"`
	Groups []SummaryGroup `json:"groups" doc:"By value" nullable:"false"`
	Total  SummaryCount   `json:"total"`
}

// SummaryGroup is the nodes with one value.
type SummaryGroup struct {
	Value string `json:"value" doc:"Value of the label, model, image or phase; empty: nodes without one"`
	SummaryCount
}

// SummaryCount counts nodes.
type SummaryCount struct {
	Nodes  int            `json:"nodes"`
	Phases map[string]int `json:"phases" doc:"Nodes by phase; unseen: not observed yet"`
	Drift  int            `json:"drift" doc:"Nodes that do not have what their binding requests"`

	Overdue int `json:"overdue" doc:"Nodes that stand still longer than their phase allows"`
}

// Add counts one more node.
func (c *SummaryCount) Add(phase Phase, drift, overdue bool) {
	if c.Phases == nil {
		c.Phases = map[string]int{}
	}
	name := string(phase)
	if name == "" {
		name = Unseen
	}
	c.Nodes++
	c.Phases[name]++
	if drift {
		c.Drift++
	}
	if overdue {
		c.Overdue++
	}
}

// Summary counts the nodes that the filter selects, in groups: by label:KEY, model, image or phase.
func (c *Client) Summary(ctx context.Context, by string, filter Filter) (Summary, error) {
	query := filter.query()
	query.Del("limit")
	query.Set("by", by)
	var answer Summary
	err := c.call(ctx, request{method: http.MethodGet, path: "/v1/summary", query: query}, &answer)
	return answer, err
}
