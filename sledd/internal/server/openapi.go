// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// apiVersion is that of the operator API, not of a release.
const apiVersion = "1"

// OpenAPI returns the document of the operator API, as it is committed in contract/openapi.json.
func OpenAPI() ([]byte, error) {
	description := NewAPI(http.NewServeMux())
	(&Server{}).Describe(description)
	compact, err := json.Marshal(description.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return outline(compact), nil
}

// outlineDepth is the level of nesting from which on a value is written on one line: a parameter of a request, a
// response, a property of a schema.
const outlineDepth = 6

// outline indents compact JSON, one line for each value of outlineDepth: a changed field is a changed line.
func outline(compact []byte) []byte {
	var out bytes.Buffer
	depth, quoted := 0, false
	newline := func(level int) {
		if depth < outlineDepth {
			out.WriteString("\n" + strings.Repeat("  ", level))
		}
	}
	for i, char := range compact {
		switch {
		case quoted:
			out.WriteByte(char)
			quoted = char != '"' || escaped(compact[:i])
		case char == '{' || char == '[':
			out.WriteByte(char)
			depth++
			newline(depth)
		case char == '}' || char == ']':
			newline(depth - 1)
			depth--
			out.WriteByte(char)
		default:
			out.WriteByte(char)
			quoted = char == '"'
			if char == ':' || char == ',' && depth >= outlineDepth {
				out.WriteByte(' ')
			} else if char == ',' {
				newline(depth)
			}
		}
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// escaped reports whether the text ends in an odd number of backslashes.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}
