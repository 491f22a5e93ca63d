// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/key"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/store"
)

const (
	// summaryPage is how many nodes are read at once.
	summaryPage = 10_000
	// factsPage is how many facts are read at once: they are some kilobytes of each node.
	factsPage = 1000
)

// Summary counts the nodes that a filter selects, in groups.
func (f *Fleet) Summary(ctx context.Context, by string, filter Filter) (api.Summary, error) {
	sum := api.Summary{By: by, Groups: []api.SummaryGroup{}, Total: api.SummaryCount{Phases: map[string]int{}}}
	value, err := f.grouping(ctx, by)
	if err != nil {
		return sum, err
	}
	groups := map[string]*api.SummaryGroup{}
	filter.Limit = summaryPage
	_, err = f.walk(ctx, filter, func(tx *nodetx.Tx) bool {
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
		models, err := f.models(ctx)
		return func(tx *nodetx.Tx) string { return models[tx.MAC] }, err
	}
	return nil, refusal.Value("query.by", by, fmt.Errorf("by %q: expected label:KEY, model, image or phase", by))
}

// models returns vendor and product of each node that has reported them, by MAC.
func (f *Fleet) models(ctx context.Context) (map[string]string, error) {
	models := map[string]string{}
	query := store.Prefix(key.Facts)
	query.Limit = factsPage
	for {
		snapshot, err := f.Store.Read(ctx, query)
		if err != nil {
			return nil, err
		}
		found := snapshot.Results[0]
		for _, kv := range found {
			var facts api.Facts
			if err := nodetx.Decode(kv, &facts); err != nil {
				return nil, err
			}
			models[strings.TrimPrefix(kv.Key, key.Facts)] =
				strings.TrimSpace(facts.DMI["vendor"].String() + " " + facts.DMI["product"].String())
		}
		if len(found) < factsPage {
			return models, nil
		}
		query.Key = found[len(found)-1].Key + "\x00"
	}
}
