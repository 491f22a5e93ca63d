// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/internal/ctl/live"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

func (a *app) imageCaptureCommand() *cobra.Command {
	w := &watch{app: a, judge: live.Judge, wait: true}
	wait, dry, disk, partition := false, false, "", ""
	command := &cobra.Command{
		Use: "capture NODE IMAGE", Short: "Make an image of a node's disk",
		Long: `Requests that the disk of a node becomes a registered image, or one partition
of it. The node captures it at its next boot; this command does not switch
power. The disk is only read, and the node's own system starts again
afterwards. The image is not signed, see sledctl image sign.

With --wait, the command ends when the image is registered. If the node fails,
it prints the reason and exits with code 1.`,
		Example: `  sledctl image capture n1 debian-12-golden --wait --timeout 1h
  sledctl image sign debian-12-golden --key image.key`,
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeFirstNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			change := func(spec *api.BindingSpec) {
				spec.Node, spec.Image, spec.Capture = args[0], "", args[1]
				spec.Disk = cmp.Or(disk, spec.Disk)
				if cmd.Flags().Changed("partition") {
					spec.Partition = partition
				}
			}
			if wait && a.output != "table" {
				return usagef("--wait prints progress: it excludes -o %s", a.output)
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			binding, err := a.capture(cmd.Context(), client, args[0], change, dry)
			if err != nil || dry {
				return err
			}
			if !wait {
				return a.bindings().printWith(cmd.Context(), a, client, []api.Binding{binding})
			}
			w.client, w.names, w.every, w.view = client, args[:1], pollEvery, live.Nodes(a.Printer)
			return w.run(cmd.Context())
		},
	}
	command.Flags().StringVar(&disk, "disk", "", "disk selector; default: that of the binding, else that of the node")
	command.Flags().StringVar(&partition, "partition", "",
		"only this partition of the disk; default: that of the binding; '': the whole disk")
	command.Flags().BoolVar(&dry, "dry-run", false, "show what would be changed, and change nothing")
	command.Flags().BoolVarP(&wait, "wait", "w", false, "wait until the image is registered or the node fails")
	command.Flags().DurationVar(&w.timeout, "timeout", 0,
		"with --wait: give up after this time, such as 1h; default: no limit")
	return command
}

// capture changes the binding of a node, after it has printed what sledd judges of that; disk, host name, keys and user
// data stay for the next image.
func (a *app) capture(
	ctx context.Context, client *api.Client, node string, change func(*api.BindingSpec), dry bool,
) (api.Binding, error) {
	old, err := client.Binding(ctx, node)
	if err != nil && !api.IsNotFound(err) {
		return old, err
	}
	spec := old.BindingSpec
	change(&spec)
	options := []api.Option{}
	if old.UserDataSHA256 != "" {
		options = append(options, api.KeepUserData())
	}
	shown, err := client.PutBinding(ctx, spec, append(options, api.DryRun())...)
	if err != nil || shown.Outlook == nil {
		return shown, err
	}
	line := shown.Outlook.Node + ": nothing changes"
	if len(shown.Outlook.Why) > 0 {
		line = fmt.Sprintf("%s: %s is only read, %s; then its own system starts again", shown.Outlook.Node,
			wording.Captured(spec), wording.When(shown.Outlook.When))
	}
	_, _ = fmt.Fprintln(a.Err, a.Screen.Hang(line, 2))
	if dry {
		return shown, nil
	}
	return client.PutBinding(ctx, spec, append(options, api.IfGeneration(shown.Outlook.Generation))...)
}
