// SPDX-License-Identifier: Apache-2.0

package show

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// Node prints one node: declaration, status, detour, binding and hardware.
func (p *Printer) Node(n api.Node) {
	declared := "no: sledctl node accept " + n.MAC + " --name NAME"
	if n.Declared {
		declared = "yes, revision " + strconv.FormatInt(n.Revision, 10)
	}
	p.Section("node", append(wording.DeclaredNode(n), [2]string{"declared", declared}))
	p.Section("status", p.statusRows(n))
	if n.AdmissionState != "" {
		p.Section("admission", p.admissionRows(n))
	}
	p.rescue(n)
	if b := n.Binding; b != nil {
		rows := append([][2]string{
			{"request", wording.Effect(n)}, {"generation", strconv.FormatInt(b.Generation, 10)},
			{"satisfied", wording.YesNo(b.Satisfied)}, {"hands over", wording.OnlyYes(b.HandsOver)},
		}, attributeRows(b)...)
		p.Section("binding", append(rows, [2]string{"updated", wording.Time(b.Updated)}))
	}
	p.facts(n.Facts)
	p.Hint(n)
}

func (p *Printer) statusRows(n api.Node) [][2]string {
	s := n.Status
	image, disk := wording.Runs(n)
	rows := [][2]string{
		{"phase", p.Screen.Phase(s.Phase)}, {"since", wording.Time(s.Since)},
		{"overdue", wording.Overdue(n)}, {"seen", wording.Time(s.Seen)},
		{"generation", strconv.FormatInt(s.Generation, 10)}, {"image", image},
		{"confirmed", s.Confirmed.String()}, {"disk", disk}, {"step", wording.Step(s)},
		{"wait", n.Wait.Text()}, {"reason", wording.Reason(s)}, {"detail", wording.Detail(s)}, {"started by", s.Start},
		{"not by kexec", s.StartNote.String()},
	}
	if s.OS != nil && !s.OS.Confirmed.IsZero() {
		system := fmt.Sprintf("%s %s, kernel %s, machine %s", s.OS.ID, s.OS.Version, s.OS.Kernel, s.OS.MachineID)
		rows = append(rows, [2]string{"system", system}, [2]string{"boots first", wording.BootOrder(n)},
			[2]string{"not in use", n.Status.OS.Lacks.String()})
	}
	if s.OS != nil {
		rows = append(rows, [2]string{"host key", s.OS.HostKey.Fingerprint().String()})
	}
	return rows
}

func (p *Printer) facts(facts *api.Facts) {
	if facts == nil {
		return
	}
	rows := [][2]string{{"seen", wording.Time(facts.Time)}}
	for _, part := range []struct {
		name   string
		values map[string]api.Identifier
	}{
		{"cpu", facts.CPU}, {"memory", facts.Memory}, {"firmware", facts.Firmware}, {"dmi", facts.DMI},
		{"kernel", facts.Kernel},
	} {
		rows = append(rows, [2]string{part.name, wording.Facts(part.values)})
	}
	p.Section("facts", rows)
	keys := []string{"name", "bytes", "serial", "wwn", "path", "model", "rotational", "removable", "readonly"}
	p.hardware("disks", facts.Disks, keys)
	p.hardware("partitions", facts.Partitions, []string{"disk", "number", "label", "uuid", "bytes", "type"})
	p.hardware("nics", facts.NICs, []string{"name", "mac", "driver", "link", "speed"})
}

// hardware prints a table of things: first the known keys, then those of a newer Sled system.
func (p *Printer) hardware(name string, things []map[string]api.Identifier, keys []string) {
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
	columns := []Column[map[string]api.Identifier]{}
	for _, key := range append(slices.Clone(keys), slices.Sorted(maps.Keys(more))...) {
		columns = append(columns, Col(key, func(thing map[string]api.Identifier) string {
			return wording.Fact(key,
				thing[key].String())
		}))
	}
	if p.Screen.Terminal && naturalWidth(columns, things) > p.Screen.Width() {
		p.Section(name, hardwareRows(things))
		return
	}
	_, _ = fmt.Fprintln(p.Out, p.Screen.Paint(name, text.Bold))
	Table(p.Out, p.Screen, columns, things)
}

// hardwareRows is one row for each thing, for a terminal that is too narrow for the table.
func hardwareRows(things []map[string]api.Identifier) [][2]string {
	var rows [][2]string
	for _, thing := range things {
		rest, name := maps.Clone(thing), thing["name"].String()
		delete(rest, "name")
		if disk, of := thing["disk"]; of {
			name = disk.String() + " " + thing["number"].String()
			delete(rest, "disk")
			delete(rest, "number")
		}
		rows = append(rows, [2]string{name, wording.Facts(rest)})
	}
	return rows
}
