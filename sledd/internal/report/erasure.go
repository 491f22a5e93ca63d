// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/operand"
)

// Results of the erase of one disk.
const (
	Erased     = "good"
	NotErased  = "failed"
	LeftOut    = "left"
	mostDisks  = 250
	erasedLine = "erasure"
)

var (
	erasureResult = regexp.MustCompile(`^(good|failed|left)$`)
	erasureVerify = regexp.MustCompile(`^(sample|full)$`)
	seed          = regexp.MustCompile(`^[0-9a-f]{64}$`)
	ranges        = regexp.MustCompile(`^[0-9]{1,20}\+[0-9]{1,20}(,[0-9]{1,20}\+[0-9]{1,20})*$`)
	word          = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
)

// Erasure is what a node reports of one disk of a wipe (contract/erasure.md).
type Erasure struct {
	Result                         string
	Disk, Serial, WWN, Path, Model nodetext.Identifier
	Bytes, Sector                  int64
	Level, Method, Verify          string
	Read, Samples                  int64
	Seed                           string // of the samples
	Seconds                        float64
	BadRanges, BadBytes            int64
	Bad                            string              // OFFSET+SIZE joined by commas
	Reported                       nodetext.Identifier // by the drive, after one of its commands
	Compared                       int64               // blocks, with what they held before it
	Reason                         nodetext.Prose
}

// erasure reads one line.
func erasure(parsed operand.Line) (Erasure, error) {
	f := fields{line: parsed}
	e := Erasure{
		Result: f.matching("result", erasureResult),
		Disk:   f.identifier("disk"), Serial: f.identifier("serial"), WWN: f.identifier("wwn"),
		Path: f.identifier("path"), Model: f.identifier("model"),
		Bytes: f.number("bytes", 0, math.MaxInt64), Sector: f.number("sector", 0, math.MaxInt32),
	}
	if e.Disk.IsZero() {
		f.fail("erasure: disk: it has no name")
	}
	if e.Result != LeftOut {
		e.Level, e.Method = f.matching("level", word), f.matching("method", word)
		e.Verify = f.matching("verify", erasureVerify)
		e.Read, e.Seconds = f.number("read", 0, math.MaxInt64), f.seconds("seconds")
		e.BadRanges, e.BadBytes = f.optional("bad_ranges"), f.optional("bad_bytes")
		if _, found := f.line.Get("bad"); found {
			e.Bad = f.matching("bad", ranges)
		}
		if _, found := f.line.Get("reported"); found {
			e.Reported, e.Compared = f.identifier("reported"), f.number("compared", 0, math.MaxInt64)
		}
	}
	if e.Verify == "sample" {
		e.Samples, e.Seed = f.number("samples", 1, math.MaxInt64), f.matching("seed", seed)
	}
	if e.Result != Erased {
		e.Reason = f.prose("reason")
	} else if e.BadRanges > 0 {
		f.fail("erasure: result=good with bad_ranges=%d", e.BadRanges)
	}
	return e, f.done()
}

// identifier reads one that may be empty.
func (f *fields) identifier(key string) nodetext.Identifier {
	text := f.must(key)
	if text == "" {
		return nodetext.Identifier{}
	}
	id, err := nodetext.ParseIdentifier(text)
	if err != nil {
		f.fail("%s: %s: %w", f.line.Word, key, err)
	}
	return id
}

// parseLines reads the lines about steps. Erasures belong to the end of the wipe that follows them.
func parseLines(lines []string) ([]Line, error) {
	var found []Line
	var erasures []Erasure
	for i, text := range lines {
		parsed, err := operand.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+4, err)
		}
		if parsed.Word == erasedLine {
			one, err := erasure(parsed)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+4, err)
			}
			erasures = append(erasures, one)
			continue
		}
		line, err := parseLine(parsed)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+4, err)
		}
		if line.Kind == End && line.Verb == "wipe" {
			line.Erasures, erasures = erasures, nil
		}
		found = append(found, line)
	}
	if len(erasures) > 0 {
		return nil, fmt.Errorf("an erasure stands in front of the end of the step wipe")
	}
	return found, sameDisks(found)
}

// sameDisks refuses two records of one disk in one step, and a step that went well with a disk that did not.
func sameDisks(lines []Line) error {
	for _, line := range lines {
		names := map[string]bool{}
		for _, e := range line.Erasures {
			if names[e.Disk.String()] {
				return fmt.Errorf("two erasures of disk %s", e.Disk)
			}
			names[e.Disk.String()] = true
		}
		bad := slices.ContainsFunc(line.Erasures, func(e Erasure) bool { return e.Result == NotErased })
		if bad && line.Code == 0 {
			return fmt.Errorf("end of step %d: code 0 with an erasure that failed", line.Step)
		}
		if len(line.Erasures) > mostDisks {
			return fmt.Errorf("%d erasures, at most %d are allowed", len(line.Erasures), mostDisks)
		}
	}
	return nil
}
