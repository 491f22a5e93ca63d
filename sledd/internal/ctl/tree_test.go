// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls visit for every command that is built in this package, parents first.
func eachCommand(root *cobra.Command, visit func(*cobra.Command)) {
	visit(root)
	for _, child := range root.Commands() {
		eachCommand(child, visit)
	}
}

func TestCommandTree(t *testing.T) {
	commands := 0
	eachCommand((&app{}).root(), func(c *cobra.Command) {
		commands++
		path := c.CommandPath()
		siblings := map[string]bool{}
		for _, child := range c.Commands() {
			for _, name := range append([]string{child.Name()}, child.Aliases...) {
				if siblings[name] {
					t.Errorf("%s: %q is listed twice", path, name)
				}
				siblings[name] = true
			}
		}
		if c.Short == "" || !unicode.IsUpper(rune(c.Short[0])) || c.Short[len(c.Short)-1] == '.' {
			t.Errorf("%s: short text %q: want a sentence without a full stop", path, c.Short)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: flag --%s has no usage text", path, f.Name)
			}
		})
	})
	if commands < 30 {
		t.Errorf("%d commands were visited", commands)
	}
}
