// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// versions of the two programs.
type versions struct {
	Client string `json:"client"`
	Server string `json:"server,omitempty"` // empty: no server is configured
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the versions of sledctl and sledd",
		Long: `Prints the version of sledctl and, if a server is configured, that of its sledd.
A warning tells that they differ: an option or an attribute of one may then be
missing in the other.`,
		Example: "  sledctl version\n  sledctl version -o json", Args: cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := versions{Client: a.Version}
			failed := a.serverVersion(cmd, &found)
			err := a.show(found, func() {
				_, _ = fmt.Fprintf(a.Out, "sledctl  %s\n", found.Client)
				if found.Server != "" {
					_, _ = fmt.Fprintf(a.Out, "sledd    %s\n", found.Server)
				}
			})
			if failed != nil {
				return failed
			}
			if found.Server != "" && found.Server != found.Client {
				_, _ = fmt.Fprintln(a.Err, a.Screen.Hang(fmt.Sprintf("sledctl: warning: this is release %s, and sledd is "+
					"release %s: install the same release of both", found.Client, found.Server), 2))
			}
			return err
		},
	}
}

// serverVersion asks sledd for its version, if a server is configured.
func (a *app) serverVersion(cmd *cobra.Command, found *versions) error {
	if a.config.FromEnvironment(a.Getenv).Server == "" {
		return nil
	}
	client, err := a.client()
	if err != nil {
		return err
	}
	server, err := client.Version(cmd.Context())
	found.Server = wording.Clean(server.Version)
	return err
}
