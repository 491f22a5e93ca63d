// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/network"
)

// backends are what a network is rendered for.
var backends = []string{"networkd", "networkmanager", "netplan-networkd", "netplan-networkmanager"}

func (a *app) nodeNetworkCommand() *cobra.Command {
	var check, backend string
	command := &cobra.Command{
		Use: "network NODE", Short: "Print, check or render the network of a node's installed system",
		Long: `Prints the network that is declared for a node: image, dhcp, or a file of
netplan. It is declared by
  sledctl node apply NODE --network FILE

--check lets sledd check a file as if it were declared for the node, and
changes nothing. --render prints the files that images get which start
systemd-networkd or NetworkManager, without netplan or with it.`,
		Example: "  sledctl node network n1\n  sledctl node network n1 --check n1.yaml\n" +
			"  sledctl node network n1 --render networkd",
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			if backend != "" {
				return a.renderNetwork(cmd, client, args[0], backend)
			}
			node, err := client.Node(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if check == "" {
				return a.printNetwork(node.Network)
			}
			if node.Network, err = readNetwork(a, check); err != nil {
				return err
			}
			if _, err = client.PutNode(cmd.Context(), node.NodeSpec, api.DryRun()); err == nil {
				_, err = fmt.Fprintf(a.Err, "%s: %s can be declared\n", cmp.Or(node.Name, node.MAC), check)
			}
			return err
		},
	}
	command.Flags().StringVar(&check, "check", "", "file of netplan to check")
	command.Flags().StringVar(&backend, "render", "", strings.Join(backends, ", "))
	command.MarkFlagsMutuallyExclusive("check", "render")
	_ = command.RegisterFlagCompletionFunc("render", cobra.FixedCompletions(backends, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// readNetwork reads a file of netplan.
func readNetwork(a *app, name string) (api.Network, error) {
	content, err := a.readFile(name)
	if err != nil {
		return "", err
	}
	found, err := network.FromFile(content)
	if err == nil {
		found, err = network.Canonical(found)
	}
	if err != nil {
		return "", usagef("%s: %w", name, err)
	}
	return found, nil
}

func (a *app) printNetwork(declared api.Network) error {
	if !declared.Declared() {
		_, err := fmt.Fprintln(a.Out, string(cmp.Or(declared, api.ImageNetwork)))
		return err //nolint:wrapcheck // of standard output
	}
	text, err := yaml.JSONToYAML(fmt.Appendf(nil, `{"network": %s}`, declared))
	if err == nil {
		_, err = a.Out.Write(text)
	}
	return err //nolint:wrapcheck // of standard output
}

func (a *app) renderNetwork(cmd *cobra.Command, client *api.Client, node, backend string) error {
	if !slices.Contains(backends, backend) {
		return usagef("--render %q: want one of %s", backend, strings.Join(backends, ", "))
	}
	rendered, err := client.NodeNetwork(cmd.Context(), node)
	if err != nil {
		return err
	}
	all := map[string][]api.NetworkFile{}
	text, err := json.Marshal(rendered)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	for _, file := range all[strings.ReplaceAll(backend, "-", "_")] {
		if err == nil {
			_, err = fmt.Fprintf(a.Out, "# %s\n%s\n", file.Path, file.Content)
		}
	}
	return err //nolint:wrapcheck // of standard output
}
