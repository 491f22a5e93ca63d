// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"bytes"
	"encoding/json"
	"html"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/page"
	"github.com/sled-fleet/sled/sledd/internal/rollout"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

func TestHostileTextIsShownCleaned(t *testing.T) {
	for name, texts := range sleddtest.HostileTexts(t) {
		var r api.Rollout
		if err := json.Unmarshal(sleddtest.HostileRollout(t, texts), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var out bytes.Buffer
		if err := page.Rollout(&out, rollout.Summarise(r, r.Seen)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sleddtest.Printable(t, name, out.String(), "\n\t")
		sleddtest.Printable(t, name+", as a browser reads it", html.UnescapeString(out.String()), "\n\t")
	}
}
