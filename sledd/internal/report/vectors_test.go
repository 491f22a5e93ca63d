// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/contract/vectors"
	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/nodetext/nodetexttest"
	"github.com/sled-fleet/sled/sledd/internal/report"
)

const captured = "sha256:8f3c0d7e5b1a2c4f6e8d9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"

// parse chooses the reader by the first word, as the path of a request does.
func parse(text string) error {
	var err error
	switch {
	case strings.HasPrefix(text, "facts "):
		_, err = report.ParseFacts(text)
	case strings.HasPrefix(text, "operational "):
		_, _, _, err = report.ParseOperational(text)
	default:
		_, err = report.Parse(text)
	}
	return err
}

func TestGoodVectorsAreAccepted(t *testing.T) {
	for _, c := range vectors.Cases(t, "report/ok", 15) {
		if err := parse(c.Text); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func TestBadVectorsAreRefused(t *testing.T) {
	for _, c := range vectors.Cases(t, "report/bad", 30) {
		if err := parse(c.Text); err == nil {
			t.Errorf("%s was accepted", c.Name)
		} else {
			t.Logf("%s: %v", c.Name, err)
		}
	}
}

func TestReportIsReadWhole(t *testing.T) {
	text := vectors.Text(t, "report/ok", "one_step")
	got, err := report.Parse(text)
	want := report.Report{Generation: 3, Run: 7, Boot: nodetext.CleanIdentifier("0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e"),
		Lines: []report.Line{
			{Kind: report.Begin, Step: 2, Of: 4, Verb: "write"},
			{Kind: report.Progress, Step: 2, Verb: "write", Bytes: 104857600, Total: 2147483648, Rate: 52428800},
			{Kind: report.End, Step: 2, Verb: "write", Seconds: 12.345},
		}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestFactsAreReadWhole(t *testing.T) {
	text := vectors.Text(t, "report/ok", "facts")
	hardware, err := report.ParseFacts(text)
	facts := hardware.Facts
	if err != nil || hardware.Uptime != 2.71 || hardware.Dropped != nil ||
		facts.CPU["model"].String() != "AMD EPYC" || facts.Disks[0]["serial"].String() != "LAB-0001" ||
		len(facts.NICs) != 1 || len(facts.Partitions) != 2 || facts.Partitions[1]["label"].String() != "root a" {
		t.Errorf("got %+v, %v", hardware, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, table := range []string{"ok", "bad", "hostile/accepted", "hostile/refused"} {
		for _, c := range vectors.Cases(f, "report/"+table, 15) {
			f.Add(c.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if parsed, err := report.Parse(text); err == nil {
			for _, line := range parsed.Lines {
				if line.Step < 1 || line.Code < 0 || line.Code > 255 || line.Seconds < 0 || line.Bytes < 0 {
					t.Fatalf("%q was read as %+v", text, line)
				}
			}
		}
		if h, err := report.ParseFacts(text); err == nil && (h.Facts.BootID.IsZero() || h.Uptime < 0) {
			t.Fatalf("%q was read as %+v", text, h)
		}
		if _, generation, uptime, err := report.ParseOperational(text); err == nil && (generation < 0 || uptime < 0) {
			t.Fatalf("%q was read as generation %d", text, generation)
		}
	})
}

func TestReceivedIsReadWhole(t *testing.T) {
	text := vectors.Text(t, "report/ok", "received")
	got, err := report.Parse(text)
	if err != nil || len(got.Lines) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := report.Received{HTTP: 2481152, Multicast: 110123008, Packets: 79180, Lost: 812, Rejected: 1,
		Last: 4294967290}
	if got.Lines[0].Received == nil || *got.Lines[0].Received != want {
		t.Errorf("got %+v, want %+v", got.Lines[0].Received, want)
	}
}

func TestCaptureIsReadWhole(t *testing.T) {
	text := vectors.Text(t, "report/ok", "captured")
	got, err := report.Parse(text)
	if err != nil || len(got.Lines) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := report.Line{Kind: report.End, Step: 1, Verb: "capture", Seconds: 7.5,
		Detail: nodetext.Clean("1.56 GB used"),
		Made: report.Made{
			Digest: nodetexttest.Digest(captured), Bytes: 4294967296,
			FileBytes: 612345678, Upload: "0c2f5c1e7a544c1f9a551f3a0b8f6f5e"}}
	if !reflect.DeepEqual(got.Lines[2], want) {
		t.Errorf("got %+v\nwant %+v", got.Lines[2], want)
	}
}
