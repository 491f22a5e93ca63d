// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"regexp"
	"strings"
)

var plain = regexp.MustCompile(`^[0-9A-Za-z@%+=:,./_-]+$`)

// Shell writes the words of a command so that a shell reads them as they are.
func Shell(words []string) string {
	var quoted []string
	for _, word := range words {
		word = Clean(word)
		if !plain.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted = append(quoted, word)
	}
	return strings.Join(quoted, " ")
}
