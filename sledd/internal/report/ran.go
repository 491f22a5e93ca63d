// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"regexp"
)

// Ran is how a payload ended, and what the node has sent of it (contract/report.md).
type Ran struct {
	Exit                      int // of the payload, if no signal ended it
	Signal                    int
	EndedBy                   string // payload, timeout, cancel or memory
	Output, Errors, Artefacts *File  // nil: none
}

// File is what a node has sent to the boot server.
type File struct {
	Bytes  int64
	SHA256 string
}

const mostSignal = 64

var (
	endedBy = regexp.MustCompile(`^(payload|timeout|cancel|memory)$`)
	hexSum  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ran reads the end of a payload that was started, and of no other step.
func (f *fields) ran(verb string, code int) *Ran {
	if verb != "run" || code != 0 {
		return nil // done refuses what was not taken
	}
	ran := Ran{EndedBy: f.matching("ended_by", endedBy), Output: f.file("out"), Errors: f.file("err"),
		Artefacts: f.file("artefacts")}
	if _, signalled := f.line.Get("signal"); signalled {
		ran.Signal = int(f.number("signal", 1, mostSignal))
	} else {
		ran.Exit = int(f.number("exit", 0, 255))
	}
	return &ran
}

// file reads size and digest of a file; both or none.
func (f *fields) file(name string) *File {
	if _, found := f.line.Get(name + "_bytes"); !found {
		return nil
	}
	return &File{Bytes: f.number(name+"_bytes", 0, math.MaxInt64), SHA256: f.matching(name+"_sha256", hexSum)}
}
