// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
)

// nodeDetail prints one node: declaration, status, rescue, binding and hardware.
func (a *app) nodeDetail(n api.Node) {
	declared := "no: sledctl node accept " + n.MAC + " --name NAME"
	if n.Declared {
		declared = "yes, revision " + strconv.FormatInt(n.Revision, 10)
	}
	a.section("node", [][2]string{
		{"name", n.Name}, {"mac", n.MAC}, {"macs", strings.Join(n.MACs, " ")},
		{"declared", declared}, {"architecture", architectureText(n)},
		{"flavour", n.Flavour}, {"disk", n.Disk}, {"keep disks", strings.Join(n.KeepDisks, " ")},
		{"data disks", dataDisksText(n.DataDisks)}, {"boot order", n.BootOrder},
		{"admission", n.Admission},
		{"bmc", bmcText(n.BMC)}, {"labels", labelsText(n.Labels)},
	})
	a.section("status", a.statusRows(n))
	if n.AdmissionState != "" {
		a.section("admission", a.admissionRows(n))
	}
	if n.Rescue != nil {
		a.section("rescue", [][2]string{
			{"started", localTime(n.Rescue.Started)}, {"entered", localTime(n.Rescue.Entered)},
			{"before", string(n.Status.Before)}, {"enter", rescueText(n)},
			{"authorized keys", count(len(n.Rescue.AuthorizedKeys))},
		})
	}
	if b := n.Binding; b != nil {
		rows := append([][2]string{
			{"request", requestWords(n)}, {"generation", strconv.FormatInt(b.Generation, 10)}, {"satisfied", yesNo(b.Satisfied)},
		}, attributeRows(b)...)
		a.section("binding", append(rows, [2]string{"updated", localTime(b.Updated)}))
	}
	a.facts(n.Facts)
	a.hint(n)
}

// dataDisksText is what is mounted where.
func dataDisksText(list []api.DataDisk) string {
	parts := make([]string, 0, len(list))
	for _, d := range list {
		parts = append(parts, fmt.Sprintf("%s: %s %s at %s", d.Name, d.Disk, cmp.Or(d.Filesystem, "ext4"), d.Mount))
	}
	return strings.Join(parts, ", ")
}

// requestWords is what the binding will make of the disks and when, as long as the node has not started with it. A wipe
// and a capture stay in words afterwards: no other row has them.
func requestWords(n api.Node) string {
	b, words := n.Binding, ""
	switch {
	case b.Capture != "":
		words = "its disk is read and becomes image " + b.Capture
	case b.Image == "":
		words = "all disks are wiped, but those that it keeps"
	case b.Generation > n.Status.Generation:
		words = "its disk is wiped and gets image " + b.Image
	}
	if words == "" || b.Generation <= n.Status.Generation {
		return words
	}
	return words + "; " + whenText(api.When(n.Status.Phase, n.Rescue != nil))
}

func (a *app) statusRows(n api.Node) [][2]string {
	s := n.Status
	rows := [][2]string{
		{"phase", a.Screen.phaseText(s.Phase)}, {"since", localTime(s.Since)},
		{"overdue", overdueText(n)}, {"seen", localTime(s.Seen)},
		{"generation", strconv.FormatInt(s.Generation, 10)}, {"image", s.Image}, {"step", stepText(s)},
		{"reason", reasonText(s)}, {"detail", detailText(s)}, {"started by", s.Start},
		{"not by kexec", s.StartNote.String()},
	}
	if s.OS != nil && !s.OS.Confirmed.IsZero() {
		system := fmt.Sprintf("%s %s, kernel %s, machine %s", s.OS.ID, s.OS.Version, s.OS.Kernel, s.OS.MachineID)
		rows = append(rows, [2]string{"system", system}, [2]string{"boots first", bootText(n)})
	}
	if s.OS != nil {
		rows = append(rows, [2]string{"host key", s.OS.HostKey.Fingerprint().String()})
	}
	return rows
}

// overdueText is for how long a node has stood still beyond what its phase allows, and when its step moved last.
func overdueText(n api.Node) string {
	if n.Overdue == 0 {
		return ""
	}
	late := "for " + durationText(time.Duration(n.Overdue)*time.Second)
	if n.Status.Phase.Working() && !n.Status.Moved.IsZero() {
		late += "; bytes last moved " + localTime(n.Status.Moved)
	}
	return late
}

// bootText is what the firmware boots first; empty for BIOS, which does not report it.
func bootText(n api.Node) string {
	text := n.Status.OS.BootOrder.String()
	if current := n.Status.OS.BootCurrent; text != "" && !current.IsZero() {
		text += ", last started " + current.String()
	}
	if n.OtherBootOrder() != "" {
		text += "; declared: " + n.BootOrder
	}
	return text
}

func (a *app) facts(facts *api.Facts) {
	if facts == nil {
		return
	}
	rows := [][2]string{{"seen", localTime(facts.Time)}}
	for _, part := range []struct {
		name   string
		values map[string]api.Identifier
	}{
		{"cpu", facts.CPU}, {"memory", facts.Memory}, {"firmware", facts.Firmware}, {"dmi", facts.DMI},
		{"kernel", facts.Kernel},
	} {
		rows = append(rows, [2]string{part.name, factsText(part.values)})
	}
	a.section("facts", rows)
	keys := []string{"name", "bytes", "serial", "wwn", "path", "model", "rotational", "removable", "readonly"}
	a.hardware("disks", facts.Disks, keys)
	a.hardware("nics", facts.NICs, []string{"name", "mac", "driver", "link", "speed"})
}

// section prints a heading and the rows that have a value.
func (a *app) section(name string, rows [][2]string) {
	_, _ = fmt.Fprintln(a.Out, a.Screen.paint(name, text.Bold))
	for _, row := range rows {
		if row[1] != "" {
			_, _ = fmt.Fprintln(a.Out, a.Screen.hang(fmt.Sprintf("  %-18s%s", row[0], row[1]), 20))
		}
	}
}

// hardware prints a table of things: first the known keys, then those of a newer Sled system.
func (a *app) hardware(name string, things []map[string]api.Identifier, keys []string) {
	if len(things) == 0 {
		return
	}
	known := map[string]bool{}
	for _, key := range keys {
		known[key] = true
	}
	more := map[string]bool{}
	for _, thing := range things {
		for key := range thing {
			if !known[key] {
				more[key] = true
			}
		}
	}
	columns := []column[map[string]api.Identifier]{}
	for _, key := range append(slices.Clone(keys), slices.Sorted(maps.Keys(more))...) {
		columns = append(columns, col(key, func(thing map[string]api.Identifier) string {
			return factText(key,
				thing[key].String())
		}))
	}
	if a.Screen.Terminal && naturalWidth(columns, things) > a.Screen.width() {
		a.section(name, hardwareRows(things))
		return
	}
	_, _ = fmt.Fprintln(a.Out, a.Screen.paint(name, text.Bold))
	printTable(a.Out, a.Screen, columns, things)
}

// hardwareRows is one row for each thing, for a terminal that is too narrow for the table.
func hardwareRows(things []map[string]api.Identifier) [][2]string {
	var rows [][2]string
	for _, thing := range things {
		rest := maps.Clone(thing)
		delete(rest, "name")
		rows = append(rows, [2]string{thing["name"].String(), factsText(rest)})
	}
	return rows
}

func factsText(values map[string]api.Identifier) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !values[key].IsZero() {
			parts = append(parts, key+" "+factText(key, values[key].String()))
		}
	}
	return strings.Join(parts, ", ")
}

// factText is a fact as it was reported; a byte count also in a readable unit.
func factText(key, value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); key == "bytes" && err == nil {
		return fmt.Sprintf("%s (%s)", value, bytesText(n))
	}
	return value
}

// onlyYes is empty for false.
func onlyYes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func localTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateTime)
}
