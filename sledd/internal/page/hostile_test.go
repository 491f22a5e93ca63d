// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"html"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func TestHostileTextIsShownCleaned(t *testing.T) {
	for name, texts := range sleddtest.HostileTexts(t) {
		var r api.Rollout
		if err := json.Unmarshal(sleddtest.HostileRollout(t, texts), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		page := render(t, r, r.Seen)
		sleddtest.Printable(t, name, page, "\n\t")
		sleddtest.Printable(t, name+", as a browser reads it", html.UnescapeString(page), "\n\t")
	}
}
