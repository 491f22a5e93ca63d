// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
)

// nodesView is a page of a list of nodes.
type nodesView struct {
	Nodes   []api.Node
	Total   int // with those on other pages
	Chosen  []choice
	Phases  []api.Phase
	Phase   string // that is chosen, if it is one
	Columns []column
	Next    string
	First   string // if this is not the first page
}

// choice is a parameter that selects nodes, and the page without it.
type choice struct{ Text, Without string }

// column is a header of the table, and the page that is sorted by it.
type column struct{ Name, Sort, Link, Order string }

var nodeColumns = []column{{Name: "node", Sort: api.SortName}, {Name: "phase", Sort: api.SortPhase},
	{Name: "image", Sort: api.SortImage}, {Name: "note", Sort: api.SortUrgency}, {Name: "since", Sort: api.SortSince}}

// nodes lists those that a filter selects.
func (w *Web) nodes(ask ask) (page, error) {
	filter, err := filterOf(ask.Query)
	if err != nil {
		return page{}, err
	}
	filter.Sort = cmp.Or(filter.Sort, api.SortUrgency)
	list, err := w.Fleet.Nodes(ask.Context(), filter)
	if err != nil {
		return page{}, err
	}
	sum, err := w.Fleet.Summary(ask.Context(), api.ByPhase, filter)
	view := nodesView{Nodes: list.Items, Total: sum.Total.Nodes, Phases: api.Phases(), Chosen: choices(ask.Query),
		Columns: columns(ask.Query, filter.Sort)}
	if len(filter.Phases) == 1 {
		view.Phase = string(filter.Phases[0])
	}
	if list.Next != "" {
		next := url.Values{}
		for name, values := range ask.Query {
			next[name] = values
		}
		next.Set("after", list.Next)
		view.Next = "/ui/nodes?" + next.Encode()
	}
	if filter.After != "" {
		view.First = with(ask.Query, "", "")
	}
	return page{Title: "Nodes", View: "nodes", Nav: "nodes", Search: filter.Text, Body: view}, err
}

// choices are the parameters of a query that select nodes.
func choices(query url.Values) []choice {
	var list []choice
	for _, name := range nodeParameters {
		if name == "after" || name == "sort" || name == "q" {
			continue
		}
		values := slices.DeleteFunc(slices.Clone(query[name]), func(value string) bool { return value == "" })
		for _, value := range values {
			rest := url.Values{}
			for key, others := range query {
				rest[key] = others
			}
			rest[name] = slices.DeleteFunc(slices.Clone(values), func(other string) bool { return other == value })
			list = append(list, choice{name + " " + value, with(rest, "", "")})
		}
	}
	return list
}

// columns links each header to the list that is sorted by it, or the other way round.
func columns(query url.Values, sorted string) []column {
	list := slices.Clone(nodeColumns)
	for i, one := range list {
		order := one.Sort
		switch sorted {
		case one.Sort:
			order, list[i].Order = "-"+one.Sort, "ascending"
		case "-" + one.Sort:
			list[i].Order = "descending"
		}
		list[i].Link = with(query, "sort", order)
	}
	return list
}
