// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// knownHost is a node's SSH server, as ssh is to know it.
type knownHost struct {
	Name    string      `json:"name"`
	MAC     string      `json:"mac"`
	Address api.Address `json:"address,omitzero"`
	HostKey api.HostKey `json:"host_key"`
}

func (a *app) knownHostsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "known-hosts [NODE...]", Short: "Print the SSH host keys of nodes",
		Long: `Prints lines of known_hosts for nodes, default: for all that have a host key.
Each has the name, the address and the MAC of a node, and the key that was made
when the node was imaged. Under rescue, it is the key of the rescue.

ssh runs the command itself with KnownHostsCommand, and so has the key of a node
that was just imaged again. Then give the absolute path of sledctl.`,
		Example: `  sledctl known-hosts > ~/.ssh/known_hosts_rack
  ssh -o StrictHostKeyChecking=yes -o HostKeyAlias=n1 \
      -o KnownHostsCommand="/usr/bin/sledctl known-hosts n1" root@10.77.0.101`,
		ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			hosts, err := knownHosts(cmd.Context(), client, args)
			if err != nil {
				return err
			}
			return a.show(hosts, func() {
				for _, host := range hosts {
					_, _ = fmt.Fprintln(a.Out, host.line())
				}
			})
		},
	}
}

// knownHosts returns the named nodes, each of which must have a key, or all that have one.
func knownHosts(ctx context.Context, client *api.Client, names []string) ([]knownHost, error) {
	hosts := []knownHost{}
	for _, name := range names {
		node, err := client.Node(ctx, name)
		if err != nil {
			return nil, err
		}
		host := knownHostOf(node)
		if host.HostKey.IsZero() {
			return nil, fmt.Errorf("%s has no host key in sledd: its image has no SSH server, or was written before "+
				"sledd kept host keys; image the node again", name)
		}
		hosts = append(hosts, host)
	}
	if len(names) > 0 {
		return hosts, nil
	}
	used := map[string]int{}
	for node, err := range client.Nodes(ctx, api.Filter{}) {
		if err != nil {
			return nil, err
		}
		if host := knownHostOf(node); !host.HostKey.IsZero() {
			used[host.Address.String()]++
			hosts = append(hosts, host)
		}
	}
	for i, host := range hosts { // an address that went from one node to another would stand for both keys
		if used[host.Address.String()] > 1 {
			hosts[i].Address = api.Address{}
		}
	}
	return hosts, nil
}

// knownHostOf returns the SSH server that a node runs now. Without a host key, none is known.
func knownHostOf(node api.Node) knownHost {
	host := knownHost{Name: node.Name, MAC: node.MAC, Address: node.Status.Address}
	if system := node.Status.OS; system != nil {
		host.HostKey = system.HostKey
		if !system.Address.IsZero() {
			host.Address = system.Address
		}
	}
	if detour := node.Detour(); detour != nil {
		if address, key := detour.Login(); !key.IsZero() {
			host.Address, host.HostKey = address, key
		}
	}
	return host
}

// line is the one of known_hosts.
func (h knownHost) line() string {
	var names []string
	for _, name := range []string{h.Name, h.Address.String(), h.MAC} {
		if name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",") + " " + h.HostKey.String()
}
