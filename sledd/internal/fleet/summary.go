// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// summaryPage is how many nodes are read at once.
const summaryPage = 10_000

// Summary counts the nodes that a filter selects, in groups.
func (f *Fleet) Summary(ctx context.Context, by string, filter Filter) (api.Summary, error) {
	sum := api.Summary{By: by, Groups: []api.SummaryGroup{}, Total: api.SummaryCount{Phases: map[string]int{}}}
	value, err := f.grouping(ctx, by)
	if err != nil {
		return sum, err
	}
	groups := map[string]*api.SummaryGroup{}
	_, err = f.Walk(ctx, "", summaryPage, func(tx *nodetx.Tx) bool {
		if !tx.Known() || !filter.takes(tx) {
			return true
		}
		of := value(tx)
		if groups[of] == nil {
			groups[of] = &api.SummaryGroup{Value: of}
		}
		drift, overdue := tx.Binding() != nil && !tx.Satisfied(), tx.Status().OverdueAt(tx.Now) > 0
		groups[of].Add(tx.Status().Phase, drift, overdue)
		sum.Total.Add(tx.Status().Phase, drift, overdue)
		return true
	})
	for _, group := range groups {
		sum.Groups = append(sum.Groups, *group)
	}
	slices.SortFunc(sum.Groups, func(a, b api.SummaryGroup) int { return cmp.Compare(a.Value, b.Value) })
	return sum, err
}

// Drift counts the nodes that do not have what their binding requests.
func (f *Fleet) Drift(ctx context.Context) (int, error) {
	sum, err := f.Summary(ctx, api.ByPhase, Filter{})
	return sum.Total.Drift, err
}

// grouping returns what the group of a node is.
func (f *Fleet) grouping(ctx context.Context, by string) (func(tx *nodetx.Tx) string, error) {
	label, labelled := strings.CutPrefix(by, api.ByLabel)
	switch {
	case labelled && label != "":
		return func(tx *nodetx.Tx) string {
			if tx.Node() == nil {
				return ""
			}
			return tx.Node().Labels[label]
		}, nil
	case by == api.ByImage:
		return func(tx *nodetx.Tx) string { return tx.Status().Image }, nil
	case by == api.ByPhase:
		return func(tx *nodetx.Tx) string { return cmp.Or(string(tx.Status().Phase), api.Unseen) }, nil
	case by == api.ByModel:
		models, err := f.Models(ctx)
		return func(tx *nodetx.Tx) string { return models[tx.MAC] }, err
	}
	return nil, refusal.Value("query.by", by, fmt.Errorf("by %q: expected label:KEY, model, image or phase", by))
}
