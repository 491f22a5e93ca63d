// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sled-fleet/sled/sledd/internal/ctl/ctltest"
	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
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
		if !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s has no example", path)
		}
		flags := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			flags++
			nameValue(f)
			if name, _ := pflag.UnquoteUsage(f); name != strings.ToUpper(name) {
				t.Errorf("%s: flag --%s takes a value of type %q", path, f.Name, name)
			}
			if f.Usage == "" {
				t.Errorf("%s: flag --%s has no usage text", path, f.Name)
			}
		})
		if flags > 1 && !c.HasSubCommands() && c.Long == "" {
			t.Errorf("%s has %d flags and no long text", path, flags)
		}
	})
	if commands < 30 {
		t.Errorf("%d commands were visited", commands)
	}
}

// Help is read on a terminal of 80 columns; flags use the room of a wider one.
func TestHelpTexts(t *testing.T) {
	for _, width := range ctltest.Widths {
		all := ctltest.Transcript{}
		eachCommand((&app{}).root(), func(c *cobra.Command) {
			args := append(strings.Fields(c.CommandPath())[1:], "--help")
			got := run(t.Context(), "", "", ctltest.Terminal(width), args...)
			if got.code != exitDone || got.err != "" {
				t.Errorf("%s: %+v", c.CommandPath(), got)
			}
			ctltest.CheckWidth(t, c.CommandPath(), got.out, width)
			all.Add(strings.Join(args, " "), got.out)
		})
		all.At(t, width, "help")
	}
	if got := run(t.Context(), "", "", show.Screen{}, "bind", "--help"); got.code != exitDone {
		t.Errorf("%+v", got)
	} else {
		ctltest.CheckWidth(t, "help in a pipe", got.out, 80)
	}
}
