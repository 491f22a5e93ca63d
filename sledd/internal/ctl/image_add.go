// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/sledd/imagefile"
)

func (a *app) imageAddCommand(r *resource[api.Image]) *cobra.Command {
	var spec api.ImageSpec
	var attributes attributeFlags
	command := &cobra.Command{
		Use: "add --url URL", Short: "Register a published image; digest and sizes are read from it",
		Long: `Reads trailer and index of an image from the first URL that answers, verifies
them, and registers the image with their digest and sizes.`,
		Example: "  sledctl image add --url http://10.77.0.1/images/debian-12-v1.raw.zst",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(spec.URLs) == 0 {
				return usagef("--url URL is missing: the address where nodes fetch the image")
			}
			if spec.Name == "" {
				spec.Name = strings.TrimSuffix(path.Base(spec.URLs[0]), ".raw.zst")
			}
			if err := attributes.set(&spec); err != nil {
				return err
			}
			if err := a.measure(cmd.Context(), &spec); err != nil {
				return err
			}
			return a.applyImages(cmd.Context(), r, []api.Image{{ImageSpec: spec}})
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&spec.URLs, "url", nil, "where nodes fetch the image (required; repeatable; tried in turn)")
	flags.StringVar(&spec.Name, "name", "", "name of the image; default: that of the file, without .raw.zst")
	attributes = newAttributeFlags(command, slices.DeleteFunc(attribute.Plain(attribute.Image),
		func(one attribute.Attribute) bool { return one.Measured }))
	return command
}

// measure reads digest and sizes from the published image.
func (a *app) measure(ctx context.Context, spec *api.ImageSpec) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	found, err := a.examine(ctx, client, *spec)
	if err != nil {
		return err
	}
	found.Measure(spec)
	return nil
}

// examine reads trailer and index of a published image. It prints a warning for each URL that does not answer.
func (a *app) examine(ctx context.Context, client *api.Client, spec api.ImageSpec) (imagefile.Image, error) {
	found, away, err := imagefile.Fetcher{Transport: client.Transport()}.First(ctx, spec.URLs)
	if err == nil {
		err = found.CheckKind(spec)
	}
	if err != nil {
		return found, fmt.Errorf("image %s: %w", spec.Name, err)
	}
	for _, fault := range away {
		a.Say(a.Err, "sledctl: warning: %v", fault)
	}
	return found, nil
}
