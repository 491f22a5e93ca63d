// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sled-fleet/sled/sledd/internal/ctl/show"
)

// The flags of all commands are listed once, in the help of sledctl itself.
const (
	everyFlag = "{{if .HasAvailableInheritedFlags}}\n\nGlobal Flags:\n" +
		"{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}"
	toGlobalFlags = "{{if and .HasAvailableInheritedFlags (not .HasAvailableSubCommands)}}\n\n" +
		"Use \"{{.Root.Name}} --help\" for the flags of all commands, such as --output.{{end}}"
)

// setHelp makes help fit the screen and names the values of flags as the texts do.
func setHelp(root *cobra.Command, screen show.Screen) {
	width := 80
	if screen.Terminal {
		width = screen.Width()
	}
	usage := strings.ReplaceAll(root.UsageTemplate(), everyFlag, toGlobalFlags)
	usage = strings.ReplaceAll(usage, ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", width))
	root.SetUsageTemplate(usage)
	help := root.HelpFunc()
	root.SetHelpFunc(func(command *cobra.Command, args []string) {
		command.Flags().VisitAll(nameValue)
		command.InheritedFlags().VisitAll(nameValue)
		help(command, args)
	})
}

// valueNames are the names of values by flag. The types of the library, such as stringToString, say little to a reader.
var valueNames = map[string]string{
	"architecture": "NAME", "bmc": "URL", "boot": "HOW", "by": "OPERATOR",
	"configure": "HOW",
	"ca":        "FILE", "context": "NAME", "disk": "SELECTOR", "file": "FILE",
	"for":      "STATE",
	"hostname": "NAME", "html": "FILE", "image": "IMAGE", "interval": "TIME", "json": "FILE",
	"kernel-arguments": "TEXT", "key": "FILE", "keys": "FILE", "kind": "KIND",
	"label": "KEY=VALUE", "limit": "N", "mac": "MAC", "mode": "MODE", "name": "NAME", "output": "FORMAT",
	"owner": "OWNER", "phase": "PHASES", "request-timeout": "TIME", "role": "ROLE", "server": "URL",
	"since": "TIME", "timeout": "TIME", "token": "TOKEN", "token-file": "FILE",
	"unlabel": "KEY", "url": "URL", "user-data": "FILE", "verify": "HOW", "wipe": "HOW",
	"wipe-method": "METHOD", "within": "TIME",
}

// namedValue is the value of a flag under the name that help prints.
type namedValue struct {
	pflag.Value
	name string
}

// Type returns the name.
func (v namedValue) Type() string { return v.name }

func nameValue(f *pflag.Flag) {
	name := valueNames[f.Name]
	if named, ok := f.Value.(namedValue); ok { // an attribute
		name = named.name
	}
	switch {
	case strings.HasPrefix(f.Value.Type(), "bool"):
		return
	case name == "" && strings.HasPrefix(f.Value.Type(), "int"):
		name = "N"
	case name == "":
		name = "TEXT"
	}
	if f.DefValue == "[]" || f.DefValue == "0s" { // pflag knows these as empty by the type of the value only
		f.DefValue = ""
	}
	f.Value = namedValue{f.Value, name}
}
