// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"regexp"
)

// Ran is how a payload ended, and what the node has sent of it (contract/job.md).
type Ran struct {
	Exit                      int // of the payload, if no signal ended it
	Signal                    int
	By                        string // payload, timeout, cancel, memory, integrity or sled
	Missing                   string // what of its streams was not sent to its end; empty: nothing
	Output, Errors, Artefacts Stream
}

// Stream is what a node has sent to the boot server of a stream, or wanted to.
type Stream struct {
	Bytes  int64
	SHA256 string // empty without a byte
}

const mostSignal = 64

var (
	endedBy = regexp.MustCompile(`^(payload|timeout|cancel|memory|integrity|sled)$`)
	hexSum  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	streams = regexp.MustCompile(`^(out|err|files)(,(out|err|files)){0,2}$`)
)

// ran reads the end of a payload, and of no other step.
func (f *fields) ran(verb string, code int) *Ran {
	if verb != "run" || code != 0 {
		return nil // done refuses what was not taken
	}
	ran := Ran{By: f.matching("by", endedBy), Output: f.stream("out"), Errors: f.stream("err"),
		Artefacts: f.stream("files")}
	if _, found := f.line.Get("missing"); found {
		ran.Missing = f.matching("missing", streams)
	}
	if _, signalled := f.line.Get("signal"); signalled {
		ran.Signal = int(f.number("signal", 1, mostSignal))
	} else {
		ran.Exit = int(f.number("exit", 0, 255))
	}
	return &ran
}

// stream reads size and digest of a stream. The digest of no bytes may be left out.
func (f *fields) stream(name string) Stream {
	read := Stream{Bytes: f.number(name, 0, math.MaxInt64)}
	if sum, _ := f.take(name + "_sha256"); sum != "" || read.Bytes > 0 {
		read.SHA256 = f.matching(name+"_sha256", hexSum)
	}
	return read
}
