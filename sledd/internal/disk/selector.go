// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Limits of selectors and of lists of them, as in sledc.
const (
	MaxTerms     = 16
	MaxSelectors = 64
)

const terms = "serial:S wwn:W path:P model:GLOB vendor:GLOB transport:T rotational:0|1 size:MIN-MAX smallest only"

// identities are the terms that name a disk; the others describe it.
var identities = []string{"serial", "wwn", "path"}

type term struct {
	kind, value string
	least, most int64 // of size
}

// Selector is a parsed selector.
type Selector struct {
	Text  string
	terms []term
}

// Parse reads a selector.
func Parse(text string) (Selector, error) {
	s, err := parse(text)
	if err == nil && s.namesPartition() {
		err = fmt.Errorf("disk selector %.80q: partitions can be kept, not selected", text)
	}
	return s, err
}

func (s Selector) namesPartition() bool { return s.has("part-uuid") || s.has("part-label") }

func parse(text string) (Selector, error) {
	s := Selector{Text: text}
	words := strings.Split(text, ",")
	if text == "" {
		return s, errors.New("the disk selector is empty")
	}
	if len(words) > MaxTerms {
		return s, fmt.Errorf("disk selector %.80q: %d terms, at most %d are allowed", text, len(words), MaxTerms)
	}
	for _, word := range words {
		one, err := parseTerm(word)
		if err != nil {
			return s, fmt.Errorf("disk selector %.80q: %w", text, err)
		}
		s.terms = append(s.terms, one)
	}
	return s, nil
}

// ParseList reads selectors joined by semicolons.
func ParseList(text string) ([]Selector, error) { return parseList(text, Parse) }

func parseList(text string, parse func(string) (Selector, error)) ([]Selector, error) {
	words := strings.Split(text, ";")
	if len(words) > MaxSelectors {
		return nil, fmt.Errorf("%d disk selectors, at most %d are allowed", len(words), MaxSelectors)
	}
	list := make([]Selector, len(words))
	var err error
	for i, word := range words {
		if list[i], err = parse(word); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ParseKeep reads a keep list, joined by semicolons.
func ParseKeep(text string) ([]Selector, error) {
	list, err := parseList(text, parse)
	for _, s := range list {
		if s.has("smallest") {
			return nil, fmt.Errorf("disk selector %.80q: what is kept must not depend on other disks", s.Text)
		}
	}
	return list, err
}

func parseTerm(word string) (term, error) {
	if word == "only" || word == "smallest" {
		return term{kind: word}, nil
	}
	kind, encoded, _ := strings.Cut(word, ":")
	t := term{kind: kind}
	var err error
	switch kind {
	case "size":
		t.least, t.most, err = parseSize(encoded)
		return t, err
	case "serial", "wwn", "path", "model", "vendor", "transport", "rotational", "part-uuid", "part-label":
	default:
		return t, fmt.Errorf("%.80q is not one of %s", word, terms)
	}
	if t.value, err = decode(encoded); err != nil {
		return t, fmt.Errorf("%s: %w", kind, err)
	}
	switch {
	case encoded == "":
		return t, fmt.Errorf("%s: has no value", kind)
	case kind == "rotational" && t.value != "0" && t.value != "1":
		return t, fmt.Errorf("rotational: %.40q is not 0 or 1", t.value)
	case kind == "transport" && !slices.Contains(local, t.value) && foreign[t.value] == "":
		return t, fmt.Errorf("transport: %.40q is not one of %s, usb, fc, iscsi, nvme-of", t.value,
			strings.Join(local, ", "))
	}
	return t, nil
}

// decode reads what is percent-encoded within a term.
func decode(encoded string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(encoded); i++ {
		c := encoded[i]
		if c == '%' {
			if i+2 >= len(encoded) {
				return "", errors.New("a % is followed by two hexadecimal digits")
			}
			code, err := strconv.ParseUint(encoded[i+1:i+3], 16, 8)
			if err != nil || code == 0 {
				return "", errors.New("a % is followed by two hexadecimal digits, not 00")
			}
			c, i = byte(code), i+2
		}
		out.WriteByte(c)
	}
	return out.String(), nil
}

var encoder = strings.NewReplacer("%", "%25", ",", "%2C", ";", "%3B")

func parseSize(value string) (least, most int64, err error) {
	low, high, found := strings.Cut(value, "-")
	if !found || low == "" && high == "" {
		return 0, 0, fmt.Errorf("size:%.40s: want size:MIN-MAX in bytes, at least one side", value)
	}
	most = math.MaxInt64
	if low != "" {
		least, err = number(low)
	}
	if err == nil && high != "" {
		most, err = number(high)
	}
	if err == nil && least > most {
		err = fmt.Errorf("size:%s: the first is larger than the second", value)
	}
	return least, most, err
}

// number reads a decimal number without sign or leading zeros.
func number(digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != digits {
		return 0, fmt.Errorf("size: %.40q is not a decimal number of bytes", digits)
	}
	return n, nil
}

func (s Selector) has(kind string) bool {
	return slices.ContainsFunc(s.terms, func(t term) bool { return t.kind == kind })
}

// Identifies reports whether the selector names a disk, and does not only describe it.
func (s Selector) Identifies() bool { return slices.ContainsFunc(identities, s.has) }

// Matches reports whether all terms match the disk. "smallest" always does, as it needs the other disks.
func (s Selector) Matches(d Disk) bool {
	for _, t := range s.terms {
		if !t.matches(d) {
			return false
		}
	}
	return len(s.terms) > 0
}

// Chooses reports whether the selector may choose the disk. One that only describes chooses local disks.
func (s Selector) Chooses(d Disk) bool { return s.Matches(d) && (d.isLocal() || s.Identifies()) }

func (t term) matches(d Disk) bool {
	switch t.kind {
	case "serial":
		return d.Serial == t.value
	case "wwn":
		return d.WWN == t.value
	case "path":
		return d.Path == t.value || d.shortPath() == t.value
	case "model":
		return matchesGlob(t.value, d.Model)
	case "vendor":
		return matchesGlob(t.value, d.Vendor)
	case "transport":
		return d.Transport == t.value
	case "rotational":
		return cmp.Or(d.Rotational, "unknown") == t.value
	case "part-uuid", "part-label":
		return false // the node alone knows
	case "size":
		return d.Bytes >= t.least && d.Bytes <= t.most
	}
	return true // only, smallest
}

// matchesGlob knows only *, any run of characters.
func matchesGlob(glob, text string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == text
	}
	rest, found := strings.CutPrefix(text, parts[0])
	if !found {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
