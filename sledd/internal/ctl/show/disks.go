// SPDX-License-Identifier: Apache-2.0

package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

var diskColumns = []Column[api.NodeDisk]{
	Col("disk", func(d api.NodeDisk) string { return wording.Clean(d.Name) }),
	Col("serial", func(d api.NodeDisk) string { return wording.Clean(d.Serial) }),
	Col("verdict", func(d api.NodeDisk) string {
		if d.Chosen {
			return "chosen"
		}
		return wording.Clean(d.Why)
	}).Wraps(15),
	Col("size", func(d api.NodeDisk) string { return wording.Bytes(d.Bytes) }).Spare(),
	Col("by", func(d api.NodeDisk) string { return cmp.Or(wording.Clean(d.Transport), "?") }).Spare(),
	Col("model", func(d api.NodeDisk) string { return wording.Clean(d.Model) }).Spare(),
	Col("wwn", func(d api.NodeDisk) string { return wording.Clean(d.WWN) }).Spare(),
	Col("path", func(d api.NodeDisk) string { return wording.Clean(d.Path) }).Spare(),
}

// hiddenAt is where the column of what disks hide is: next to the size, if any hides something.
const hiddenAt = 4

// hiddenText is "1.0 MB by HPA, ...", or what a node wrote otherwise.
func hiddenText(d api.NodeDisk) string {
	var texts []string
	for part := range strings.SplitSeq(d.Hidden, ",") {
		kind, count, _ := strings.Cut(part, ":")
		bytes, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return wording.Clean(d.Hidden)
		}
		texts = append(texts, wording.Bytes(bytes)+" by "+wording.Clean(strings.ToUpper(kind)))
	}
	return strings.Join(texts, ", ")
}

// NodeDisks prints which disk a selector means, and why not the others.
func (p *Printer) NodeDisks(disks api.NodeDisks) {
	columns := diskColumns
	if slices.ContainsFunc(disks.Disks, func(d api.NodeDisk) bool { return d.Hidden != "" }) {
		columns = slices.Insert(slices.Clone(columns), hiddenAt, Col("hidden", hiddenText))
	}
	Table(p.Out, p.Screen, columns, disks.Disks)
	for _, row := range [][2]string{{"selector", wording.Clean(disks.Match)}, {"in a plan", wording.Clean(disks.Planned)},
		{"reported", wording.Time(disks.Time)}} {
		if row[1] != "" {
			_, _ = fmt.Fprintln(p.Out, p.Screen.Hang(fmt.Sprintf("%-11s%s", row[0], row[1]), 11))
		}
	}
}
