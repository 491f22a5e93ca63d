// SPDX-License-Identifier: Apache-2.0

// Package textlist is how messages list many things: the first of them, and how many there are beside.
package textlist

import (
	"fmt"
	"slices"
	"strings"
)

// Most is how many things a message lists.
const Most = 20

// More is what follows the first of so many things; empty: all of them are listed.
func More(count int) string {
	if count <= Most {
		return ""
	}
	return fmt.Sprintf("and %d more", count-Most)
}

// Sentence lists names within a sentence, in order.
func Sentence(names []string) string {
	names = slices.Sorted(slices.Values(names))
	if more := More(len(names)); more != "" {
		return strings.Join(names[:Most], ", ") + " " + more
	}
	return strings.Join(names, ", ")
}

// Lines lists one thing in each line, as they are ordered.
func Lines(lines []string) string {
	if more := More(len(lines)); more != "" {
		lines = append(lines[:Most:Most], more)
	}
	return strings.Join(lines, "\n")
}
