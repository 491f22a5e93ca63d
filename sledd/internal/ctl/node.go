// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/sledd/internal/mac"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

func (a *app) nodes() *resource[api.Node] {
	return &resource[api.Node]{
		noun: "node", plural: "nodes", placeholder: "NODE",
		columns: a.NodeColumns(),
		list: func(ctx context.Context, c *api.Client, f api.Filter) ([]api.Node, error) {
			return api.Collect(c.Nodes(ctx, f))
		},
		get: func(ctx context.Context, c *api.Client, name string) (api.Node, error) { return c.Node(ctx, name) },
		remove: func(ctx context.Context, c *api.Client, name string, options ...api.Option) error {
			return c.DeleteNode(ctx, name, options...)
		},
		loss: nodeLoss, detail: a.Node, filters: addNodeFilters, complete: a.completeNodes,
		examples: examples{"sledctl node list -l rack=a --phase failed\n  sledctl node list --sort -since",
			"sledctl node get n1", "sledctl node delete n1 n2"},
	}
}

func addNodeFilters(command *cobra.Command, filter *api.Filter) {
	addFilters(command, filter)
	addSort(command, filter)
}

func (a *app) nodeCommand() *cobra.Command {
	r := a.nodes()
	remove := r.deleteCommand(a, "delete", "Delete nodes from the fleet; the machines keep running",
		"Deletes declaration, facts, log and events of nodes. A node with a binding is\nrefused: delete the binding first. "+
			"The command asks before it deletes, on a\nterminal and without --yes.")
	return group("node", "Declare and inspect nodes", r.listCommand(a), r.getCommand(a), a.nodeDisksCommand(),
		a.nodeForgetDiskCommand(), a.nodeNetworkCommand(),
		a.nodeApplyCommand(r), a.nodeReplaceCommand(r), remove)
}

// nodeLoss describes what is forgotten with a node.
func nodeLoss(ctx context.Context, client *api.Client, name string, options ...api.Option) (string, error) {
	if err := client.DeleteNode(ctx, name, append(options, api.DryRun())...); err != nil {
		return "", err
	}
	node, err := client.Node(ctx, name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %s, image %s; declaration, facts, log and events are lost, its disk stays as it is",
		name, wording.Phase(node.Status.Phase), cmp.Or(node.Status.Image, "none")), nil
}

// nodeFlags are the parts of a declaration that flags can set.
type nodeFlags struct {
	file, mac, name, bmc string
	macs, unlabel        []string
	labels               map[string]string
	attributes           attributeFlags
}

func (a *app) nodeApplyCommand(r *resource[api.Node]) *cobra.Command {
	var f nodeFlags
	command := &cobra.Command{
		Use: "apply [NODE]", Aliases: []string{"accept"}, Short: "Declare, change or accept a node",
		Long: `Declares a node or changes its declaration. NODE is its MAC or its name.
Attributes without a flag keep their value; -f replaces whole declarations. To
accept a discovered node, set its name.`,
		Example: `  sledctl node accept 52:54:00:77:00:01 --name n1
  sledctl node apply n1 --disk serial:LAB-0001 --label rack=a \
      --bmc ipmi://10.77.0.201:623
  sledctl node apply -f nodes.yaml`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (f.file == "") == (len(args) == 0) {
				return usagef("expected either NODE or -f FILE")
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			if f.file != "" {
				return a.applyNodeFile(cmd.Context(), client, r, f.file)
			}
			node, err := f.apply(a, cmd, client, args[0])
			if err != nil {
				return err
			}
			return r.print(a, []api.Node{node})
		},
	}
	flags := command.Flags()
	flags.StringVarP(&f.file, "file", "f", "",
		"file of declarations in YAML or JSON, as printed by sledctl node get -o yaml; - is standard input")
	flags.StringVar(&f.mac, "mac", "", "MAC address; required when NODE is the name of a new node")
	flags.StringSliceVar(&f.macs, "macs", nil,
		"MACs of further interfaces that the machine may boot from, joined by commas; empty: none")
	flags.StringVar(&f.name, "name", "", "unique host name")
	flags.StringToStringVarP(&f.labels, "label", "l", nil, "set a label (repeatable)")
	flags.StringArrayVar(&f.unlabel, "unlabel", nil, "remove a label (repeatable)")
	flags.StringVar(&f.bmc, "bmc", "",
		"power control, DRIVER://ADDRESS[:PORT], such as ipmi://10.0.0.9; empty: none")
	f.attributes = newAttributeFlags(command, attribute.Plain(attribute.Node))
	return command
}

func (a *app) applyNodeFile(ctx context.Context, client *api.Client, r *resource[api.Node], file string) error {
	requested, err := readObjects[api.Node](a, file)
	if err != nil {
		return err
	}
	stored := make([]api.Node, 0, len(requested))
	for i, node := range requested {
		answer, err := client.PutNode(ctx, node.NodeSpec)
		if err != nil {
			return fmt.Errorf("%s: item %d (%s): %w", file, i+1, node.Name, err)
		}
		stored = append(stored, answer)
	}
	return r.print(a, stored)
}

// apply reads the declaration, applies the flags and writes it back. It fails if the declaration changed meanwhile.
func (f *nodeFlags) apply(a *app, cmd *cobra.Command, client *api.Client, name string) (api.Node, error) {
	node, err := client.Node(cmd.Context(), name)
	if err != nil && !api.IsNotFound(err) {
		return node, err
	}
	if api.IsNotFound(err) {
		if node.NodeSpec, err = f.fresh(name); err != nil {
			return node, err
		}
	}
	if err := f.change(a, cmd, &node.NodeSpec); err != nil {
		return node, err
	}
	if node.Name == "" {
		return node, usagef("%s has no name: set it with --name", name)
	}
	condition := api.IfAbsent()
	if node.Declared {
		condition = api.IfRevision(node.Revision)
	}
	return client.PutNode(cmd.Context(), node.NodeSpec, condition)
}

// fresh starts the declaration of a node that does not exist in sledd.
func (f *nodeFlags) fresh(name string) (api.NodeSpec, error) {
	if mac.Looks(name) {
		address, err := mac.Parse(name)
		if err != nil {
			return api.NodeSpec{}, &usageError{err: err}
		}
		return api.NodeSpec{MAC: address}, nil
	}
	if f.mac == "" {
		return api.NodeSpec{}, usagef("node %s does not exist; to declare it, set its MAC with --mac", name)
	}
	address, err := mac.Parse(f.mac)
	if err != nil {
		return api.NodeSpec{}, &usageError{err: err}
	}
	return api.NodeSpec{MAC: address, Name: name}, nil
}

func (f *nodeFlags) change(a *app, cmd *cobra.Command, spec *api.NodeSpec) error {
	changed := cmd.Flags().Changed
	if err := f.attributes.set(spec); err != nil {
		return err
	}
	if text := spec.Network; changed("network") && text != "" && !slices.Contains(api.NetworkWords(), text) {
		declared, err := readNetwork(a, string(text))
		if err != nil {
			return err
		}
		spec.Network = declared
	}
	if changed("name") {
		spec.Name = f.name
	}
	if changed("macs") {
		macs, err := parseMACs(f.macs)
		if err != nil {
			return err
		}
		spec.MACs = macs
	}
	if spec.Labels == nil {
		spec.Labels = map[string]string{}
	}
	for key, value := range f.labels {
		spec.Labels[key] = value
	}
	for _, key := range f.unlabel {
		delete(spec.Labels, key)
	}
	if f.mac != "" {
		if address, err := mac.Parse(f.mac); err != nil || address != spec.MAC {
			return usagef("--mac %s: node %s has MAC %s, which cannot change; after a new network card or "+
				"mainboard: sledctl node replace %s --mac %s", f.mac, spec.Name, spec.MAC, spec.Name, f.mac)
		}
	}
	if changed("bmc") {
		bmc, err := parseBMC(f.bmc)
		if err != nil {
			return err
		}
		spec.BMC = bmc
	}
	return nil
}

// parseMACs returns MACs as the API has them.
func parseMACs(texts []string) ([]string, error) {
	var macs []string
	for _, text := range texts {
		address, err := mac.Parse(text)
		if err != nil {
			return nil, usagef("--macs: %w", err)
		}
		macs = append(macs, address)
	}
	return macs, nil
}

// parseBMC reads DRIVER://ADDRESS[:PORT]; empty removes the power control.
func parseBMC(words string) (*api.BMC, error) {
	if words == "" {
		return nil, nil //nolint:nilnil // nil is a valid value: no power control
	}
	u, err := url.Parse(words)
	if err != nil || u.Scheme == "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return nil, usagef("--bmc %q: expected DRIVER://ADDRESS[:PORT] without a password", words)
	}
	bmc := &api.BMC{Driver: u.Scheme, Address: u.Hostname()}
	if u.Port() != "" {
		if bmc.Port, err = strconv.ParseInt(u.Port(), 10, 64); err != nil {
			return nil, usagef("--bmc %q: port: %w", words, err)
		}
	}
	return bmc, nil
}
