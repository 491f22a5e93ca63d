// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"slices"
	"strings"
)

// Verdict is what a selector makes of one disk.
type Verdict struct {
	Disk   Disk
	Chosen bool
	Why    string // not
}

// Explain returns for each disk of the machine why a selector does not choose it; the one without a reason is chosen.
// The error is that of Choose, or, of a step that writes the disk, that it would halve a set.
func (t Table) Explain(selector string, keep []string, writes bool) ([]Verdict, error) {
	chosen, err := t.Choose(selector, keep)
	if err == nil && writes {
		err = t.Whole([]Disk{chosen})
	}
	s, _ := Parse(selector)
	kept, _ := ParseKeep(strings.Join(keep, ";"))
	matching := t.matching(s)
	var list []Verdict
	for _, d := range t {
		if !d.isDisk() {
			continue
		}
		v := Verdict{Disk: d, Chosen: err == nil && !d.Missing && d.Name == chosen.Name}
		if !v.Chosen {
			v.Why = t.why(s, d, kept, matching, chosen)
		}
		list = append(list, v)
	}
	return list, err
}

// All returns for each disk of the machine why a wipe of all disks leaves it out; those without a reason are wiped.
func (t Table) All(keep []string) ([]Verdict, error) {
	kept, err := t.CheckKeep(keep)
	list := t.all(kept)
	if err == nil {
		_, err = t.Take("all", keep)
	}
	for i := range list {
		list[i].Chosen = err == nil && list[i].Why == ""
	}
	return list, err
}

func (t Table) all(kept []Selector) []Verdict {
	var list []Verdict
	for _, d := range t {
		if !d.isDisk() {
			continue
		}
		_, why := t.unfit(d, kept)
		switch first := t.firstPath(d); {
		case d.Missing:
			why = "missing in this boot"
		case why != "":
		case foreign[d.Transport] != "":
			why = foreign[d.Transport]
		case first.Name != d.Name:
			why = "another path of " + first.Name
		}
		list = append(list, Verdict{Disk: d, Why: why})
	}
	return list
}

func (t Table) why(s Selector, d Disk, kept []Selector, matching []Disk, chosen Disk) string {
	_, unfit := t.unfit(d, kept)
	is := func(other Disk) bool { return other.Name == d.Name && other.Missing == d.Missing }
	switch {
	case d.Missing:
		return "missing in this boot"
	case unfit != "":
		return unfit
	case chosen.Name != "" && samePhysical(chosen, d):
		return "another path of " + chosen.Name
	case !s.Matches(d):
		return "does not match"
	case !s.Chooses(d):
		return "to be named: " + attached(d)
	case chosen.Name == d.Name && chosen.Missing == d.Missing:
		return "matches, but others of its set are not taken"
	case slices.ContainsFunc(matching, is) && len(matching) > 1:
		return "matches, as others do"
	case slices.ContainsFunc(matching, is):
		return "matches, but the keep list is refused"
	}
	return "not the smallest, or another path"
}

func attached(d Disk) string {
	if text := foreign[d.Transport]; text != "" {
		return text
	}
	return "attached in an unknown way"
}

// Matching returns one path of each disk that a selector may choose, or "all", without those that are kept. A selector
// that does not parse matches none.
func Matching(selector string, keep []string, disks []Disk) []Disk {
	table := Table(disks)
	kept, _ := ParseKeep(strings.Join(keep, ";"))
	if selector == "all" {
		var all []Disk
		for _, v := range table.all(kept) {
			if v.Why == "" {
				all = append(all, v.Disk)
			}
		}
		return all
	}
	s, err := Parse(selector)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(table.matching(s), func(d Disk) bool {
		kind, _ := table.unfit(d, kept)
		return kind == Kept
	})
}
