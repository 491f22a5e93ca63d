// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

// operatorKeys are the default public keys; the first that exists is used.
var operatorKeys = []string{"id_ed25519.pub", "id_ecdsa.pub", "id_rsa.pub"}

// rescue is one run of `sledctl rescue`.
type rescue struct {
	*app
	files   []string
	end     bool
	wait    bool
	timeout time.Duration
	every   time.Duration
}

func (a *app) rescueCommand() *cobra.Command {
	r := &rescue{app: a, every: pollEvery}
	command := &cobra.Command{
		Use: "rescue NODE...", Short: "Start or end rescue: the Sled system with SSH, disks untouched",
		Long: `Puts nodes under rescue: they run the Sled system with an SSH server. A node
that waits in the Sled system does so at once, any other at its next boot. This
command does not switch power; playbooks/rescue.yml does.

Holders of the keys log in as root. The host key is new at each boot, and is
printed. Disks are neither mounted nor written, and the node's binding is not
acted on.

--end ends the rescue. A node that was waiting waits again; a node with an
installed system reboots into it.`,
		Example: `  sledctl rescue n1 --wait
  sledctl rescue n1 n2 --key ~/.ssh/id_ed25519.pub --key team.pub
  sledctl rescue n1 --end`,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			if r.end {
				return r.finish(cmd.Context(), client, args)
			}
			return r.start(cmd.Context(), client, args)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&r.files, "key", nil,
		"file of SSH public keys for root (repeatable); default: the first in ~/.ssh")
	flags.BoolVar(&r.end, "end", false, "end the rescue")
	flags.BoolVarP(&r.wait, "wait", "w", false, "wait until the SSH servers of the nodes answer")
	flags.DurationVar(&r.timeout, "timeout", 10*time.Minute, "with --wait: give up after this time, such as 10m")
	command.MarkFlagsMutuallyExclusive("end", "wait")
	command.MarkFlagsMutuallyExclusive("end", "key")
	return command
}

func (r *rescue) start(ctx context.Context, client *api.Client, names []string) error {
	keys, err := r.keys()
	if err != nil {
		return err
	}
	nodes := make([]api.Node, len(names))
	for i, name := range names {
		if nodes[i], err = client.PutRescue(ctx, name, api.RescueSpec{AuthorizedKeys: keys}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if r.wait {
		if err := r.await(ctx, client, nodes); err != nil {
			return err
		}
	}
	return r.show(nodes, func() {
		for _, node := range nodes {
			_, _ = fmt.Fprintln(r.Out, r.Screen.Hang(wording.Rescue(node), 2))
		}
	})
}

func (r *rescue) finish(ctx context.Context, client *api.Client, names []string) error {
	for _, name := range names {
		if err := client.DeleteRescue(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, _ = fmt.Fprintf(r.Out, "%s: the rescue has ended\n", name)
	}
	return nil
}

// await polls until each node has reported that its SSH server answers, or that it cannot run one.
func (r *rescue) await(ctx context.Context, client *api.Client, nodes []api.Node) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for i := range nodes {
		for nodes[i].Rescue != nil && nodes[i].Rescue.Entered.IsZero() {
			select {
			case <-time.After(r.every):
			case <-ctx.Done():
				return fmt.Errorf("no SSH server on %s within %s: its phase is %s; does it boot from the network?",
					nodes[i].Name, r.timeout, wording.Phase(nodes[i].Status.Phase))
			}
			node, err := client.Node(ctx, nodes[i].MAC)
			if err != nil {
				return err
			}
			nodes[i] = node
		}
	}
	return nil
}

// keys reads the keys from the files of --key, or else the operator's own.
func (r *rescue) keys() ([]string, error) {
	var keys []string
	for _, file := range r.files {
		found, err := r.readKeys(file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, found...)
	}
	for _, name := range operatorKeys {
		if len(keys) > 0 {
			break
		}
		keys, _ = r.readKeys(filepath.Join(r.Getenv("HOME"), ".ssh", name))
	}
	if len(keys) == 0 {
		return nil, usagef("no key: ~/.ssh has none of %s; name a file of SSH public keys with --key",
			strings.Join(operatorKeys, ", "))
	}
	return keys, nil
}
