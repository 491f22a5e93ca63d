// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, "hostile", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHostileTextIsRefusedByName(t *testing.T) {
	each(t, "hostile/refused", func(name, text string) {
		err := parse(text)
		if err == nil {
			t.Errorf("%s was accepted", name)
			return
		}
		key, _, _ := strings.Cut(name, "_")
		if key == "rescue" {
			key = "detail"
		}
		if key == "operational" {
			key = "line 3: "
		}
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error does not name %s: %v", name, key, err)
		}
	})
}

func TestAcceptedHostileTextIsSafeToPrint(t *testing.T) {
	each(t, "hostile/accepted", func(name, text string) {
		if err := parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if sent, err := report.Parse(text); err == nil {
			for _, line := range sent.Lines {
				nodetexttest.Printable(t, name, line.Reason.String(), "")
				nodetexttest.Printable(t, name, line.Detail.String(), "")
			}
		}
		if hardware, err := report.ParseFacts(text); err == nil {
			nodetexttest.Printable(t, name, hardware.DroppedText(), "")
			facts := hardware.Facts
			maps := append(slices.Clone(facts.Disks), facts.NICs...)
			for _, values := range append(maps, facts.Kernel, facts.CPU, facts.Memory, facts.Firmware, facts.DMI) {
				for key, value := range values {
					nodetexttest.Printable(t, name+" "+key, value.String(), "")
				}
			}
		}
		if system, _, _, err := report.ParseOperational(text); err == nil {
			for _, value := range []string{system.ID.String(), system.Version.String(), system.BootCurrent.String()} {
				nodetexttest.Printable(t, name, value, "")
			}
		}
	})
}

func TestUnacceptableFactsAreDroppedOneByOne(t *testing.T) {
	for name, want := range map[string]struct {
		dropped []string
		dmi     int // facts that are left
		disks   int
	}{
		"escape":       {[]string{"dmi vendor", "dmi serial", "disk 1 serial"}, 1, 1},
		"bidi":         {[]string{"dmi vendor", "dmi product", "dmi serial", "cpu model"}, 1, 0},
		"newline":      {[]string{"dmi vendor", "dmi product", "dmi serial", "dmi bios", "kernel release"}, 0, 0},
		"huge":         {[]string{"dmi vendor", "dmi product", "disk: name"}, 1, 1},
		"invalid_utf8": {[]string{"dmi vendor", "dmi product", "dmi serial", "dmi bios", "disk: name"}, 0, 0},
		"names":        {[]string{"disk: name", "nic 1 driver"}, 0, 1},
		"jinja":        {nil, 4, 1},
		"token":        {nil, 3, 0},
	} {
		hardware, err := report.ParseFacts(read(t, "accepted/facts_"+name+".report"))
		var dropped []string
		for _, text := range hardware.Dropped {
			what, _, _ := strings.Cut(strings.Replace(text, ": name: ", ": name\x00", 1), "\x00")
			if !strings.HasSuffix(what, ": name") {
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
	sent, err := report.Parse(read(t, "accepted/reason_token.report"))
	if err != nil || sent.Lines[1].Reason.String() != "mount: [token]: no such file" ||
		sent.Lines[1].Detail.String() != "kernel arguments: sled.token=[token]" {
		t.Errorf("%+v, %v", sent, err)
	}
	hardware, err := report.ParseFacts(read(t, "accepted/facts_token.report"))
	if err != nil || hardware.Facts.DMI["product"].String() != "cmdline sled.token=[token] quiet" {
		t.Errorf("%+v, %v", hardware, err)
	}
	key := "facts 1\nboot b\ndmi sledb_0123456789abcdef0123=x\n"
	if hardware, err := report.ParseFacts(key); err != nil || len(hardware.Facts.DMI) != 0 {
		t.Errorf("%+v, %v", hardware, err)
	}
}
