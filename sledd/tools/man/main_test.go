// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/internal/ctl"
)

func TestEveryCommandHasAPage(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1764028800")
	folder := t.TempDir()
	if err := write("1.2.3", folder); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		pages++
		page := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(folder, page))
		if err != nil || !strings.Contains(string(text), `"Nov 2025" "Sled 1.2.3" "Sled"`) ||
			!strings.Contains(string(text), ".SH SYNOPSIS") {
			t.Errorf("%s: %v\n%.300s", page, err, text)
		}
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() {
				visit(child)
			}
		}
	}
	visit(ctl.Command())
	if files, err := os.ReadDir(folder); err != nil || len(files) != pages {
		t.Errorf("%d pages of %d commands, %v", len(files), pages, err)
	}
}
