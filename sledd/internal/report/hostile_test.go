// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

func TestHostileTextIsRefusedByName(t *testing.T) {
	for _, c := range vectors.Cases(t, "report/hostile/refused", 30) {
		err := parse(c.Text)
		if err == nil {
			t.Errorf("%s was accepted", c.Name)
			continue
		}
		key, _, _ := strings.Cut(c.Name, "_")
		if key == "rescue" {
			key = "detail"
		}
		if key == "operational" {
			key = "line 3: "
		}
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error does not name %s: %v", c.Name, key, err)
		}
	}
}

func TestAcceptedHostileTextIsSafeToPrint(t *testing.T) {
	for _, c := range vectors.Cases(t, "report/hostile/accepted", 30) {
		if err := parse(c.Text); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if sent, err := report.Parse(c.Text); err == nil {
			for _, line := range sent.Lines {
				nodetexttest.Printable(t, c.Name, line.Reason.String(), "")
				nodetexttest.Printable(t, c.Name, line.Detail.String(), "")
			}
		}
		if hardware, err := report.ParseFacts(c.Text); err == nil {
			nodetexttest.Printable(t, c.Name, hardware.DroppedText(), "")
			facts := hardware.Facts
			maps := slices.Concat(facts.Disks, facts.NICs, facts.Partitions)
			for _, values := range append(maps, facts.Kernel, facts.CPU, facts.Memory, facts.Firmware, facts.DMI) {
				for key, value := range values {
					nodetexttest.Printable(t, c.Name+" "+key, value.String(), "")
				}
			}
		}
		if system, _, _, err := report.ParseOperational(c.Text); err == nil {
			for _, value := range []string{system.ID.String(), system.Version.String(), system.BootCurrent.String()} {
				nodetexttest.Printable(t, c.Name, value, "")
			}
		}
	}
}

func TestUnacceptableFactsAreDroppedOneByOne(t *testing.T) {
	for name, want := range map[string]struct {
		dropped []string
		dmi     int // facts that are left
		disks   int
	}{
		"partitions":   {[]string{"partition 1 label", "partition 2 label", "partition 2 type", "partition: disk"}, 0, 1},
		"escape":       {[]string{"dmi vendor", "dmi serial", "disk 1 serial"}, 1, 1},
		"bidi":         {[]string{"dmi vendor", "dmi product", "dmi serial", "cpu model"}, 1, 0},
		"newline":      {[]string{"dmi vendor", "dmi product", "dmi serial", "dmi bios", "kernel release"}, 0, 0},
		"huge":         {[]string{"dmi vendor", "dmi product", "disk: name"}, 1, 1},
		"invalid_utf8": {[]string{"dmi vendor", "dmi product", "dmi serial", "dmi bios", "disk: name"}, 0, 0},
		"names":        {[]string{"disk: name", "nic 1 driver"}, 0, 1},
		"jinja":        {nil, 4, 1},
		"token":        {nil, 3, 0},
	} {
		hardware, err := report.ParseFacts(vectors.Text(t, "report/hostile/accepted", "facts_"+name))
		var dropped []string
		for _, text := range hardware.Dropped {
			what, _, _ := strings.Cut(strings.NewReplacer(": name: ", ": name\x00", ": disk: ", ": disk\x00").Replace(text),
				"\x00")
			if what == text {
				what, _, _ = strings.Cut(text, ": ")
			}
			dropped = append(dropped, what)
		}
		if err != nil || !slices.Equal(dropped, want.dropped) || len(hardware.Facts.DMI) != want.dmi ||
			len(hardware.Facts.Disks) != want.disks {
			t.Errorf("%s: dropped %q, left %d, %d disks, %v", name, dropped, len(hardware.Facts.DMI),
				len(hardware.Facts.Disks), err)
		}
	}
}

func TestTokensAreTakenOut(t *testing.T) {
	sent, err := report.Parse(vectors.Text(t, "report/hostile/accepted", "reason_token"))
	if err != nil || sent.Lines[1].Reason.String() != "mount: [token]: no such file" ||
		sent.Lines[1].Detail.String() != "kernel arguments: sled.token=[token]" {
		t.Errorf("%+v, %v", sent, err)
	}
	hardware, err := report.ParseFacts(vectors.Text(t, "report/hostile/accepted", "facts_token"))
	if err != nil || hardware.Facts.DMI["product"].String() != "cmdline sled.token=[token] quiet" {
		t.Errorf("%+v, %v", hardware, err)
	}
	key := "facts 1\nboot b\ndmi sledb_0123456789abcdef0123=x\n"
	if hardware, err := report.ParseFacts(key); err != nil || len(hardware.Facts.DMI) != 0 {
		t.Errorf("%+v, %v", hardware, err)
	}
}
