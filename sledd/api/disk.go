// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Disk identifies a disk.
type Disk struct {
	Serial string `json:"serial,omitempty"`
	WWN    string `json:"wwn,omitempty"`
	Path   string `json:"path,omitempty"`
	Model  string `json:"model,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	// Rotational is 0 or 1, as reported.
	Rotational string `json:"rotational,omitempty"`
}

// String identifies the disk as a selector does, with model and size in parentheses.
func (d Disk) String() string {
	name := "path:" + d.Path
	switch {
	case d.Serial != "":
		name = "serial:" + d.Serial
	case d.WWN != "":
		name = "wwn:" + d.WWN
	}
	if d.Model == "" {
		return fmt.Sprintf("%s (%s)", name, size(d.Bytes))
	}
	return fmt.Sprintf("%s (%s, %s)", name, d.Model, size(d.Bytes))
}

// size of a disk in decimal units, as vendors state it.
func size(bytes int64) string {
	value, units := float64(bytes), []string{"B", "kB", "MB", "GB", "TB", "PB"}
	for len(units) > 1 && value >= 1000 {
		value, units = value/1000, units[1:]
	}
	if value < 10 && units[0] != "B" {
		return fmt.Sprintf("%.1f %s", value, units[0])
	}
	return fmt.Sprintf("%.0f %s", value, units[0])
}

// Candidates are the reported disks that a selector may match.
func (f *Facts) Candidates() []Disk {
	var disks []Disk
	if f == nil {
		return nil
	}
	for _, reported := range f.Disks {
		if reported["removable"].String() == "1" {
			continue
		}
		bytes, _ := strconv.ParseInt(reported["bytes"].String(), 10, 64) // 0: not reported
		disks = append(disks, Disk{Serial: reported["serial"].String(), WWN: reported["wwn"].String(),
			Path: reported["path"].String(), Model: reported["model"].String(), Bytes: bytes,
			Rotational: reported["rotational"].String()})
	}
	return disks
}

// Matching returns those disks that a selector matches (contract/plan.md, "Disk selectors"), or AllDisks, without those
// that are kept; as far as facts tell: what is mounted or in use is known to the node alone.
func Matching(selector string, keep []string, disks []Disk) []Disk {
	var matching []Disk
	for _, disk := range disks {
		if disk.matches(selector) && !slices.ContainsFunc(keep, disk.matches) {
			matching = append(matching, disk)
		}
	}
	return matching
}

func (d Disk) matches(selector string) bool {
	for _, term := range strings.Split(selector, ",") {
		if !d.matchesTerm(term) {
			return false
		}
	}
	return true
}

func (d Disk) matchesTerm(term string) bool {
	name, encoded, _ := strings.Cut(term, ":")
	value, err := url.PathUnescape(encoded)
	if err != nil {
		return false
	}
	switch name {
	case "only", AllDisks:
		return true
	case "serial":
		return d.Serial == value
	case "wwn":
		return d.WWN == value
	case "path":
		return d.Path == value
	case "rotational":
		return d.Rotational == value
	case "model":
		return matchesGlob(value, d.Model)
	case "size":
		return matchesSize(value, d.Bytes)
	}
	return false
}

// matchesGlob knows only *, any run of characters.
func matchesGlob(glob, text string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == text
	}
	rest, found := strings.CutPrefix(text, parts[0])
	if !found {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

func matchesSize(limits string, bytes int64) bool {
	low, high, _ := strings.Cut(limits, "-")
	if least, err := strconv.ParseInt(low, 10, 64); low != "" && (err != nil || bytes < least) {
		return false
	}
	most, err := strconv.ParseInt(high, 10, 64)
	return high == "" || err == nil && bytes <= most
}
