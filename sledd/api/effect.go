// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"unicode"
)

// Effect is a binding with what decides about its effect on a node. User data is compared by a hash, because sledd
// never returns it.
type Effect struct {
	BindingSpec
	Digest         string // of the image; empty: not known, the name counts
	UserDataSHA256 string // UserDataHash; empty for none
}

// Effect is that of a stored binding.
func (b Binding) Effect() Effect {
	return Effect{BindingSpec: b.BindingSpec, Digest: b.Digest, UserDataSHA256: b.UserDataSHA256}
}

// SeedReimages is the value of seed_changes that images a node again for another seed.
const SeedReimages = "reimage"

// Unconfigured is the value of configure that starts an image as it was written.
const Unconfigured = "none"

// Reimages names what images a node again when one binding replaces the other, as attributes or "seed"; nothing: the
// generation stays. A handover is an act: declaring it is one, and no longer declaring it is none.
func Reimages(before, after Effect, node NodeSpec) []string {
	var why []string
	emptied := after // how disks are emptied decides where there is no image
	if !after.WipesAll() {
		emptied = before
	}
	if !SameDesired(before, after, node) {
		for _, part := range []struct {
			name string
			make func(e *Effect)
		}{
			{"image", func(e *Effect) { e.Image, e.Digest = after.Image, after.Digest }},
			{"capture", func(e *Effect) { e.Capture = after.Capture }},
			{"disk", func(e *Effect) { e.Disk = after.Disk }},
			{"partition", func(e *Effect) { e.Partition = after.Partition }},
			{"configure", func(e *Effect) { e.Configure = after.Configure }},
			{"grow", func(e *Effect) { e.Grow = after.Grow }},
			{"kernel", func(e *Effect) { e.Kernel = after.Kernel }},
			{"wipe", func(e *Effect) { e.Wipe = emptied.Wipe }},
			{"wipe_method", func(e *Effect) { e.WipeMethod = emptied.WipeMethod }},
			{"verify", func(e *Effect) { e.Verify = emptied.Verify }},
		} {
			other := before
			if part.make(&other); !SameDesired(before, other, node) {
				why = append(why, part.name)
			}
		}
	}
	if after.Handover && !before.Handover {
		why = append(why, "handover")
	}
	if after.SeedChanges == SeedReimages && !SameSeed(before, after, node) {
		why = append(why, "seed")
	}
	return why
}

// sameContent compares images: by digest where both are known, because a name stands for one content only, and one
// content may have several names.
func sameContent(a, b Effect) bool {
	if a.Image != "" && b.Image != "" && a.Digest != "" && b.Digest != "" {
		return a.Digest == b.Digest
	}
	return a.Image == b.Image
}

func sameKeys(a, b Effect) bool {
	return slices.Equal(keySet(a.AuthorizedKeys), keySet(b.AuthorizedKeys))
}

// keySet returns what lines of authorized_keys permit: each key once, in order, without its comment.
func keySet(lines []string) []string {
	var set []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			set = append(set, withoutComment(line))
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// withoutComment returns options, type and blob of a line. A line in which no type of a key is found is kept whole.
func withoutComment(line string) string {
	words := quotedFields(line)
	for i, word := range words {
		for _, kind := range []string{"ssh-", "ecdsa-", "sk-"} {
			if strings.HasPrefix(word, kind) && i+1 < len(words) {
				return strings.Join(words[:i+2], " ")
			}
		}
	}
	return line
}

// quotedFields are the words of a line; a space within quotes separates none. Options hold such.
func quotedFields(line string) []string {
	quoted, escaped := false, false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' && !escaped {
			quoted = !quoted
		}
		escaped = r == '\\' && !escaped
		return !quoted && unicode.IsSpace(r)
	})
}

// Installed reports whether the node runs what was installed on it, as far as is known.
func (p Phase) Installed() bool { return p == Operational || p == Unconfirmed }
