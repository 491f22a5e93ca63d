// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// hallLines are the command lines whose output people read.
var hallLines = []string{
	"status", "node list", "node get n1", "node get n3", "node get n5", "node disks n1 --match model:SAMSUNG*,smallest",
	"binding list", "binding get n1", "image list", "image get i", "image capture n1 golden", "operator list",
	"rollout list", "rollout get reimage-1042", "rollout report reimage-1042", "rollout abort x", "timeline n1",
	"events n1", "kexec stats", "kexec quirks", "rescue n5 --key testdata/key.pub", "rescue n5 --end",
}

// widths are those of the terminals on which nothing is wider than a line. goldenWidth is the one whose output is kept.
var widths = []int{80, 100, 120, 200}

const goldenWidth = 80

func terminal(width int) Screen {
	return Screen{Terminal: true, Size: func() (int, int) { return width, 24 }}
}

// checkWidth fails for each line that is wider than the terminal.
func checkWidth(t *testing.T, name, output string, width int) {
	t.Helper()
	for line := range strings.Lines(output) {
		if n := cells(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%s: %d cells in %d: %s", name, n, width, line)
		}
	}
}

func TestOutputsFitTheTerminal(t *testing.T) {
	server := hallServer(t)
	for _, width := range widths {
		golden := transcript{}
		for _, line := range hallLines {
			got := run(t.Context(), server, "", terminal(width), strings.Fields(line)...)
			if got.code != exitDone || got.out == "" {
				t.Errorf("%s: exit %d: %s", line, got.code, got.err)
			}
			checkWidth(t, line, got.out+got.err, width)
			golden.add(line, got.out+got.err)
		}
		golden.at(t, width, "hall")
	}
}

func TestOutputsFitAnyTerminal(t *testing.T) {
	server := hallServer(t)
	for _, width := range []int{40, 60, 100, 160, 250} {
		for _, line := range hallLines {
			for _, colour := range []bool{false, true} {
				screen := terminal(width)
				screen.Colour = colour
				got := run(t.Context(), server, "", screen, strings.Fields(line)...)
				checkWidth(t, line, got.out, width)
			}
		}
	}
}

// What a script reads is whole: a line for the header and one for each record.
func TestPipedTablesAreWhole(t *testing.T) {
	server := hallServer(t)
	narrow := Screen{Size: func() (int, int) { return 40, 24 }}
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
	for line, word := range map[string]string{"status": hallReason, "events n1": hallReason,
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
		piped := run(t.Context(), server, "", Screen{}, args...)
		shown := run(t.Context(), server, "", terminal(80), append(args, "-o", "wide")...)
		if shown.out != piped.out {
			t.Errorf("%s -o wide:\n%s\nwant\n%s", line, shown.out, piped.out)
		}
	}
}

func TestWatchesFitTheTerminal(t *testing.T) {
	for _, width := range widths {
		golden := transcript{}
		var out buffer
		v := &liveView{app: &app{System: System{Out: &out, Now: noonNow, Screen: terminal(width)}}, begin: noon}
		v.draw(hall(), nil)
		drawn := strings.NewReplacer("\x1b[K", "", "\x1b[J", "").Replace(out.String())
		checkWidth(t, "watch", drawn, width)
		golden.add("watch", drawn)

		r := hallRollout()
		r.State, r.Reason = api.RolloutRunning, api.Prose{}
		var rolloutOut buffer
		live := &rolloutLive{liveView: liveView{app: &app{System: System{Out: &rolloutOut, Now: noonNow,
			Screen: terminal(width)}}}}
		live.show(r, hall()[1:2], nil)
		drawn = strings.NewReplacer("\x1b[K", "", "\x1b[J", "").Replace(rolloutOut.String())
		checkWidth(t, "rollout watch", drawn, width)
		golden.add("rollout watch", drawn)
		golden.at(t, width, "drawn")
	}
}

func TestLinesHang(t *testing.T) {
	for line, want := range map[string]string{
		"short":                                "short",
		"  two  blanks and a word":             "  two  blanks\n    and a word",
		"a 0123456789abcdefghijkl":             "a 0123456789abcd\n    efghijkl",
		"0123456789abcdef next one":            "0123456789abcdef\n    next one",
		"\x1b[1mbold\x1b[0m and more and more": "\x1b[1mbold\x1b[0m and more\n    and more",
	} {
		if got := terminal(16).hang(line, 4); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Screen{}).hang(strings.Repeat("word ", 40), 4); strings.Contains(got, "\n") {
		t.Errorf("a pipe got %q", got)
	}
}
