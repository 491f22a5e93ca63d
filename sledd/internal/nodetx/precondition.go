// SPDX-License-Identifier: Apache-2.0

package nodetx

import (
	"strconv"
	"strings"

	"github.com/sled-fleet/sled/sledd/internal/refusal"
)

// Wanted is what a request demands of the current state before it changes anything.
type Wanted struct {
	Match     string // If-Match: revisions in quotes, or *
	NoneMatch string // If-None-Match: only * is of use on a change
}

// Exactly wants one revision, 0: that there is nothing; nil wants nothing.
func Exactly(revision *int64) Wanted {
	switch {
	case revision == nil:
		return Wanted{}
	case *revision == 0:
		return Wanted{NoneMatch: "*"}
	}
	return Wanted{Match: ETag(*revision)}
}

// ETag returns the tag of a revision.
func ETag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// Check compares with what is there; revision 0: nothing is.
func (w Wanted) Check(what string, revision int64) error {
	if w.Match != "" && (revision == 0 || !matches(w.Match, revision)) {
		if revision == 0 {
			return refusal.New(refusal.Precondition, "%s does not exist: expected revision %s", what, w.Match)
		}
		return refusal.New(refusal.Precondition, "%s has revision %d: expected %s", what, revision, w.Match)
	}
	if w.NoneMatch != "" && revision != 0 && matches(w.NoneMatch, revision) {
		return refusal.New(refusal.Precondition, "%s exists with revision %d: expected none of %s", what,
			revision, w.NoneMatch)
	}
	return nil
}

func matches(tags string, revision int64) bool {
	for _, tag := range strings.Split(tags, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || tag == ETag(revision) {
			return true
		}
	}
	return false
}
