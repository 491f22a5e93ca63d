// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"encoding/json"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
)

// A plan on paper names the disk that the node would choose, as far as its facts tell.
func TestDisks(t *testing.T) {
	var facts api.Facts
	err := json.Unmarshal([]byte(`{"disks": [
		{"serial": "S1", "wwn": "eui.01", "path": "pci-0", "model": "PM9A3 MZ", "bytes": "1000", "rotational": "0",
			"transport": "nvme"},
		{"serial": "S,2", "model": "ST4000", "bytes": "4000", "rotational": "1", "transport": "sata"},
		{"serial": "USB", "model": "Stick", "bytes": "1000", "rotational": "0", "removable": "1"}]}`), &facts)
	if err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]string{
		"serial:S1": "S1", "serial:S%2C2": "S,2", "serial:nosuch": "", "wwn:eui.01": "S1", "path:pci-0": "S1",
		"model:PM*": "S1", "model:*MZ": "S1", "model:P*A*Z": "S1", "model:PM9A3": "", "model:*": "S1 S,2",
		"rotational:1": "S,2", "size:2000-": "S,2", "size:-2000": "S1", "size:1001-3999": "",
		"only": "S1 S,2", "all": "S1 S,2",
		"rotational:0,size:-2000": "S1", "serial:USB": "", "serial:%zz": "",
	} {
		got := ""
		for _, disk := range api.Matching(selector, nil, facts.Candidates()) {
			if got != "" {
				got += " "
			}
			got += disk.Serial
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
}

func TestASelectorIsShownWithTheDiskThatItMeans(t *testing.T) {
	facts := api.Facts{Disks: nodetexttest.Devices(
		map[string]string{"serial": "S1", "model": "PM9A3", "bytes": "960000000000", "transport": "nvme"},
		map[string]string{"serial": "S2", "model": "PM9A3", "bytes": "3840000000000", "transport": "nvme"})}
	late := api.Facts{Disks: facts.Disks[:1], Missing: facts.Disks[1:]}
	for _, c := range []struct {
		facts          *api.Facts
		selector, want string
	}{
		{&facts, "smallest", "smallest, now serial:S1 (PM9A3, 960 GB),"},
		{&facts, "serial:S1", "serial:S1"}, {&facts, "only", "only"}, {&facts, "size:1-2", "size:1-2"},
		{&late, "only", "only"}, {&late, "size:1000000000000-", "size:1000000000000-"}, {nil, "only", "only"},
	} {
		if got := api.MeantBy(c.selector, nil, c.facts.Candidates()); got != c.want {
			t.Errorf("%s: got %s, want %s", c.selector, got, c.want)
		}
	}
}
