// SPDX-License-Identifier: Apache-2.0

// Package report reads what nodes say: reports, facts and the installed system's word (contract/report.md). It is pure.
package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/nodetext"
	"github.com/sled-fleet/sled/sledd/internal/operand"
	"github.com/sled-fleet/sled/sledd/internal/plan"
)

// MaxLines of any body.
const MaxLines = 256

var (
	bootID = regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`)
	// seconds as C's printf writes them: no sign, no exponent, no inf, no nan
	way     = regexp.MustCompile(`^(kexec|reboot)$`)
	decimal = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,9})?$`)
)

// Kind of a line of a report.
type Kind string

// The three kinds of reports about a step.
const (
	Begin    Kind = "begin"
	Progress Kind = "progress"
	End      Kind = "end"
)

// Line is one report about a step. The numbers that are set depend on the kind.
type Line struct {
	Kind  Kind
	Step  int // from 1
	Of    int
	Verb  string
	Bytes int64
	Total int64
	Rate  int64 // bytes a second
	Code  int
	// Seconds that the step took.
	Seconds float64
	Reason  nodetext.Prose
	Detail  nodetext.Prose // how it went
	// Entry is how to log in to the node during a detour; zero: it runs no SSH server.
	Entry Entry
	// Way is what a kexec or start that ended well does: kexec, or reboot where there was nothing to load.
	Way string
	// HostKey is that of the system that a configure prepared; zero: it has no SSH server.
	HostKey nodetext.HostKey
	// Made is what a capture made.
	Made Made
	// Received is what a write received; nil: not known.
	Received *Received
	// Ran is how a payload ended; nil: it was not started.
	Ran *Ran
	// Erasures are what a wipe did to each disk.
	Erasures []Erasure
}

// Made is an image that a capture made; without a digest, none.
type Made struct {
	Digest    nodetext.Digest
	Bytes     int64 // of the disk
	FileBytes int64
	Upload    string // id of the upload
}

// Report is what a node sends during a plan.
type Report struct {
	Generation int64
	Run        int64               // of the plan
	Boot       nodetext.Identifier // kernel's boot id
	Lines      []Line
}

// IsProgress reports whether all lines are of progress, which may be lost.
func (r Report) IsProgress() bool {
	return !slices.ContainsFunc(r.Lines, func(line Line) bool { return line.Kind != Progress })
}

// Parse reads a report. The error names the line.
func Parse(body string) (Report, error) {
	lines, err := read(body, "report 1")
	if err != nil {
		return Report{}, err
	}
	if len(lines) < 3 {
		return Report{}, fmt.Errorf("%d lines: want report, generation, boot and at least one more", len(lines))
	}
	var r Report
	if r.Generation, r.Run, err = plan.Numbers(lines[1]); err != nil {
		return Report{}, fmt.Errorf("line 2: %w", err)
	}
	if r.Boot, err = boot(lines[2]); err != nil {
		return Report{}, fmt.Errorf("line 3: %w", err)
	}
	r.Lines, err = parseLines(lines[3:])
	return r, err
}

func parseLine(parsed operand.Line) (Line, error) {
	line := Line{Kind: Kind(parsed.Word)}
	f := fields{line: parsed}
	line.Step = int(f.number("step", 1, plan.MaxLines))
	line.Verb = f.verb()
	switch line.Kind {
	case Begin:
		line.Of = int(f.number("of", 1, plan.MaxLines))
	case Progress:
		line.Bytes = f.number("bytes", 0, math.MaxInt64)
		line.Total = f.optional("total")
		line.Rate = f.optional("rate")
	case End:
		line.Code = int(f.number("code", 0, 255))
		line.Seconds = f.seconds("seconds")
		line.Reason, line.Detail = f.prose("reason"), f.prose("detail")
		line.Entry = f.entry(line.Verb, line.Code)
		line.Way = f.way(line.Verb)
		line.HostKey = f.hostKey(line.Verb)
		line.Made = f.made(line.Verb)
		line.Received = f.received(line.Verb, line.Code)
		line.Ran = f.ran(line.Verb, line.Code)
	default:
		return Line{}, fmt.Errorf("unknown line %q", parsed.Word)
	}
	return line, f.done()
}

// read cuts a body and checks its first line.
func read(body, head string) ([]string, error) {
	lines, err := operand.Lines(body, MaxLines)
	if err != nil {
		return nil, err
	}
	if lines[0] != head {
		return nil, fmt.Errorf("line 1: %.40q, want %q", lines[0], head)
	}
	return lines, nil
}

func boot(line string) (nodetext.Identifier, error) {
	id, found := strings.CutPrefix(line, "boot ")
	if !found || !bootID.MatchString(id) {
		return nodetext.Identifier{}, fmt.Errorf("%.80q, want boot and the kernel's boot id", line)
	}
	return nodetext.ParseIdentifier(id) //nolint:wrapcheck // the caller adds the line
}

// fields takes operands out of a line one by one and keeps the first fault.
type fields struct {
	line  operand.Line
	taken []string
	err   error
}

func (f *fields) take(key string) (string, bool) {
	f.taken = append(f.taken, key)
	return f.line.Get(key)
}

func (f *fields) fail(format string, values ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, values...)
	}
}

func (f *fields) must(key string) string {
	value, found := f.take(key)
	if !found {
		f.fail("%s: %s is missing", f.line.Word, key)
	}
	return value
}

func (f *fields) number(key string, least, most int64) int64 {
	n, err := plan.Number(f.must(key))
	if err != nil || n < least || n > most {
		f.fail("%s: %s: want a number from %d to %d", f.line.Word, key, least, most)
	}
	return n
}

// optional reads a number that may be absent or empty: 0.
func (f *fields) optional(key string) int64 {
	value, found := f.take(key)
	if !found || value == "" {
		return 0
	}
	n, err := plan.Number(value)
	if err != nil {
		f.fail("%s: %s: %w", f.line.Word, key, err)
	}
	return n
}

func (f *fields) matching(key string, pattern *regexp.Regexp) string {
	value := f.must(key)
	if !pattern.MatchString(value) {
		f.fail("%s: %s: %.40q is not known", f.line.Word, key, value)
	}
	return value
}

func (f *fields) verb() string {
	verb := f.must("verb")
	if _, known := plan.VerbOf(verb); !known {
		f.fail("%s: verb: %.40q is not known", f.line.Word, verb)
	}
	return verb
}

func (f *fields) seconds(key string) float64 {
	seconds, err := Seconds(f.must(key))
	if err != nil {
		f.fail("%s: %s: %w", f.line.Word, key, err)
	}
	return seconds
}

// prose reads a sentence that may be absent.
func (f *fields) prose(key string) nodetext.Prose {
	text, _ := f.take(key)
	prose, err := nodetext.ParseProse(text)
	if err != nil {
		f.fail("%s: %s: %w", f.line.Word, key, err)
	}
	return prose
}

// way reads what a kexec or a start does, and of no other step. One that does not say jumps.
func (f *fields) way(verb string) string {
	if verb != "kexec" && verb != "start" {
		return ""
	}
	if _, found := f.line.Get("way"); !found {
		return "kexec"
	}
	return f.matching("way", way)
}

// hostKey reads the key that a configure made, and of no other step.
func (f *fields) hostKey(verb string) nodetext.HostKey {
	if verb != "configure" {
		return nodetext.HostKey{} // done refuses what was not taken
	}
	text, found := f.take("host_key")
	if !found {
		return nodetext.HostKey{}
	}
	key, err := nodetext.ParseHostKey(text)
	if err != nil {
		f.fail("%s: host_key: %w", f.line.Word, err)
	}
	return key
}

// made reads what a capture made; all of it or nothing, and of no other step.
func (f *fields) made(verb string) Made {
	if verb != "capture" {
		return Made{} // done refuses what was not taken
	}
	text, found := f.take("digest")
	if !found {
		return Made{}
	}
	digest, err := nodetext.ParseDigest(text)
	if err != nil {
		f.fail("%s: digest: %w", f.line.Word, err)
	}
	return Made{Digest: digest, Bytes: f.number("bytes", 512, math.MaxInt64),
		FileBytes: f.number("file_bytes", 1, math.MaxInt64), Upload: f.matching("upload", plan.UploadID)}
}

func (f *fields) done() error {
	if f.err != nil {
		return f.err
	}
	for _, pair := range f.line.Operands {
		if !slices.Contains(f.taken, pair.Key) {
			return fmt.Errorf("%s: unknown key %s", f.line.Word, pair.Key)
		}
	}
	return nil
}

// Seconds reads a length of time such as 12.345.
func Seconds(text string) (float64, error) {
	if !decimal.MatchString(text) {
		return 0, fmt.Errorf("%.40q is not seconds as in 12.345", text)
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not seconds: %w", text, err)
	}
	return seconds, nil
}
