// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"strings"
	"testing"
)

func TestRequirement(t *testing.T) {
	for _, c := range []struct {
		text        string
		nodes, need int
	}{
		{"all", 7, 7}, {"all", 0, 0}, {"100%", 7, 7}, {"90%", 10, 9}, {"90%", 7, 7}, {"50%", 7, 4},
		{"1%", 1000, 10}, {"1%", 1001, 11},
		{"90%", 0, 0}, {"20", 20, 20}, {"20", 1000, 20}, {"1", 1, 1},
	} {
		required, err := parseRequirement(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if need, err := required.of(c.nodes); err != nil || need != c.need {
			t.Errorf("%s of %d: got %d, %v, want %d", c.text, c.nodes, need, err, c.need)
		}
	}
}

func TestRequirementThatIsNone(t *testing.T) {
	for text, says := range map[string]string{
		"": `require is ""`, "most": "want all, a number", "-1": "want all", "1.5": "want all", "20 %": "want all",
		"٣":                    "want all",
		"99999999999999999999": "want all", "0": "at least 1 node", "0%": "1% to 100%", "101%": "1% to 100%",
	} {
		if required, err := parseRequirement(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, %v, want an error with %q", text, required, err, says)
		}
	}
	required, err := parseRequirement("4")
	if err != nil {
		t.Fatal(err)
	}
	if need, err := required.of(3); err == nil || !strings.Contains(err.Error(), "nodes has only 3") {
		t.Errorf("4 of 3: got %d, %v", need, err)
	}
}
