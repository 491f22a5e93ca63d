// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// A plan on paper names the disk that the node would choose, as far as its facts tell.
func TestDisks(t *testing.T) {
	reported := []map[string]string{
		{"serial": "S1", "wwn": "eui.01", "path": "pci-0", "model": "PM9A3 MZ", "bytes": "1000", "rotational": "0"},
		{"serial": "S,2", "model": "ST4000", "bytes": "4000", "rotational": "1"},
		{"serial": "USB", "model": "Stick", "bytes": "1000", "rotational": "0", "removable": "1"},
	}
	for selector, want := range map[string]string{
		"serial:S1": "S1", "serial:S%2C2": "S,2", "serial:nosuch": "", "wwn:eui.01": "S1", "path:pci-0": "S1",
		"model:PM*": "S1", "model:*MZ": "S1", "model:P*A*Z": "S1", "model:PM9A3": "", "model:*": "S1 S,2",
		"rotational:1": "S,2", "size:2000-": "S,2", "size:-2000": "S1", "size:1001-3999": "",
		"only": "S1 S,2", "all": "S1 S,2",
		"rotational:0,size:-2000": "S1", "serial:USB": "", "serial:%zz": "",
	} {
		got := ""
		for _, disk := range plan.Disks(selector, reported) {
			if got != "" {
				got += " "
			}
			got += disk["serial"]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
}
