// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
)

// purged is the record of a drive that erased itself.
func purged() api.Erasure {
	return api.Erasure{Number: 1, Previous: strings.Repeat("0", 64),
		Time: time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC), Node: "rack-a-n07",
		MAC: "52:54:00:77:00:01", Generation: 12, Step: 1, Admission: "proven", Result: "good",
		BootID: nodetexttest.Identifier("0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e"), Disk: nodetexttest.Identifier("nvme0n1"),
		Serial: nodetexttest.Identifier("S64GNE0R900000"), Bytes: 960197124096, Sector: 512,
		WWN:   nodetexttest.Identifier("eui.36344730529000000025384500000001"),
		Path:  nodetexttest.Identifier("pci-0000:41:00.0-nvme-1"),
		Model: nodetexttest.Identifier("SAMSUNG MZQL2960HCJR-00A07"), Level: "purge", Method: "nvme-sanitize-crypto",
		Verify: "sample", Read: 37748736, Samples: 1024, Seed: strings.Repeat("0a", 32), Seconds: 14.2, Compared: 9216,
		Reported: nodetexttest.Identifier("sanitize log sprog=65535 sstat=0x0101")}
}

func erased(t *testing.T, r api.Erasure) string {
	t.Helper()
	var out bytes.Buffer
	if err := Erasure(&out, r); err != nil {
		t.Fatal(err)
	}
	whole(t, out.String())
	return out.String()
}

// TestErasure writes the picture of docs/disks.md to the folder PAGES.
func TestErasure(t *testing.T) {
	text := erased(t, purged())
	if !strings.Contains(text, "9216 blocks of 4,096 bytes") || strings.Contains(text, "<th>Reason</th>") {
		t.Error(text)
	}
	if folder := os.Getenv("PAGES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, "erase-record.html"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestErasureByWriting(t *testing.T) {
	r := purged()
	r.Bytes, r.Level, r.Method, r.Compared, r.Reported = 1<<40, "empty", "discard", 0, nodetext.Identifier{}
	r.Serial, r.Reason = nodetexttest.Cleaned("<script>alert(1)</script>"), nodetext.Clean("<b>")
	text := erased(t, r)
	for _, want := range []string{"0.29 %", "1598 MiB", "none: sledd has no key", "&lt;script&gt;", "&lt;b&gt;"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}
