// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is why no disk is chosen.
type Kind string

// The kinds of refusals. Those in front of absent are words of contract/vectors/disk/choose.
const (
	Syntax   Kind = "syntax"   // a selector does not parse
	Keep     Kind = "keep"     // an entry of the keep list matches no disk
	None     Kind = "none"     // no disk matches
	Several  Kind = "several"  // more than one does
	Kept     Kind = "kept"     // the one that does is on the keep list
	ReadOnly Kind = "readonly" // or read-only
	Half     Kind = "set"      // or a member of a set of which another member is not taken
	Absent   Kind = "absent"   // a description matches a disk that is missing now
	Unnamed  Kind = "unnamed"  // no identity belongs to the disk alone
)

// RefusedError is why no disk is chosen.
type RefusedError struct {
	Kind Kind
	Text string
}

func (r *RefusedError) Error() string { return r.Text }

func refuse(kind Kind, format string, args ...any) error {
	return &RefusedError{kind, fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of a refusal; empty for another error.
func KindOf(err error) Kind {
	var r *RefusedError
	if errors.As(err, &r) {
		return r.Kind
	}
	return ""
}

// Table is the disks of a node, and those that it had before.
type Table []Disk

// CheckKeep parses a keep list, and refuses an entry that matches no disk: what it was meant to keep would not be kept.
func (t Table) CheckKeep(keep []string) ([]Selector, error) {
	if len(keep) == 0 {
		return nil, nil
	}
	list, err := ParseKeep(strings.Join(keep, ";"))
	if err != nil {
		return nil, refuse(Syntax, "keep: %v", err)
	}
	for _, entry := range list {
		if entry.namesPartition() { // that the node alone knows
			continue
		}
		if !slices.ContainsFunc(t, func(d Disk) bool { return !d.Missing && d.isDisk() && entry.Matches(d) }) {
			return nil, refuse(Keep, "keep %s: no disk matches; correct the entry, or remove it if its disk is gone",
				entry.Text)
		}
	}
	return list, nil
}

// Choose returns the one disk that a selector means, if a plan may write it.
func (t Table) Choose(selector string, keep []string) (Disk, error) {
	s, err := Parse(selector)
	if err != nil {
		return Disk{}, refuse(Syntax, "%v", err)
	}
	kept, err := t.CheckKeep(keep)
	if err != nil {
		return Disk{}, err
	}
	matching := t.matching(s)
	present := slices.DeleteFunc(slices.Clone(matching), func(d Disk) bool { return d.Missing })
	switch {
	case len(matching) == 0:
		return Disk{}, refuse(None, "disk %s: no disk matches", selector)
	case len(present) > 1:
		return Disk{}, refuse(Several, "disk %s: %d disks match", selector, len(present))
	case len(present) < len(matching):
		gone := matching[slices.IndexFunc(matching, func(d Disk) bool { return d.Missing })]
		return Disk{}, refuse(Absent, "disk %s: %s matches too, and is missing in this boot; name the disk by serial, "+
			"wwn or path", selector, gone)
	}
	chosen := t.firstPath(present[0])
	if kind, why := t.unfit(chosen, kept); why != "" {
		return Disk{}, refuse(kind, "disk %s: %s is %s", selector, chosen.Name, why)
	}
	return chosen, nil
}

// matching returns one path of each disk that a selector matches. Only a description may mean a disk that is missing.
func (t Table) matching(s Selector) []Disk {
	var found []Disk
	for _, d := range t {
		again := func(other Disk) bool { return samePhysical(d, other) }
		if d.Candidate() && s.Chooses(d) && (!d.Missing || !s.Identifies()) && !slices.ContainsFunc(found, again) {
			found = append(found, d)
		}
	}
	if s.has("smallest") && len(found) > 0 {
		least := slices.MinFunc(found, func(a, b Disk) int { return int(min(1, max(-1, a.Bytes-b.Bytes))) }).Bytes
		found = slices.DeleteFunc(found, func(d Disk) bool { return d.Bytes > least })
	}
	return found
}

// paths returns all paths of a disk, itself included.
func (t Table) paths(of Disk) []Disk {
	var paths []Disk
	for _, d := range t {
		if !d.Missing && (d.Name == of.Name || samePhysical(d, of)) {
			paths = append(paths, d)
		}
	}
	return paths
}

func (t Table) firstPath(of Disk) Disk {
	for _, d := range t.paths(of) {
		if d.Candidate() {
			return d
		}
	}
	return of
}

// unfit returns why a disk must not be written, by this path or another; empty: it may.
func (t Table) unfit(d Disk, kept []Selector) (Kind, string) {
	if !d.Candidate() {
		return None, d.excluded
	}
	for _, path := range t.paths(d) {
		if slices.ContainsFunc(kept, func(s Selector) bool { return s.Matches(path) }) {
			return Kept, "on the keep list"
		}
	}
	for _, path := range t.paths(d) {
		if path.ReadOnly {
			return ReadOnly, "read-only"
		}
	}
	return "", ""
}

// Pin returns the selector that names a disk by its identity: by wwn, else serial, else path; by several of them where
// one is not unique.
func (t Table) Pin(d Disk) (string, error) {
	var names []string
	for _, one := range []struct{ kind, value string }{{"wwn", d.WWN}, {"serial", d.Serial}, {"path", d.Path}} {
		if one.value != "" {
			names = append(names, one.kind+":"+encoder.Replace(one.value))
		}
	}
	tries := slices.Clone(names)
	if len(names) == 3 {
		tries = append(tries, names[0]+","+names[1], names[0]+","+names[2], names[1]+","+names[2])
	}
	for _, selector := range append(tries, strings.Join(names, ",")) {
		if s, err := Parse(selector); err == nil && len(t.matching(s)) == 1 {
			return selector, nil
		}
	}
	return "", refuse(Unnamed, "disk %s has no serial number, wwn or path that no other disk has", d.Name)
}
