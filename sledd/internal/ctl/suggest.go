// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Groups of commands in the help.
const (
	look    = "look"
	declare = "declare"
	images  = "image"
	rollOut = "rollout"
	operate = "operate"
)

// grouped adds commands to the root under one title.
func grouped(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, command := range commands {
		command.GroupID = id
	}
	root.AddCommand(commands...)
}

// onlySubcommands refuses arguments of a command that only has subcommands, and names those that may be meant.
func onlySubcommands(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], command.CommandPath())
	if meant := meantBy(command, args); len(meant) > 0 {
		text += "; did you mean: " + strings.Join(meant, ", ")
	}
	return fmt.Errorf("%s", text)
}

// meantBy returns the paths of commands that mistyped words may stand for: siblings that are spelled alike, else those
// of this name in other groups, such as "node get" for "get nodes".
func meantBy(command *cobra.Command, args []string) []string {
	command.SuggestionsMinimumDistance = 2
	var paths []string
	alike := command.SuggestionsFor(args[0])
	if started := slices.DeleteFunc(slices.Clone(alike), func(name string) bool {
		return !strings.HasPrefix(name, args[0])
	}); len(started) > 0 {
		alike = started
	}
	for _, name := range slices.Sorted(slices.Values(alike)) {
		paths = append(paths, command.CommandPath()+" "+name)
	}
	if len(paths) > 0 {
		return paths
	}
	for _, group := range command.Root().Commands() {
		for _, leaf := range group.Commands() {
			if leaf.Name() == args[0] || slices.Contains(leaf.Aliases, args[0]) {
				paths = append(paths, leaf.CommandPath())
			}
		}
	}
	if len(args) > 1 {
		noun := command.Root().CommandPath() + " " + strings.TrimSuffix(args[1], "s") + " "
		if named := slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
			return !strings.HasPrefix(path, noun)
		}); len(named) > 0 {
			return named
		}
	}
	return paths
}
