// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// sortValues are what lists are sorted by, as a client reads it from the nodes.
var sortValues = map[string]func(a, b api.Node) int{
	"name":  func(a, b api.Node) int { return strings.Compare(a.Name, b.Name) },
	"phase": func(a, b api.Node) int { return cmp.Compare(a.Status.Phase, b.Status.Phase) },
	"image": func(a, b api.Node) int { return strings.Compare(a.Status.Image, b.Status.Image) },
	"since": func(a, b api.Node) int { return a.Status.Since.Compare(b.Status.Since) },
	"urgency": func(a, b api.Node) int {
		return cmp.Compare(a.Urgency(), b.Urgency())
	},
	"label:rack":   func(a, b api.Node) int { return strings.Compare(a.Labels["rack"], b.Labels["rack"]) },
	"label:absent": func(_, _ api.Node) int { return 0 },
}

// Pages of a sorted list are the list, each node once, whatever their size.
func TestSortedNodes(t *testing.T) {
	s := sleddtest.Start(t)
	s.Hall(90, time.Now())
	all, err := api.Collect(s.Client().Nodes(t.Context(), api.Filter{}))
	if err != nil || len(all) != 90 {
		t.Fatalf("%d nodes, %v", len(all), err)
	}
	for key, compare := range sortValues {
		for _, reverse := range []string{"", "-"} {
			want := slices.Clone(all)
			slices.SortStableFunc(want, func(a, b api.Node) int {
				if reverse != "" {
					a, b = b, a
				}
				return compare(a, b)
			})
			for _, limit := range []int{1, 7, 45, 89, 90, 91} {
				got, err := api.Collect(s.Client().Nodes(t.Context(), api.Filter{Sort: reverse + key, Limit: limit}))
				if err != nil || macs(got) != macs(want) {
					t.Errorf("by %s%s in pages of %d: %v\n%s, want\n%s", reverse, key, limit, err, macs(got), macs(want))
				}
			}
		}
	}
	failed, err := api.Collect(s.Client().Nodes(t.Context(), api.Filter{Sort: "-name", Phases: []api.Phase{api.Failed}}))
	if err != nil || len(failed) != 4 || failed[0].Name < failed[3].Name {
		t.Errorf("%s, %v", macs(failed), err)
	}
}

func macs(nodes []api.Node) string {
	list := make([]string, len(nodes))
	for i, node := range nodes {
		list[i] = strings.TrimPrefix(node.MAC, "52:54:00:77:")
	}
	return strings.Join(list, " ")
}

// A node that moves or is deleted between two pages does not stop the list, or move others.
func TestASortedListGoesOnWithoutItsCursor(t *testing.T) {
	s := sleddtest.Start(t)
	for i := range 5 {
		s.Declare(i)
	}
	page := s.Ask("GET", "/v1/nodes?sort=-name&limit=2", s.Token, "")
	next := sleddtest.MAC(3) + "/n3"
	if !strings.Contains(page.Body, `"next":"`+next+`"`) {
		t.Fatal(page.Body)
	}
	if err := s.Client().DeleteNode(t.Context(), "n3"); err != nil {
		t.Fatal(err)
	}
	page = s.Ask("GET", "/v1/nodes?sort=-name&limit=2&after="+url.QueryEscape(next), s.Token, "")
	if !strings.Contains(page.Body, `"name":"n2"`) || !strings.Contains(page.Body, `"name":"n1"`) {
		t.Error(page.Body)
	}
}

// A wave of a rollout is read without the rest of the fleet.
func TestListOfNamedNodes(t *testing.T) {
	s := sleddtest.Start(t)
	for i := range 5 {
		s.Declare(i)
	}
	for query, want := range map[string]string{
		"node=n3&node=n1":                        "00:01 00:03",
		"node=" + sleddtest.MAC(2) + "&node=n9":  "00:02",
		"node=52-54-00-77-00-04&node=n4&limit=1": "00:04",
		"node=n9":                                "",
		"node=n1&node=n2&phase=failed":           "",
		"node=n1&node=n2&sort=-name":             "00:02 00:01",
	} {
		var list api.NodeList
		answer := s.Ask("GET", "/v1/nodes?"+query, s.Token, "")
		if err := json.Unmarshal([]byte(answer.Body), &list); err != nil || macs(list.Items) != want || list.Next != "" {
			t.Errorf("%s: %d %q, next %q, want %q; %v", query, answer.Status, macs(list.Items), list.Next, want, err)
		}
	}
	if answer := s.Ask("GET", "/v1/nodes?"+strings.Repeat("node=n1&", 501), s.Token, ""); answer.Status != 422 {
		t.Errorf("501 nodes: %d %s", answer.Status, answer.Body)
	}
}

func TestWhatNodesCannotBeSortedBy(t *testing.T) {
	s := sleddtest.Start(t)
	for query, text := range map[string]string{
		"sort=serial": `sort \"serial\": expected one of name, phase, image, since, urgency or label:KEY, or - and`,
		"sort=label:": "expected one of name", "sort=-": "expected one of name", "sort=--name": "expected one of name",
		"sort=name&after=52:54:00:77:00:01": "of a list with the same sort",
		"after=52:54:00:77:00:01/n1":        "of a list with the same sort",
		"sort=name&after=x/n1":              "of a list with the same sort",
	} {
		if answer := s.Ask("GET", "/v1/nodes?"+query, s.Token, ""); answer.Status != 422 ||
			!strings.Contains(answer.Body, text) {
			t.Errorf("%s: %d %s", query, answer.Status, answer.Body)
		}
	}
}
