// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

func TestGoodVectorsAreAcceptedAndSurviveEncoding(t *testing.T) {
	for _, c := range vectors.Cases(t, "plan/ok", 20) {
		parsed, err := plan.Parse(c.Text)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if written, err := plan.Encode(parsed); err != nil || written != c.Text {
			t.Errorf("%s: %v, written as\n%s", c.Name, err, written)
		}
	}
}

func TestBadVectorsAreRefused(t *testing.T) {
	for _, c := range vectors.Cases(t, "plan/bad", 90) {
		if parsed, err := plan.Parse(c.Text); err == nil {
			t.Errorf("%s was accepted as %+v", c.Name, parsed)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, table := range []string{"plan/ok", "plan/bad"} {
		for _, c := range vectors.Cases(f, table, 20) {
			f.Add(c.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := plan.Parse(text)
		if err != nil {
			return
		}
		// lower-case %xx grows not, so what was read can be written, unless plain bytes came encoded; then it only shrinks
		written, err := plan.Encode(parsed)
		if err != nil {
			t.Fatalf("accepted but not writable: %v\n%q", err, text)
		}
		again, err := plan.Parse(written)
		if err != nil || again.Generation != parsed.Generation || len(again.Steps) != len(parsed.Steps) {
			t.Fatalf("written as %q, read again: %+v, %v", written, again, err)
		}
	})
}
