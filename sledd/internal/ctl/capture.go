// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) imageCaptureCommand() *cobra.Command {
	w := &watch{app: a, judge: judge, wait: true}
	wait, disk := false, ""
	command := &cobra.Command{
		Use: "capture NODE IMAGE", Short: "Make an image of a node's disk",
		Long: `Requests that the disk of a node becomes a registered image. The node captures
its disk at its next boot; this command does not switch power. The disk is only
read, and the node's own system starts again afterwards. The image is not
signed, see sledctl image sign.

With --wait, the command ends when the image is registered. If the node fails,
it prints the reason and exits with code 1.`,
		Example: `  sledctl image capture n1 debian-12-golden --wait --timeout 1h
  sledctl image sign debian-12-golden --key image.key`,
		Args: cobra.ExactArgs(2), ValidArgsFunction: a.completeFirstNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait && a.output != "table" {
				return usagef("--wait prints progress: it excludes -o %s", a.output)
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			binding, err := a.capture(cmd.Context(), client, args[0], args[1], disk)
			if err != nil {
				return err
			}
			if !wait {
				return a.bindings().printWith(cmd.Context(), a, client, []api.Binding{binding})
			}
			w.client, w.names, w.every, w.view = client, args[:1], pollEvery, a.view()
			return w.run(cmd.Context())
		},
	}
	command.Flags().StringVar(&disk, "disk", "", "disk selector; default: that of the binding, else that of the node")
	command.Flags().BoolVarP(&wait, "wait", "w", false, "wait until the image is registered or the node fails")
	command.Flags().DurationVar(&w.timeout, "timeout", 0,
		"with --wait: give up after this time, such as 1h; default: no limit")
	return command
}

// capture changes the binding of a node; disk, host name and keys stay for the next image.
func (a *app) capture(ctx context.Context, client *api.Client, node, image, disk string) (api.Binding, error) {
	old, err := client.Binding(ctx, node)
	if err != nil && !api.IsNotFound(err) {
		return old, err
	}
	if old.UserDataSHA256 != "" {
		_, _ = fmt.Fprintf(a.Err, "%s: user data is removed from the binding: repeat it when you bind an image\n", node)
	}
	spec := old.BindingSpec
	spec.Node, spec.Image, spec.Capture = node, "", image
	if disk != "" {
		spec.Disk = disk
	}
	return client.PutBinding(ctx, spec)
}
