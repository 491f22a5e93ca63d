// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/nodetx"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// sortTime is a time as text whose order is that of the times.
const sortTime = "2006-01-02T15:04:05.000000000Z"

// sortCursor separates the MAC and the value in what a sorted list continues after.
const sortCursor = "/"

// order is how a list of nodes is sorted: by a value, then by MAC.
type order struct {
	of        func(tx *nodetx.Tx) string
	direction int // of the values: 1 or -1
}

// place is where a node stands in an order.
type place struct{ value, mac string }

func (o order) compare(a, b place) int {
	return cmp.Or(o.direction*cmp.Compare(a.value, b.value), cmp.Compare(a.mac, b.mac))
}

// orderBy returns the order with this name.
func (f *Fleet) orderBy(name string) (order, error) {
	by, descending := strings.CutPrefix(name, "-")
	o := order{direction: 1}
	if descending {
		o.direction = -1
	}
	label, labelled := strings.CutPrefix(by, api.ByLabel)
	switch {
	case labelled && label != "":
		o.of = func(tx *nodetx.Tx) string { return tx.Spec().Labels[label] }
	case by == api.SortName:
		o.of = func(tx *nodetx.Tx) string { return tx.Spec().Name }
	case by == api.SortPhase:
		o.of = func(tx *nodetx.Tx) string { return string(tx.Status().Phase) }
	case by == api.SortImage:
		o.of = func(tx *nodetx.Tx) string { return tx.Status().Image }
	case by == api.SortSince:
		o.of = func(tx *nodetx.Tx) string {
			if tx.Status().Since.IsZero() {
				return ""
			}
			return tx.Status().Since.UTC().Format(sortTime)
		}
	case by == api.SortUrgency:
		o.of = func(tx *nodetx.Tx) string { return strconv.Itoa(f.shownNode(tx).Urgency()) }
	default:
		return o, refusal.Value("query.sort", name, fmt.Errorf("sort %q: expected one of %s or %sKEY, or - and one of them",
			name, strings.Join(api.SortKeys(), ", "), api.ByLabel))
	}
	return o, nil
}

// place reads what a list continues after; an empty one is its start.
func (f Filter) place() (place, error) {
	if f.After == "" {
		return place{}, nil
	}
	text, value, sorted := strings.Cut(f.After, sortCursor)
	address, err := mac.Parse(text)
	if err != nil || sorted != (f.Sort != "") {
		return place{}, refusal.Value("query.after", f.After,
			errors.New("after: expected next of the page before, of a list with the same sort"))
	}
	return place{value, address}, nil
}

// sortedNodes returns a page of nodes in an order.
func (f *Fleet) sortedNodes(ctx context.Context, filter Filter) (api.NodeList, error) {
	list := api.NodeList{Items: []api.Node{}}
	by, err := f.orderBy(filter.Sort)
	if err != nil {
		return list, err
	}
	after, err := filter.place()
	if err != nil {
		return list, err
	}
	page := best{order: by, limit: filter.Limit}
	_, err = f.Walk(ctx, "", summaryPage, func(tx *nodetx.Tx) bool {
		if !tx.Known() || !filter.takes(tx) {
			return true
		}
		if at := (place{by.of(tx), tx.MAC}); after.mac == "" || by.compare(at, after) > 0 {
			page.offer(at, func() api.Node { return f.shownNode(tx) })
		}
		return true
	})
	page.cut()
	for _, item := range page.items {
		list.Items = append(list.Items, item.node)
	}
	if page.offered > filter.Limit {
		last := page.items[filter.Limit-1].place
		list.Next = last.mac + sortCursor + last.value
	}
	return list, err
}

// best keeps the first nodes in an order: those of one page, and at times up to as many again.
type best struct {
	order
	limit, offered int
	items          []ranked
}

type ranked struct {
	place
	node api.Node
}

func (b *best) offer(at place, node func() api.Node) {
	b.offered++
	if len(b.items) == 2*b.limit {
		b.cut()
	}
	if b.offered > 2*b.limit && b.compare(at, b.items[b.limit-1].place) > 0 {
		return
	}
	b.items = append(b.items, ranked{at, node()})
}

// cut leaves those of one page, sorted.
func (b *best) cut() {
	slices.SortFunc(b.items, func(x, y ranked) int { return b.compare(x.place, y.place) })
	b.items = b.items[:min(b.limit, len(b.items))]
}
