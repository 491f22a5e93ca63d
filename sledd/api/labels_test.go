// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestCheckLabels(t *testing.T) {
	for name, value := range map[string]string{"rack": "a", "captured-from": "n1", "example.org/Row_1": "row 3 = left",
		"r": "", strings.Repeat("a", 63): strings.Repeat("ü", 127)} {
		if _, err := api.CheckLabels(map[string]string{name: value}); err != nil {
			t.Errorf("%q=%q: %v", name, value, err)
		}
	}
	for name, value := range map[string]string{"a b": "x", "": "x", "a=b": "x", "-a": "x", "ä": "x",
		strings.Repeat("a", 64): "x", "v": " x", "w": "x\n", "x": "a\tb", "y": strings.Repeat("a", 256)} {
		if at, err := api.CheckLabels(map[string]string{"rack": "a", name: value}); err == nil || at != name {
			t.Errorf("%q=%q: %q, %v", name, value, at, err)
		}
	}
}
