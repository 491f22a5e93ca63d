// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// mostLabel is the longest value of a label, in bytes.
const mostLabel = 255

// labelName is what the name of a label looks like: selections have it in front of =, inventories name groups after it.
var labelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$`)

// CheckLabels returns why labels cannot be selected by, and the name of the first such label.
func CheckLabels(labels map[string]string) (name string, err error) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		value := labels[name]
		switch {
		case !labelName.MatchString(name):
			return name, fmt.Errorf("the name of label %q must have only A-Z a-z 0-9 . _ / -, at most 63, and start with a "+
				"letter or a digit", name)
		case len(value) > mostLabel || strings.ContainsFunc(value, unicode.IsControl) || value != strings.TrimSpace(value):
			return name, fmt.Errorf("the value of label %s must be one line of at most %d bytes, without space at its ends",
				name, mostLabel)
		}
	}
	return "", nil
}
