// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sled-fleet/sled/sledd/attribute"
)

// attributeFlags are the flags that set attributes of a node or an image.
type attributeFlags []attributeFlag

type attributeFlag struct {
	name  string
	flag  *pflag.Flag
	value any // a pointer
}

// newAttributeFlags defines a flag for each attribute that has one.
func newAttributeFlags(command *cobra.Command, list []attribute.Attribute) attributeFlags {
	var all attributeFlags
	flags := command.Flags()
	for _, one := range list {
		if one.Flag == "" {
			continue
		}
		var value any
		switch one.Type {
		case "bool":
			value = flags.Bool(one.Flag, false, one.Help)
		case "int":
			value = flags.Int64(one.Flag, 0, one.Help)
		case "strings":
			value = flags.StringArray(one.Flag, nil, one.Help)
		case "map":
			value = flags.StringToStringP(one.Flag, one.Flag[:1], nil, one.Help)
		default:
			value = flags.String(one.Flag, "", one.Help)
		}
		flag := flags.Lookup(one.Flag)
		if one.Value != "" {
			flag.Value = namedValue{flag.Value, one.Value}
		}
		if len(one.Values) > 0 {
			_ = command.RegisterFlagCompletionFunc(one.Flag,
				cobra.FixedCompletions(one.Values, cobra.ShellCompDirectiveNoFileComp))
		}
		all = append(all, attributeFlag{one.Name, flag, value})
	}
	return all
}

// set copies the flags that were given to a declaration.
func (f attributeFlags) set(spec any) error {
	given := map[string]any{}
	for _, one := range f {
		if one.flag.Changed {
			given[one.name] = one.value
		}
	}
	text, err := json.Marshal(given)
	if err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	if err := json.Unmarshal(text, spec); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	return nil
}
