// SPDX-License-Identifier: Apache-2.0

// Package nodetext holds the types of text that nodes report (contract/report.md, Text). A value of these types is safe
// to print: it has no control or format characters, and nothing in the form of a token. The Parse functions check and
// refuse what a node sends. Text of the store or of a response is cleaned when it is decoded. The package is pure.
package nodetext

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits, in characters.
const (
	MaxIdentifier = 256
	MaxProse      = 512
	// MaxCleaned is the limit of prose that is cleaned instead of refused: reasons of operators are longer.
	MaxCleaned = 2048
)

// tokens have this form, whatever their purpose (package token).
var tokens = regexp.MustCompile(`sled[a-z]_[0-9a-f_]{20,}`)

// noToken replaces them.
const noToken = "[token]"

// WithoutTokens replaces all that has the form of a token.
func WithoutTokens(text string) string { return tokens.ReplaceAllString(text, noToken) }

// value is text in an accepted form. Only this package can make one that is not empty.
type value struct{ text string }

// String returns the text.
func (v value) String() string { return v.text }

// IsZero reports whether there is no text; such a value is left out of JSON with omitzero.
func (v value) IsZero() bool { return v.text == "" }

// MarshalText returns the text.
func (v value) MarshalText() ([]byte, error) { return []byte(v.text), nil }

// Identifier is a name, a number or a version: at most 256 printable ASCII characters.
type Identifier struct{ value }

// ParseIdentifier refuses text that is no identifier.
func ParseIdentifier(text string) (Identifier, error) {
	if len(text) > MaxIdentifier {
		return Identifier{}, fmt.Errorf("%d bytes, at most %d are allowed", len(text), MaxIdentifier)
	}
	for _, r := range text {
		if !isASCII(r) {
			return Identifier{}, fmt.Errorf("character %U is not printable ASCII", r)
		}
	}
	return Identifier{value{WithoutTokens(text)}}, nil
}

// CleanIdentifier replaces what an identifier must not have, and cuts it to the limit.
func CleanIdentifier(text string) Identifier {
	text = strings.Map(func(r rune) rune {
		if !isASCII(r) {
			return '?'
		}
		return r
	}, text)
	return Identifier{value{cut(WithoutTokens(text), MaxIdentifier)}}
}

// UnmarshalText cleans the text of a stored record or of a response.
func (i *Identifier) UnmarshalText(text []byte) error {
	*i = CleanIdentifier(string(text))
	return nil
}

// Prose is a sentence for people, on one line: printable characters.
type Prose struct{ value }

// ParseProse refuses text that is no prose, or longer than 512 characters.
func ParseProse(text string) (Prose, error) {
	if !utf8.ValidString(text) {
		return Prose{}, errors.New("it is not valid UTF-8")
	}
	if n := utf8.RuneCountInString(text); n > MaxProse {
		return Prose{}, fmt.Errorf("%d characters, at most %d are allowed", n, MaxProse)
	}
	for _, r := range text {
		if !isPrintable(r) {
			return Prose{}, fmt.Errorf("character %U is not printable", r)
		}
	}
	return Prose{value{WithoutTokens(text)}}, nil
}

// Clean makes prose of a text of sledd or of an operator: it replaces what is not printable, and cuts it to the limit.
func Clean(text string) Prose {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !isPrintable(r):
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return Prose{value{cut(WithoutTokens(text), MaxCleaned)}}
}

// UnmarshalText cleans the text of a stored record or of a response.
func (p *Prose) UnmarshalText(text []byte) error {
	*p = Clean(string(text))
	return nil
}

func isASCII(r rune) bool { return r >= ' ' && r <= '~' }

// isPrintable is false for the categories Cc, Cf, Co, Cs, Zl and Zp.
func isPrintable(r rune) bool { return !unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) }

// cut returns at most so many characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

// Strings returns identifiers by key as strings.
func Strings(values map[string]Identifier) map[string]string {
	if values == nil {
		return nil
	}
	texts := make(map[string]string, len(values))
	for key, value := range values {
		texts[key] = value.text
	}
	return texts
}
