// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// operatorKeys are the public keys that are taken when none is named, the first that is there.
var operatorKeys = []string{"id_ed25519.pub", "id_ecdsa.pub", "id_rsa.pub"}

// rescue is one command line.
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
		Use: "rescue NODE...", Short: "Put nodes under rescue: the Sled system with SSH, no disk touched; or end that",
		Long: `Puts nodes under rescue. One that waits in the Sled system gets it at once, any other when it boots next: nothing here switches power
(playbooks/rescue.yml does). Whoever has one of the keys enters as root; the host key is another one at each boot, and is shown.
Disks are neither mounted nor written, and what is wished of the node waits. With --end it goes on as it would have without the
rescue: one that waited waits again, one with a system reboots into it.`,
		Example: "  sledctl rescue n1 --wait\n  sledctl rescue n1 n2 --key ~/.ssh/id_ed25519.pub --key team.pub\n  sledctl rescue n1 --end",
		Args:    cobra.MinimumNArgs(1), ValidArgsFunction: a.completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			if r.end {
				return r.ended(cmd.Context(), client, args)
			}
			return r.begin(cmd.Context(), client, args)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&r.files, "key", nil, "file of SSH public keys that may enter (repeatable); default: yours in ~/.ssh")
	flags.BoolVar(&r.end, "end", false, "end the rescue")
	flags.BoolVarP(&r.wait, "wait", "w", false, "wait until the nodes can be entered")
	flags.DurationVar(&r.timeout, "timeout", 10*time.Minute, "with --wait: give up after this time")
	command.MarkFlagsMutuallyExclusive("end", "wait")
	command.MarkFlagsMutuallyExclusive("end", "key")
	return command
}

func (r *rescue) begin(ctx context.Context, client *api.Client, names []string) error {
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
		if err := r.enter(ctx, client, nodes); err != nil {
			return err
		}
	}
	return r.show(nodes, func() {
		for _, node := range nodes {
			_, _ = fmt.Fprintln(r.Out, r.Screen.hang(rescueText(node), 2))
		}
	})
}

func (r *rescue) ended(ctx context.Context, client *api.Client, names []string) error {
	for _, name := range names {
		if err := client.DeleteRescue(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, _ = fmt.Fprintf(r.Out, "%s: the rescue has ended\n", name)
	}
	return nil
}

// enter waits until all nodes said that they can be entered, or cannot.
func (r *rescue) enter(ctx context.Context, client *api.Client, nodes []api.Node) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for i := range nodes {
		for nodes[i].Rescue != nil && nodes[i].Rescue.Entered.IsZero() {
			select {
			case <-time.After(r.every):
			case <-ctx.Done():
				return fmt.Errorf("waited %s for %s to be entered: it is %s; does it boot from the network?", r.timeout, nodes[i].Name, dash(string(nodes[i].Status.Phase)))
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

// keys reads those of the files, or the caller's own.
func (r *rescue) keys() ([]string, error) {
	var keys []string
	for _, file := range r.files {
		found, err := readKeys(file)
		if err != nil {
			return nil, &usageError{err: fmt.Errorf("--key: %w", err)}
		}
		keys = append(keys, found...)
	}
	for _, name := range operatorKeys {
		if len(keys) > 0 {
			break
		}
		keys, _ = readKeys(filepath.Join(r.Getenv("HOME"), ".ssh", name))
	}
	if len(keys) == 0 {
		return nil, usagef("no key: name a file of SSH public keys with --key, there is none of %s in ~/.ssh", strings.Join(operatorKeys, ", "))
	}
	return keys, nil
}

// readKeys gives the lines of a file of public keys, without comments and empty ones. A private key is refused.
func readKeys(file string) ([]string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	var keys []string
	for _, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "-----BEGIN") {
			return nil, fmt.Errorf("%s is a private key: the public one is wanted, %s.pub", file, file)
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	return keys, nil
}

// rescueText says how a node under rescue is entered, or what it waits for.
func rescueText(n api.Node) string {
	name := n.Name
	if name == "" {
		name = n.MAC
	}
	switch r := n.Rescue; {
	case r == nil:
		return name + ": not under rescue"
	case r.Reason != "":
		return name + ": the rescue failed: " + clean(r.Reason, "")
	case r.Address != "":
		return fmt.Sprintf("%s: ssh root@%s  host key %s", name, clean(r.Address, ""), clean(r.Fingerprint, ""))
	default:
		return name + ": under rescue from its next boot on"
	}
}
