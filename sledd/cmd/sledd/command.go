// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sled-fleet/sled/sledd/internal/server"
)

func command() *cobra.Command {
	var s settings
	root := &cobra.Command{
		Use:   "sledd",
		Short: "Control plane of Sled",
		Long: "sledd answers nodes and operators over HTTP and keeps its state in etcd,\n" +
			"embedded or external. Every flag can be given as an environment variable:\n" +
			"--data-dir is SLED_DATA_DIR.",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			if err := s.check(); err != nil {
				return err
			}
			return serve(cmd.Context(), s)
		},
	}
	s.flags(root.Flags())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.AddCommand(restoreCommand(), &cobra.Command{
		Use:   "openapi",
		Short: "Print the OpenAPI document of the operator API",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := server.OpenAPI()
			if err != nil {
				return fmt.Errorf("openapi: %w", err)
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err //nolint:wrapcheck // clear enough
		},
	})
	return root
}

// fromEnvironment sets the flags that were not given from SLED_<NAME>.
func fromEnvironment(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(flag *pflag.Flag) {
		name := "SLED_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, found := os.LookupEnv(name)
		if err != nil || !found || value == "" || flag.Changed || flag.Name == "help" || flag.Name == "version" {
			return
		}
		if fault := flags.Set(flag.Name, value); fault != nil {
			err = fmt.Errorf("%s=%s: %w", name, value, fault)
		}
	})
	return err
}
