// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
)

func (a *app) images() *resource[api.Image] {
	return &resource[api.Image]{
		noun: "image", plural: "images", placeholder: "IMAGE",
		columns: a.ImageColumns(),
		list:    func(ctx context.Context, c *api.Client, _ api.Filter) ([]api.Image, error) { return c.Images(ctx) },
		get:     func(ctx context.Context, c *api.Client, name string) (api.Image, error) { return c.Image(ctx, name) },
		remove: func(ctx context.Context, c *api.Client, name string, options ...api.Option) error {
			return c.DeleteImage(ctx, name, options...)
		},
		detail: a.Image, complete: a.completeImages,
		examples: examples{"sledctl image list", "sledctl image get debian-12-v1", "sledctl image delete debian-12-v1"},
	}
}

func (a *app) imageCommand() *cobra.Command {
	r := a.images()
	remove := r.deleteCommand(a, "delete", "Delete registered images; the files stay",
		"Deletes the registration of images. An image that a binding uses is refused.\nPublished files are not deleted.")
	return group("image", "Register, sign, capture and inspect images", r.listCommand(a), r.getCommand(a),
		a.imageApplyCommand(r), a.imageSignCommand(r), a.imageUnsignCommand(r), a.imageCaptureCommand(),
		a.imageAddCommand(r), remove)
}

func (a *app) imageApplyCommand(r *resource[api.Image]) *cobra.Command {
	var file string
	var attributes attributeFlags
	command := &cobra.Command{
		Use: "apply [IMAGE]", Short: "Register an image, with its digest and sizes",
		Long: `Registers an image. Digest and sizes cannot change later: register other
content under another name. sledctl image add reads digest and sizes from the
image.`,
		Example: `  sledctl image apply debian-12-v1 --url http://10.77.0.1/images/8f3c.raw.zst \
      --digest sha256:8f3c... --bytes 2147483648 --file-bytes 312345678
  sledctl image apply -f image.yaml`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (file == "") == (len(args) == 0) {
				return usagef("expected either IMAGE or -f FILE")
			}
			if file != "" {
				images, err := readObjects[api.Image](a, file)
				if err != nil {
					return err
				}
				return a.applyImages(cmd.Context(), r, images)
			}
			image := api.Image{ImageSpec: api.ImageSpec{Name: args[0]}}
			if err := attributes.set(&image.ImageSpec); err != nil {
				return err
			}
			return a.applyImages(cmd.Context(), r, []api.Image{image})
		},
	}
	flags := command.Flags()
	flags.StringVarP(&file, "file", "f", "",
		"file of images in YAML or JSON, as printed by sledctl image get -o yaml; - is standard input")
	attributes = newAttributeFlags(command, attribute.Image)
	return command
}

func (a *app) applyImages(ctx context.Context, r *resource[api.Image], images []api.Image) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	stored := make([]api.Image, 0, len(images))
	for _, image := range images {
		answer, err := client.PutImage(ctx, image.ImageSpec)
		if err != nil {
			return fmt.Errorf("image %s: %w", image.Name, err)
		}
		stored = append(stored, answer)
	}
	return r.print(a, stored)
}
