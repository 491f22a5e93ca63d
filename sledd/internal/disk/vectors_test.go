// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/disk"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// one is a case of contract/vectors/disk/choose.
type one struct {
	name     string
	table    disk.Table
	selector string
	wipe     bool // the selectors are those of a wipe, or all
	keep     []string
	want     string // the disk, or the kind of the refusal
	pin      string
	chosen   bool // want is a disk
}

func vectors(t testing.TB) []one {
	t.Helper()
	text, err := os.ReadFile("../../../contract/vectors/disk/choose")
	if err != nil {
		t.Fatal(err)
	}
	var cases []one
	var table disk.Table
	name := ""
	for text := range strings.Lines(string(text)) {
		text = strings.TrimSuffix(text, "\n")
		if text == "" || text[0] == '#' {
			continue
		}
		if after, found := strings.CutPrefix(text, "table "); found {
			name, table = after, nil
			continue
		}
		line, err := operand.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		values := line.Map()
		if line.Word == "disk" {
			table = append(table, disk.Read(func(key string) string { return values[key] }))
			continue
		}
		c := one{name: name + ": " + text, table: table, selector: values["select"], want: values["refuse"]}
		if keep, given := line.Get("keep"); given {
			c.keep = strings.Split(keep, ";")
		}
		if selectors, given := line.Get("disks"); given {
			c.selector, c.wipe = selectors, true
		}
		if c.want == "" {
			c.want, c.pin, c.chosen = values["disk"]+values["take"], values["pin"], true
		}
		cases = append(cases, c)
	}
	if len(cases) < 80 {
		t.Fatalf("%d cases", len(cases))
	}
	return cases
}

// outcome is the disks that a step takes which writes them, or the kind of the refusal.
func (c one) outcome(selectors string) string {
	if selectors == "all" && !c.wipe {
		_, err := c.table.Choose(selectors, c.keep)
		return string(disk.KindOf(err))
	}
	taken, err := c.table.Take(selectors, c.keep)
	if err != nil {
		return string(disk.KindOf(err))
	}
	names := make([]string, len(taken))
	for i, d := range taken {
		names[i] = d.Name
	}
	return strings.Join(names, ",")
}

func TestVectors(t *testing.T) {
	for _, c := range vectors(t) {
		if got := c.outcome(c.selector); got != c.want {
			t.Errorf("%s: got %s", c.name, got)
			continue
		}
		if !c.chosen || c.wipe {
			continue
		}
		chosen, _ := c.table.Choose(c.selector, c.keep)
		pin, err := c.table.Pin(chosen)
		if pin != c.pin || (c.pin == "") != (disk.KindOf(err) == disk.Unnamed) {
			t.Errorf("%s: pinned as %q, %v", c.name, pin, err)
		}
		if c.pin != "" && c.outcome(c.pin) != c.want {
			t.Errorf("%s: the pin chooses %s", c.name, c.outcome(c.pin))
		}
	}
}

func TestEveryOtherDiskHasAReason(t *testing.T) {
	for _, c := range vectors(t) {
		if c.wipe {
			continue
		}
		list, err := c.table.Explain(c.selector, c.keep, true)
		if (err == nil) != c.chosen {
			t.Errorf("%s: %v", c.name, err)
		}
		chosen := 0
		for _, v := range list {
			if v.Chosen {
				chosen++
			}
			if v.Chosen != (v.Why == "") || v.Chosen && v.Disk.Name != c.want {
				t.Errorf("%s: %+v", c.name, v)
			}
		}
		if c.chosen != (chosen == 1) {
			t.Errorf("%s: %d disks are chosen", c.name, chosen)
		}
	}
}

func FuzzChoose(f *testing.F) {
	cases := vectors(f)
	for _, c := range cases {
		f.Add(c.selector, strings.Join(c.keep, ";"))
	}
	tables := map[string]disk.Table{}
	for _, c := range cases {
		before, _, _ := strings.Cut(c.name, ":")
		tables[before] = c.table
	}
	f.Fuzz(func(t *testing.T, selector, keep string) {
		for name, table := range tables {
			chosen, err := table.Choose(selector, []string{keep})
			list, _ := table.Explain(selector, []string{keep}, false)
			if err != nil && disk.KindOf(err) == "" {
				t.Errorf("%s: %v is no refusal", name, err)
			}
			for _, v := range list {
				if v.Chosen && (err != nil || v.Disk != chosen) {
					t.Errorf("%s: %s keep %s explains %v", name, selector, keep, v)
				}
			}
		}
	})
}
