// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/patience"
)

// fed is the feed of the fleet as soon as it has an event, as the watch of a sledd may be behind.
func (s *sledd) fed(query, until string) string {
	s.Helper()
	deadline := time.Now().Add(patience.Limit)
	for {
		var text strings.Builder
		for _, e := range as[api.EventList](s.T, s.admin(200, "GET", "/v1/events/newest?"+query, nil)).Items {
			fmt.Fprintf(&text, "%s %s by %s via %s from %s\n", e.Name, e.Kind, e.Actor, e.Via, e.From)
		}
		if strings.Contains(text.String(), until) || time.Now().After(deadline) {
			return text.String()
		}
	}
}

func TestFeedOfTheFleet(t *testing.T) {
	s := fresh(t)
	ci := s.admin(200, "PUT", "/v1/operators/ci", api.Operator{Name: "ci", Role: api.Operate})
	token := as[api.Operator](t, ci).Token
	for i, agent := range []string{"sledctl/0.1.0", "terraform-provider-sled/0.1.0", "sled.fleet", "curl/8", ""} {
		spec := fmt.Sprintf(`{"mac":"%s","name":"n%d","disk":"only"}`, address(i+1), i+1)
		answer := s.AskBehind("PUT", "/v1/nodes/"+address(i+1), token, spec, "X-Forwarded-For", "10.0.0.9",
			"User-Agent", agent)
		if answer.Status != 200 {
			t.Fatalf("%s: %d %s", agent, answer.Status, answer.Body)
		}
	}
	s.Bind(api.BindingSpec{Node: "n1"})
	s.Machine(1).Poll(0)
	const declared = " declare by ci via "
	want := "n1" + declared + "sledctl from 10.0.0.9\nn2" + declared + "terraform from 10.0.0.9\n" +
		"n3" + declared + "ansible from 10.0.0.9\nn4" + declared + "other from 10.0.0.9\n" +
		"n5" + declared + "other from 10.0.0.9\n"
	all := s.fed("", "n1 plan by  via ")
	if !strings.Contains(all, want) || !strings.Contains(all, "n1 bind by admin via other from 127.0.0.1\n") {
		t.Errorf("got\n%swant\n%s", all, want)
	}
	if got := s.fed("by=ci", declared); got != want {
		t.Errorf("by ci:\n%s", got)
	}
	if got := s.fed("kind=bind&kind=plan", " bind "); strings.Count(got, "\n") != 2 {
		t.Errorf("of two kinds:\n%s", got)
	}
	if got := s.fed("by=ci&limit=1", "n5"); strings.Count(got, "\n") != 1 {
		t.Errorf("the newest:\n%s", got)
	}
	if got := s.fed("since="+url.QueryEscape(s.now().Add(time.Hour).Format(time.RFC3339)), ""); got != "" {
		t.Errorf("of the future:\n%s", got)
	}
	s.admin(422, "GET", "/v1/events/newest?since=yesterday", nil)
	for _, r := range as[api.AuditList](t, s.admin(200, "GET", "/v1/audit?node="+url.QueryEscape(address(2)), nil)).Items {
		if r.Via != "terraform" {
			t.Errorf("audited via %q", r.Via)
		}
	}
}
