// SPDX-License-Identifier: Apache-2.0

package token_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/token"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestMintedTokensAreFoundWhileTheyLive(t *testing.T) {
	text, record := token.Mint(token.Boot, "52:54:00:77:00:01", 3, now, time.Hour)
	if !strings.HasPrefix(text, "sledb_525400770001_3_") || strings.Contains(record.SHA256, text) {
		t.Fatal(text, record)
	}
	if owner, formed := token.Owner(text); !formed || owner != "525400770001" {
		t.Error(owner, formed)
	}
	other, second := token.Mint(token.Operational, "52:54:00:77:00:01", 3, now, 2*time.Hour)
	records := []token.Record{record, second}
	for _, c := range []struct {
		text string
		at   time.Duration
		want int
	}{
		{text, 0, 0}, {text, time.Hour - 1, 0}, {text, time.Hour, -1}, {other, time.Hour, 1}, {text + "0", 0, -1},
		{"", 0, -1}, {record.SHA256, 0, -1},
	} {
		if got := token.Find(records, c.text, now.Add(c.at)); got != c.want {
			t.Errorf("%q after %s: %d, want %d", c.text, c.at, got, c.want)
		}
	}
	if record.Stale(now.Add(29*time.Minute)) || !record.Stale(now.Add(31*time.Minute)) {
		t.Error("stale is not past half of the life")
	}
}

func TestDerivedTokenDependsOnAllItIsDerivedFrom(t *testing.T) {
	const node = "52:54:00:77:00:01"
	boot, _ := token.Mint(token.Boot, node, 3, now, time.Hour)
	other, _ := token.Mint(token.Boot, node, 3, now, time.Hour)
	text, record := token.Derive(boot, node, 3, now, time.Hour)
	if again, _ := token.Derive(boot, node, 3, now.Add(time.Minute), time.Hour); again != text {
		t.Error("a second derivation gave another token")
	}
	if owner, formed := token.Owner(text); !formed || owner != "525400770001" || !strings.HasPrefix(text, "sledo_") {
		t.Error(text, owner, formed)
	}
	if record.Purpose != token.Operational || record.Generation != 3 ||
		token.Find([]token.Record{record}, text, now) != 0 {
		t.Error(record)
	}
	for _, c := range []struct {
		boot, node string
		generation int64
	}{{other, node, 3}, {boot, "52:54:00:77:00:02", 3}, {boot, node, 4}} {
		different, _ := token.Derive(c.boot, c.node, c.generation, now, time.Hour)
		if different[len(different)-64:] == text[len(text)-64:] {
			t.Errorf("%+v gives the same secret", c)
		}
	}
}

func TestOwnerRefusesOtherForms(t *testing.T) {
	good, _ := token.Mint(token.Boot, "52:54:00:77:00:01", 0, now, time.Hour)
	for _, text := range []string{"", "sledb_", strings.ToUpper(good), good + "0", good[1:], " " + good,
		strings.Replace(good, "_0_", "_00_", 1), token.MintOperator()} {
		if _, formed := token.Owner(text); formed {
			t.Errorf("%q has the form of a node's token", text)
		}
	}
}

func TestRecordsAreBounded(t *testing.T) {
	var records []token.Record
	for i := range 20 {
		_, record := token.Mint(token.Boot, "52:54:00:77:00:01", int64(i), now, time.Hour)
		records = token.Add(records, record, now)
	}
	if len(records) != 8 || records[7].Generation != 19 {
		t.Errorf("%d records, the last of generation %d", len(records), records[len(records)-1].Generation)
	}
	if left := token.Add(records, token.Record{Expires: now.Add(3 * time.Hour)}, now.Add(2*time.Hour)); len(left) != 1 {
		t.Errorf("%d records, want only the one that lives", len(left))
	}
	if left := token.Without(records, token.Boot); len(left) != 0 {
		t.Errorf("%d boot records are left", len(left))
	}
}
