// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/admission"
)

// Sighting is a claim code on a console.
type Sighting struct {
	Code string
	Time time.Time // of its line
}

// prefix stands before a claim code (contract/admission.md, "claim").
var prefix = []byte("sled: claim ")

// Sightings returns the claim codes in the end of a record that the Sled system printed, each on a separate line. A
// line of which the end is missing is left out: a later read has all of it.
func Sightings(text []byte) []Sighting {
	var found []Sighting
	for {
		at := bytes.Index(text, prefix)
		if at < 0 {
			return found
		}
		line, rest, whole := bytes.Cut(text[bytes.LastIndexByte(text[:at], '\n')+1:], []byte("\n"))
		if !whole {
			return found
		}
		if sighting, is := read(line); is {
			found = append(found, sighting)
		}
		text = rest
	}
}

// read reads a recorded line. The time is the recorder's: what a node prints starts behind it.
func read(line []byte) (Sighting, bool) {
	stamp, printed, _ := bytes.Cut(line, []byte(" "))
	at, err := time.Parse(time.RFC3339, string(stamp))
	if err != nil {
		return Sighting{}, false
	}
	text, is := bytes.CutPrefix(bytes.Trim(printed, "\r"), prefix)
	code := string(text)
	if !is || !admission.IsCode(code) {
		return Sighting{}, false
	}
	return Sighting{Code: code, Time: at}, true
}
