// SPDX-License-Identifier: Apache-2.0

package nodetext

import (
	"regexp"
	"strings"
	"unicode"
)

// Raw is text of many lines as a node wrote it: a log, last words, a console. It can be read only cleaned.
type Raw struct{ bytes string }

// RawOf takes text as it is. Nothing is checked: String cleans.
func RawOf(text []byte) Raw { return Raw{string(text)} }

// sequences are those that move a cursor, colour or clear: CSI, OSC, and the others that start with an escape.
var sequences = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[ -/]*[0-~]")

// String returns the text without sequences for terminals, control and format characters (but newline and tab), and
// tokens.
func (r Raw) String() string {
	text := strings.ToValidUTF8(r.bytes, "\uFFFD")
	text = strings.ReplaceAll(sequences.ReplaceAllString(text, ""), "\r", "")
	return Lines(text)
}

// Lines returns a text of many lines without control and format characters (but newline and tab), and tokens.
func Lines(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !isPrintable(r) {
			return '?'
		}
		return r
	}, text)
	return WithoutTokens(text)
}

// Bytes returns String for the store.
func (r Raw) Bytes() []byte { return []byte(r.String()) }

// IsZero reports whether there is no text.
func (r Raw) IsZero() bool { return r.bytes == "" }

// MarshalText returns String.
func (r Raw) MarshalText() ([]byte, error) { return r.Bytes(), nil }

// UnmarshalText takes text as it is.
func (r *Raw) UnmarshalText(text []byte) error {
	*r = RawOf(text)
	return nil
}

// Tail returns the end of a text of which more may precede: without its first line, which may be the rest of a longer
// one, so that no token is shown without its beginning.
func Tail(text []byte) []byte {
	_, after, _ := strings.Cut(string(text), "\n")
	return []byte(after)
}

// Line returns the first line that a pattern finds, as prose of at most so many characters.
func (r Raw) Line(pattern *regexp.Regexp, most int) Prose {
	found := strings.TrimFunc(pattern.FindString(r.String()), unicode.IsSpace)
	return Prose{value{cut(Clean(found).text, most)}}
}
