// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"archive/zip"
	"encoding/base64"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// Kept is all that the state and a saved plan hold, if one is named: the state file, the files in the plan file, and
// what is encoded in them, such as private state.
func (c *CLI) Kept(plan string) string {
	c.Helper()
	text := c.State()
	if plan != "" {
		text += c.entries(plan) + c.Must("show", "-json", plan)
	}
	return text + decoded(text, 3)
}

// entries are the files in a saved plan, which is a zip.
func (c *CLI) entries(plan string) string {
	c.Helper()
	archive, err := zip.OpenReader(filepath.Join(c.Dir, plan))
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	var all strings.Builder
	for _, entry := range archive.File {
		file, err := entry.Open()
		if err != nil {
			c.Fatal(err)
		}
		_, err = io.Copy(&all, file) //nolint:gosec // the CLI under test wrote it
		if err != nil || file.Close() != nil {
			c.Fatal(entry.Name, err)
		}
	}
	if all.Len() == 0 {
		c.Fatalf("%s holds nothing", plan)
	}
	return all.String()
}

var encodedPattern = regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}`)

// decoded is what is encoded in base64 in a text, and in what that decodes to, so many levels deep.
func decoded(text string, levels int) string {
	if levels == 0 || text == "" {
		return ""
	}
	var all strings.Builder
	for _, found := range encodedPattern.FindAllString(text, -1) {
		if plain, err := base64.StdEncoding.DecodeString(found); err == nil {
			all.Write(plain)
			all.WriteByte('\n')
		}
	}
	return all.String() + decoded(all.String(), levels-1)
}
