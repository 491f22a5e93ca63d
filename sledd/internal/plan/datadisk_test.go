// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/disk"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// dataNode has a system disk and these data disks, of which each is mounted at /srv/ and its name.
func dataNode(selectors ...string) api.NodeSpec {
	node := api.NodeSpec{Name: "n1", Disk: "serial:SYS"}
	for i, selector := range selectors {
		name := fmt.Sprintf("d%d", i+1)
		node.DataDisks = append(node.DataDisks, api.DataDisk{Name: name, Disk: selector, Mount: "/srv/" + name})
	}
	return node
}

// attached is a disk of that transport.
func attached(name, serial, transport string) map[string]string {
	return map[string]string{"name": name, "serial": serial, "bytes": "1000", "transport": transport}
}

func TestDataDisksComeFirstAndAreKeptByEveryOtherStep(t *testing.T) {
	node := dataNode("serial:D1", "size:1000-,transport:sata")
	node.DataDisks[1].Filesystem = "xfs"
	node.KeepDisks = []string{"serial:KEPT"}
	disks := []map[string]string{attached("a", "SYS", "nvme"), attached("b", "D1", "nvme"), attached("c", "D2", "sata"),
		attached("d", "KEPT", "nvme")}
	for _, configure := range []string{"", api.Unconfigured} {
		p, err := on(request(node, api.BindingSpec{Image: "d12", Configure: configure}, image()), disks...)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := plan.Encode(p)
		lines := strings.Split(strings.TrimSpace(text), "\n")[2:]
		want := []string{
			"layout disk=serial:D1 keep=serial:KEPT name=d1 id=" + plan.DataDiskID("n1", "d1") +
				" filesystem=ext4 mount=/srv/d1",
			"layout disk=serial:D2 keep=serial:KEPT name=d2 id=" + plan.DataDiskID("n1", "d2") +
				" filesystem=xfs mount=/srv/d2",
		}
		if lines[0] != want[0] || lines[1] != want[1] {
			t.Errorf("%s\nwant %s", strings.Join(lines[:2], "\n"), strings.Join(want, "\n"))
		}
		for _, line := range lines[2:] {
			if !strings.Contains(line, "disk=serial:SYS keep=serial:KEPT;serial:D1;serial:D2") &&
				!strings.Contains(line, "disks=serial:SYS keep=serial:KEPT;serial:D1;serial:D2") && line != "reboot" {
				t.Errorf("the data disks are not kept: %s", line)
			}
		}
		if p.Disk() != "serial:SYS" {
			t.Errorf("the plan is about %s", p.Disk())
		}
	}
}

func TestATearDownTakesDataDisks(t *testing.T) {
	// the disk may be missing
	p, err := on(request(dataNode("serial:D1"), api.BindingSpec{}, nil), attached("a", "SYS", "nvme"))
	text, _ := plan.Encode(p)
	if err != nil || !strings.Contains(text, "\nwipe disks=all level=empty\nidle\n") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestAnotherDiskIsNeverADataDisk(t *testing.T) {
	usual := []map[string]string{attached("a", "SYS", "nvme"), attached("b", "D1", "nvme"), attached("c", "D2", "nvme")}
	late := attached("b", "D1", "nvme")
	late["missing"] = "yes"
	twin := usual[:1:1]
	for _, name := range []string{"b", "c"} {
		twin = append(twin, map[string]string{"name": name, "serial": "D1", "wwn": "0x5", "path": "pci-" + name,
			"bytes": "1000", "transport": "sas"})
	}
	for _, c := range []struct {
		name  string
		node  api.NodeSpec
		disks []map[string]string
		words string
		kind  disk.Kind
	}{
		{"absent", dataNode("serial:GONE"), usual, "data disk d1: disk serial:GONE: no disk matches", disk.None},
		{"two match", dataNode("transport:nvme,serial:D1", "transport:nvme"), usual, "data disk d2: ", disk.Several},
		{"the disk of the image", dataNode("serial:SYS"), usual, "disk serial:SYS: a (serial:SYS (1.0 kB)) is a data disk",
			""},
		{"one disk twice", dataNode("serial:D1", "serial:D1"), usual, "data disk d2: b (serial:D1 (1.0 kB)) is another " +
			"data disk already", ""},
		{"one disk by two paths", dataNode("path:pci-b", "path:pci-c"), twin, "data disk d2: b ", ""},
		{"foreign", dataNode("serial:D1"), []map[string]string{usual[0], attached("b", "D1", "iscsi")},
			"attached by iSCSI, so a tear-down would not empty it", ""},
		{"attached in an unknown way", dataNode("serial:D1"), []map[string]string{usual[0], attached("b", "D1", "")},
			"would not empty it", ""},
		{"kept", func() api.NodeSpec {
			node := dataNode("serial:D1")
			node.KeepDisks = []string{"serial:D*", "serial:D1"}[1:]
			return node
		}(), usual, "data disk d1: disk serial:D1: b is on the keep list", disk.Kept},
		{"late", dataNode("size:1000-1000"), []map[string]string{attached("a", "SYS", "usb"), late, usual[2]},
			"is missing in this boot", disk.Absent},
	} {
		pinned, err := on(request(c.node, api.BindingSpec{Image: "d12"}, image()), c.disks...)
		if err == nil || !strings.Contains(err.Error(), c.words) || disk.KindOf(err) != c.kind || len(pinned.Steps) > 0 {
			t.Errorf("%s: %q: %v", c.name, disk.KindOf(err), err)
		}
	}
}

func TestDataDisksAreCheckedWhenDeclared(t *testing.T) {
	good := api.DataDisk{Name: "a", Disk: "serial:D", Mount: "/srv/a"}
	for _, mount := range []string{"/srv/a", "/var/lib/docker", "/home", "/opt/x.y_z-1", "/varlib", "/var/log"} {
		d := good
		d.Mount = mount
		if _, err := plan.CheckDataDisks([]api.DataDisk{d}); err != nil {
			t.Errorf("%s: %v", mount, err)
		}
	}
	for _, mount := range []string{"", "/", "srv", "/srv/", "/srv//a", "/srv/..", "/./srv", "/srv/a b", "/usr", "/etc/x",
		"/boot/efi", "/var", "/var/lib", "/var/lib/cloud/seed", "/root", "/proc"} {
		d := good
		d.Mount = mount
		if _, err := plan.CheckDataDisks([]api.DataDisk{d}); err == nil {
			t.Errorf("%q is accepted", mount)
		}
	}
	for i, d := range []api.DataDisk{
		{Name: "a", Disk: "serial:E", Mount: "/srv/b"}, {Name: "b", Disk: "serial:E", Mount: "/srv/a"},
		{Name: "B", Disk: "serial:E", Mount: "/srv/b"}, {Name: "b", Disk: "/dev/sdb", Mount: "/srv/b"},
		{Name: "b", Disk: "", Mount: "/srv/b"},
	} {
		if at, err := plan.CheckDataDisks([]api.DataDisk{good, d}); err == nil || at != 1 {
			t.Errorf("%d: %d %v", i, at, err)
		}
	}
}

// A disk keeps its GUID when sledd changes: this is what is on disks already.
func TestTheIDOfADataDiskIsThatOfItsNodeAndName(t *testing.T) {
	if id := plan.DataDiskID("n1", "logs"); id != "5cf82ca7-6e7b-88db-bb26-2a5f4ffb552c" {
		t.Error(id)
	}
	ids := map[string]bool{}
	for _, pair := range [][2]string{{"n1", "logs"}, {"n1", "mail"}, {"n2", "logs"}, {"n", "1logs"}} {
		ids[plan.DataDiskID(pair[0], pair[1])] = true
	}
	if len(ids) != 4 {
		t.Errorf("the same id twice: %v", ids)
	}
}
