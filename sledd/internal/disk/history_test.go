// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/disk"
)

func reported(line string) disk.Disk {
	values := map[string]string{}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		values[key] = value
	}
	return disk.Read(func(key string) string { return values[key] })
}

func nvme(number int, serial string, bytes int64) disk.Disk {
	return reported(fmt.Sprintf("name=nvme%dn1 serial=%s wwn=eui.%s path=pci-%s-nvme-1 model=PM9A3 bytes=%d rotational=0 "+
		"transport=nvme", number, serial, serial, serial, bytes))
}

// machine is the disks of a node over its boots, as sledd keeps them.
type machine struct{ known disk.Table }

// boots reports the disks that a boot finds.
func (m *machine) boots(found ...disk.Disk) disk.Table {
	m.known = append(append(disk.Table{}, found...), disk.Missing(m.known, found)...)
	return m.known
}

const (
	meant = 960_000_000_000
	data  = 3_840_000_000_000
)

// selectors mean the disk OS, and each of them matches the others too once that one is gone.
var selectors = []string{"only", "smallest", "size:900000000000-", "rotational:0", "model:PM9A3", "transport:nvme",
	"smallest,model:PM*", "serial:OS", "wwn:eui.OS", "path:pci-OS-nvme-1"}

// TestNoOtherDiskIsTaken lets disks come late, die, be exchanged and change their names between the boots and the steps
// of a plan. A plan is made with the disks of one moment, and its steps run with those of others.
func TestNoOtherDiskIsTaken(t *testing.T) {
	usb := reported("name=sda serial=USB bytes=1000000000000 rotational=0 transport=usb")
	taken := 0
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		m := machine{}
		m.boots(nvme(0, "OS", meant), nvme(1, "DATA", data))
		for range 20 {
			var found []disk.Disk
			for _, d := range []disk.Disk{nvme(0, "OS", meant), nvme(1, "DATA", data), nvme(2, "EXCHANGED", meant), usb} {
				if random.IntN(2) == 0 {
					d.Name = fmt.Sprintf("nvme%dn1", len(found))
					found = append(found, d)
				}
			}
			random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
			table := m.boots(found...)
			for _, selector := range selectors {
				chosen, err := table.Choose(selector, nil)
				if err != nil {
					continue
				}
				taken++
				if chosen.Serial != "OS" {
					t.Errorf("seed %d: %s takes %s of %v", seed, selector, chosen, table)
				}
			}
		}
	}
	if taken == 0 {
		t.Error("the disk that is meant was never taken")
	}
}

func TestADiskThatIsLateOrDead(t *testing.T) {
	m := machine{}
	both := m.boots(nvme(0, "OS", meant), nvme(1, "DATA", data))
	chosen, err := both.Choose("smallest", nil)
	if err != nil || chosen.Serial != "OS" {
		t.Fatalf("both: %v, %v", chosen, err)
	}
	pin, err := both.Pin(chosen)
	if err != nil || pin != "wwn:eui.OS" {
		t.Fatalf("pinned as %s, %v", pin, err)
	}
	late := m.boots(nvme(0, "DATA", data))
	for selector, want := range map[string]disk.Kind{"smallest": disk.Absent, "only": disk.Absent, pin: disk.None,
		"serial:OS": disk.None, "size:-1000000000000": disk.Absent} {
		if chosen, err := late.Choose(selector, nil); disk.KindOf(err) != want {
			t.Errorf("%s while it is late: %v, %v", selector, chosen, err)
		}
	}
	if chosen, err := late.Choose("serial:DATA", nil); err != nil || chosen.Serial != "DATA" {
		t.Errorf("one that is named is not held up: %v, %v", chosen, err)
	}
	if _, err := late.Choose("serial:DATA", []string{"serial:OS"}); disk.KindOf(err) != disk.Keep {
		t.Errorf("a kept disk that is late: %v", err)
	}
	there := m.boots(nvme(0, "DATA", data), nvme(1, "OS", meant))
	if chosen, err := there.Choose("smallest", nil); err != nil || chosen.Serial != "OS" || len(there) != 2 {
		t.Errorf("once it is there: %v, %v", chosen, err)
	}
}

func TestWhatIsMissing(t *testing.T) {
	stick := reported("name=sda serial=STICK bytes=1000 removable=1 transport=usb")
	old := reported("name=vda serial=OLD bytes=1000") // of a Sled system that reports no transport
	unnamed := reported("name=vdb path=pci-1 bytes=1000 transport=virtio")
	moved := nvme(0, "OS", meant)
	moved.Path = "pci-7-nvme-1"
	before := []disk.Disk{stick, old, unnamed, nvme(0, "OS", meant), nvme(1, "DATA", data), nvme(1, "DATA", data)}
	got := fmt.Sprint(disk.Missing(before, []disk.Disk{moved}))
	if want := "[path:pci-1 (1.0 kB) serial:DATA (PM9A3, 3.8 TB)]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var many []disk.Disk
	for i := range 100 {
		many = append(many, nvme(i, fmt.Sprint("S", i), meant))
	}
	if n := len(disk.Missing(many, nil)); n != 64 {
		t.Errorf("%d disks are kept", n)
	}
}

func TestAWipeOfAllDisks(t *testing.T) {
	table := disk.Table{nvme(0, "OS", meant), nvme(1, "DATA", data),
		reported("name=sda serial=Z wwn=0x5 bytes=100 transport=sas"),
		reported("name=sdb serial=Z wwn=0x5 bytes=100 transport=sas"),
		reported("name=sdc serial=USB bytes=100 transport=usb"), reported("name=loop0 bytes=100")}
	list, err := table.All([]string{"serial:DATA"})
	got := ""
	for _, v := range list {
		got += v.Disk.Name + ":" + v.Why + " "
	}
	want := "nvme0n1: nvme1n1:on the keep list sda: sdb:another path of sda sdc:attached by USB "
	if err != nil || got != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	if list, err := table.All([]string{"serial:GONE"}); disk.KindOf(err) != disk.Keep || list[0].Chosen {
		t.Errorf("an entry that keeps nothing: %v, %v", list, err)
	}
}
