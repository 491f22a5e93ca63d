// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// root of the project, as seen from this package.
const project = "../../.."

var (
	// namedCommand is a command line of sledctl in a page or a message: in code quotes, or at the start of a line.
	namedCommand = regexp.MustCompile("(?m)(?:`|^ *\\$? ?|see |with: |: )(sledctl [a-z][a-z-]*[^,`\"\\n|;()\\\\]*)")
	namedFlag    = regexp.MustCompile(`(?:^| )(--[a-z][a-z-]*)`)
)

// Every command line of sledctl that a page or a message names exists, with its flags.
func TestNamedCommandsExist(t *testing.T) {
	seen := 0
	for _, file := range namingFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range namedCommand.FindAllStringSubmatch(string(text), -1) {
			seen++
			for _, line := range strings.Split(match[1], "&&") {
				checkNamed(t, file, strings.TrimSpace(line))
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d command lines were found", seen)
	}
}

// namingFiles are the pages for people and the sources with messages that name commands.
func namingFiles(t *testing.T) []string {
	t.Helper()
	files := []string{filepath.Join(project, "README.md")}
	for _, folder := range []string{"docs", "sledd", "roles", "playbooks", "terraform-provider/docs"} {
		err := filepath.WalkDir(filepath.Join(project, folder), func(path string, entry fs.DirEntry, err error) error {
			kind := filepath.Ext(path)
			if err == nil && !entry.IsDir() && !strings.HasSuffix(path, "_test.go") &&
				slices.Contains([]string{".md", ".go", ".yml"}, kind) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func checkNamed(t *testing.T, file, line string) {
	t.Helper()
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "sledctl" {
		return
	}
	command, rest, err := (&app{}).root().Find(words[1:])
	if err != nil || !command.HasParent() || command.HasSubCommands() && len(rest) > 0 && isWord(rest[0]) {
		t.Errorf("%s: %q: there is no such command: %v", file, line, err)
		return
	}
	for _, match := range namedFlag.FindAllStringSubmatch(line, -1) {
		if name := strings.TrimPrefix(match[1], "--"); !takesFlag(command, name) {
			t.Errorf("%s: %q: there is no flag --%s", file, line, name)
		}
	}
}

func isWord(text string) bool { return regexp.MustCompile(`^[a-z-]+$`).MatchString(text) }

func takesFlag(command *cobra.Command, name string) bool {
	return name == "help" || command.Flags().Lookup(name) != nil || command.InheritedFlags().Lookup(name) != nil
}
