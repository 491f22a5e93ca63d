// SPDX-License-Identifier: Apache-2.0

// Package operand is the one line grammar of plans and reports (contract/plan.md): a word, then key=value operands.
package operand

import (
	"fmt"
	"strings"
)

// Limits of the grammar, in bytes.
const (
	MaxLine  = 4096 // with its LF
	MaxKey   = 32
	MaxValue = 2048 // decoded
)

// Pair is one operand with its value decoded.
type Pair struct {
	Key, Value string
}

// Line is a word and its operands, each key once.
type Line struct {
	Word     string
	Operands []Pair
}

// Get returns the value of a key, and whether the key exists.
func (l Line) Get(key string) (string, bool) {
	for _, pair := range l.Operands {
		if pair.Key == key {
			return pair.Value, true
		}
	}
	return "", false
}

// Map returns the operands as a map.
func (l Line) Map() map[string]string {
	values := make(map[string]string, len(l.Operands))
	for _, pair := range l.Operands {
		values[pair.Key] = pair.Value
	}
	return values
}

// Lines cuts a body into lines; each must end in LF and fit the limits.
func Lines(body string, most int) ([]string, error) {
	if body == "" {
		return nil, fmt.Errorf("the text is empty")
	}
	if !strings.HasSuffix(body, "\n") {
		return nil, fmt.Errorf("the last line does not end in LF")
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if len(lines) > most {
		return nil, fmt.Errorf("%d lines, at most %d are allowed", len(lines), most)
	}
	for i, line := range lines {
		if len(line)+1 > MaxLine {
			return nil, fmt.Errorf("line %d: %d bytes, at most %d are allowed", i+1, len(line)+1, MaxLine)
		}
	}
	return lines, nil
}

// Parse reads one line, without its LF.
func Parse(text string) (Line, error) {
	words := strings.Split(text, " ")
	if !isKey(words[0]) {
		return Line{}, fmt.Errorf("%.40q is not a word", words[0])
	}
	line := Line{Word: words[0]}
	for _, word := range words[1:] {
		key, encoded, found := strings.Cut(word, "=")
		if !found || !isKey(key) {
			return Line{}, fmt.Errorf("%.40q is not key=value after exactly one space", word)
		}
		if _, twice := line.Get(key); twice {
			return Line{}, fmt.Errorf("%s comes twice", key)
		}
		value, err := decode(encoded)
		if err != nil {
			return Line{}, fmt.Errorf("%s: %w", key, err)
		}
		line.Operands = append(line.Operands, Pair{key, value})
	}
	return line, nil
}

// Encode writes a line, without LF, or returns why it cannot be written.
func Encode(line Line) (string, error) {
	var out strings.Builder
	out.WriteString(line.Word)
	for _, pair := range line.Operands {
		if len(pair.Value) > MaxValue {
			return "", fmt.Errorf("%s %s: %d bytes, at most %d are allowed", line.Word, pair.Key, len(pair.Value), MaxValue)
		}
		if strings.ContainsRune(pair.Value, 0) {
			return "", fmt.Errorf("%s %s: contains a NUL byte", line.Word, pair.Key)
		}
		out.WriteString(" " + pair.Key + "=")
		encode(&out, pair.Value)
	}
	if out.Len()+1 > MaxLine {
		return "", fmt.Errorf("%s: the line has %d bytes, at most %d are allowed", line.Word, out.Len()+1, MaxLine)
	}
	return out.String(), nil
}

func encode(out *strings.Builder, value string) {
	for i := range len(value) {
		if isPlain(value[i]) {
			out.WriteByte(value[i])
		} else {
			fmt.Fprintf(out, "%%%02X", value[i])
		}
	}
}

func decode(encoded string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(encoded); i++ {
		c := encoded[i]
		switch {
		case isPlain(c):
		case c == '%' && i+2 < len(encoded) && isHex(encoded[i+1]) && isHex(encoded[i+2]):
			c = unhex(encoded[i+1])<<4 | unhex(encoded[i+2])
			i += 2
			if c == 0 {
				return "", fmt.Errorf("%%00 is refused")
			}
		case c == '%':
			return "", fmt.Errorf("%% without two hexadecimal digits")
		default:
			return "", fmt.Errorf("byte 0x%02X must be percent-encoded", c)
		}
		out.WriteByte(c)
	}
	if out.Len() > MaxValue {
		return "", fmt.Errorf("%d bytes, at most %d are allowed", out.Len(), MaxValue)
	}
	return out.String(), nil
}

func isKey(word string) bool {
	if word == "" || len(word) > MaxKey || word[0] < 'a' || word[0] > 'z' {
		return false
	}
	for i := range len(word) {
		c := word[i]
		if !isLower(c) && !isDigit(c) && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isPlain(c byte) bool {
	return isLower(c) || c >= 'A' && c <= 'Z' || isDigit(c) || strings.IndexByte("-._~:/,@+;*", c) >= 0
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case isLower(c):
		return c - 'a' + 10
	default:
		return c - 'A' + 10
	}
}
