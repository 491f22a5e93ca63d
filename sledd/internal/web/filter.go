// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/fleet"
	"github.com/sled-fleet/sled/sledd/internal/refusal"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// nodeParameters are those of GET /v1/nodes.
var nodeParameters = []string{"q", "phase", "label", "image", "owner", "overdue", "satisfied", "sort", "after"}

// filterOf reads a filter of nodes as GET /v1/nodes does.
func filterOf(query url.Values) (fleet.Filter, error) {
	filter := fleet.Filter{Text: strings.TrimSpace(query.Get("q")), Image: query.Get("image"), Owner: query.Get("owner"),
		Satisfied: query.Get("satisfied"), Overdue: query.Get("overdue") == "true", Sort: query.Get("sort"),
		After: query.Get("after"), Labels: map[string]string{}, Limit: pageRows}
	for _, text := range query["phase"] {
		if text == "" {
			continue // the form's "any"
		}
		phase := api.Phase(text)
		if !slices.Contains(api.Phases(), phase) {
			return filter, refusal.New(refusal.Invalid, "phase %q does not exist; there are: %s", text, phaseNames())
		}
		filter.Phases = append(filter.Phases, phase)
	}
	for _, text := range query["label"] {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return filter, refusal.New(refusal.Invalid, "label %q: expected KEY=VALUE", text)
		}
		filter.Labels[name] = value
	}
	for _, name := range []string{"overdue", "satisfied"} {
		if value := query.Get(name); !slices.Contains([]string{"", "true", "false"}, value) {
			return filter, refusal.New(refusal.Invalid, "%s %q: expected true or false", name, value)
		}
	}
	return filter, nil
}

func phaseNames() string {
	var names []string
	for _, phase := range api.Phases() {
		names = append(names, string(phase))
	}
	return wording.List(names)
}

// with is the address of a page of nodes with one parameter changed or removed; it starts at the first row.
func with(query url.Values, name, value string) string {
	changed := url.Values{}
	for key, values := range query {
		if key != "after" && key != name {
			changed[key] = values
		}
	}
	if value != "" {
		changed.Set(name, value)
	}
	if len(changed) == 0 {
		return "/ui/nodes"
	}
	return "/ui/nodes?" + changed.Encode()
}
