// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"encoding/json"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func TestHostileReasonsAreCleaned(t *testing.T) {
	for name, texts := range sleddtest.HostileTexts(t) {
		for i := range texts {
			var node api.Node
			rotated := append(append([]string{}, texts[i:]...), texts[:i]...)
			if err := json.Unmarshal(sleddtest.HostileNode(t, "52:54:00:77:00:01", "n1", rotated), &node); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sleddtest.Printable(t, name, reason(node.Status), "")
		}
	}
}
