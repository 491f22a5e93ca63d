// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

func relays(t *testing.T) plan.Relays {
	t.Helper()
	made, err := plan.ParseRelays([]string{"10.20.1.5:rack=rack_a", "10.20.2.5:rack=b=c"})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestFetchFromARelay(t *testing.T) {
	bases := []string{"http://10.77.0.1/images", "http://10.77.0.2/images"}
	const here, there = "http://10.77.0.1/images/d12.raw.zst", "http://10.20.1.5/images/d12.raw.zst"
	captured := []string{bases[0] + plan.Captured + "c.raw.zst"}
	many := make([]string, 16)
	for i := range many {
		many[i] = here
	}
	for _, c := range []struct {
		name string
		rack string
		urls []string
		want []string
	}{
		{"with a relay", "rack_a", []string{here}, []string{there, here}},
		{"the second base", "rack_a", []string{"http://a/i", "http://10.77.0.2/images/d12.raw.zst"},
			[]string{there, "http://a/i", "http://10.77.0.2/images/d12.raw.zst"}},
		{"a value with =", "b=c", []string{here}, []string{"http://10.20.2.5/images/d12.raw.zst", here}},
		{"as many as a node takes", "rack_a", many, append([]string{there}, many[1:]...)},
		{"without a relay", "rack_b", []string{here}, []string{here}},
		{"no label", "", []string{here}, []string{here}},
		{"of another server", "rack_a", []string{"http://a/images/d12.raw.zst"}, []string{"http://a/images/d12.raw.zst"}},
		{"captured", "rack_a", captured, captured},
	} {
		labels := map[string]string{"row": "1"}
		if c.rack != "" {
			labels["rack"] = c.rack
		}
		fetched := image()
		fetched.URLs, fetched.Signature = c.urls, strings.Repeat("A", 86)+"=="
		fetched.Statement = "image 2 name=d12 line=d signed=2026-11-23T15:50:00Z digest=" + digest
		labeled := node
		labeled.Labels = labels
		asked := request(labeled, api.BindingSpec{Image: "d12"}, fetched)
		asked.Facts, asked.Site.Relays, asked.Site.Images = oneDisk, relays(t), bases
		p, err := plan.Render(asked)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		text, err := plan.Encode(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := plan.Parse(text); err != nil {
			t.Errorf("%s: a node would refuse\n%s%v", c.name, text, err)
		}
		if got, _ := p.Steps[1].Get("image"); !slices.Equal(strings.Split(got, ","), c.want) {
			t.Errorf("%s: %s, want %v", c.name, got, c.want)
		}
	}
}

func TestReceiveFromARelay(t *testing.T) {
	for _, c := range []struct {
		name   string
		sender *plan.Sender
		rack   string
		want   string
	}{
		{"with a relay", sender(t, "secret of the site"), "rack_a", "10.20.1.5:7001/ea33d3783fe811839cdd2fc7e1f4c943"},
		{"without one", sender(t, ""), "", "192.0.2.1:7001"},
		{"no sender", nil, "rack_a", ""},
	} {
		labeled := node
		labeled.Labels = map[string]string{"rack": c.rack}
		asked := request(labeled, api.BindingSpec{Image: "d12", Transport: "auto"}, image())
		asked.Facts, asked.Site.Sender, asked.Site.Relays = oneDisk, c.sender, relays(t)
		p, err := plan.Render(asked)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, _ := p.Steps[1].Get("multicast"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParseRelays(t *testing.T) {
	for _, text := range []string{"", "10.20.1.5", "10.20.1.5:rack", "10.20.1.5:=a", "10.20.1.5:rack=", "relay:rack=a",
		"::1:rack=a", "10.20.1.5/images:rack=a"} {
		if _, err := plan.ParseRelays([]string{text}); err == nil || !strings.Contains(err.Error(), "ADDRESS:LABEL=VALUE") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := plan.ParseRelays([]string{"10.20.1.5:rack=a", "10.20.1.6:rack=a"}); err == nil {
		t.Error("two relays for the same nodes are taken")
	}
}
