// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"encoding/json"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
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
