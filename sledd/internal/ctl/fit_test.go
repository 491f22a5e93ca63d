// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// hallLines are the command lines whose output people read.
var hallLines = []string{
	"status", "node list", "node get n1", "node get n3", "node get n5", "node disks n1 --match model:SAMSUNG*,smallest",
	"binding list", "binding get n1", "image list", "image get i", "image capture n1 golden", "operator list",
	"rollout list", "rollout get reimage-1042", "rollout report reimage-1042", "rollout abort x", "timeline n1",
	"events n1", "kexec stats", "kexec quirks", "rescue n5 --key testdata/key.pub", "rescue n5 --end",
}

// The forms of the outputs are those of TestEveryCommandOverALargeFleet.
func TestOutputsFitAnyTerminal(t *testing.T) {
	server := hallServer(t)
	for _, width := range append([]int{40, 60, 160, 250}, ctltest.Widths...) {
		for _, line := range hallLines {
			for _, colour := range []bool{false, true} {
				screen := ctltest.Terminal(width)
				screen.Colour = colour
				got := run(t.Context(), server, "", screen, strings.Fields(line)...)
				if got.code != exitDone || got.out == "" {
					t.Errorf("%s: exit %d: %s", line, got.code, got.err)
				}
				ctltest.CheckWidth(t, line, got.out+got.err, width)
			}
		}
	}
}

// What a script reads is whole: a line for the header and one for each record.
func TestPipedTablesAreWhole(t *testing.T) {
	server := hallServer(t)
	narrow := show.Screen{Size: func() (int, int) { return 40, 24 }}
	for line, records := range map[string]int{"node list": 6, "image list": 2, "binding list": 3, "operator list": 2,
		"rollout list": 2, "kexec stats": 2, "kexec quirks": 2, "events n1": 6} {
		got := run(t.Context(), server, "", narrow, strings.Fields(line)...)
		if !strings.HasPrefix(line, "events") {
			records++
		}
		if n := strings.Count(got.out, "\n"); n != records {
			t.Errorf("%s: %d lines, want %d:\n%s", line, n, records, got.out)
		}
	}
	for line, word := range map[string]string{"status": ctltest.HallReason, "events n1": ctltest.HallReason,
		"image list":   "stage=production",
		"kexec quirks": "a00123456en_us", "node list": "bmc.hall-b.example.net:8443"} {
		if got := run(t.Context(), server, "", narrow, strings.Fields(line)...); !strings.Contains(got.out, word) {
			t.Errorf("%s: %q is missing:\n%s", line, word, got.out)
		}
	}
}

// -o wide prints on a terminal what a pipe gets.
func TestWideTablesAreWhole(t *testing.T) {
	server := hallServer(t)
	for _, line := range []string{"node list", "image list", "binding list", "operator list", "rollout list",
		"kexec stats", "kexec quirks"} {
		args := strings.Fields(line)
		piped := run(t.Context(), server, "", show.Screen{}, args...)
		shown := run(t.Context(), server, "", ctltest.Terminal(80), append(args, "-o", "wide")...)
		if shown.out != piped.out {
			t.Errorf("%s -o wide:\n%s\nwant\n%s", line, shown.out, piped.out)
		}
	}
}
