// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"net/url"
	"strconv"
	"strings"
)

// Disks returns those of the reported disks that a selector matches (contract/plan.md, "Disk selectors"), or all, as
// far as facts tell: what is mounted or in use is known to the node alone.
func Disks(selector string, reported []map[string]string) []map[string]string {
	var matching []map[string]string
	for _, disk := range reported {
		if disk["removable"] != "1" && matchesAll(selector, disk) {
			matching = append(matching, disk)
		}
	}
	return matching
}

func matchesAll(selector string, disk map[string]string) bool {
	for _, term := range strings.Split(selector, ",") {
		if !matchesTerm(term, disk) {
			return false
		}
	}
	return true
}

func matchesTerm(term string, disk map[string]string) bool {
	name, encoded, _ := strings.Cut(term, ":")
	value, err := url.PathUnescape(encoded)
	if err != nil {
		return false
	}
	switch name {
	case "only", "all":
		return true
	case "serial", "wwn", "path", "rotational":
		return disk[name] == value
	case "model":
		return matchesGlob(value, disk["model"])
	case "size":
		return matchesSize(value, disk["bytes"])
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

func matchesSize(limits, text string) bool {
	bytes, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return false
	}
	low, high, _ := strings.Cut(limits, "-")
	if least, err := strconv.ParseInt(low, 10, 64); low != "" && (err != nil || bytes < least) {
		return false
	}
	most, err := strconv.ParseInt(high, 10, 64)
	return high == "" || err == nil && bytes <= most
}
