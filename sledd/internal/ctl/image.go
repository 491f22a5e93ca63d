// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

func (a *app) images() *resource[api.Image] {
	return &resource[api.Image]{
		noun: "image", plural: "images", placeholder: "IMAGE",
		columns: []column[api.Image]{
			col("name", func(i api.Image) string { return i.Name }).wraps(20),
			col("disk", func(i api.Image) string { return bytesText(i.Bytes) }),
			col("file", func(i api.Image) string { return bytesText(i.FileBytes) }),
			col("used", func(i api.Image) string { return usedText(i) }),
			col("signed", func(i api.Image) string { return yesNo(i.Signature != "") }),
			col("architecture", func(i api.Image) string { return i.Architecture }).spare(),
			col("digest", func(i api.Image) string { return shortDigest(i.Digest) }).spare(),
			col("created", func(i api.Image) string { return localTime(i.Created) }).wraps(10),
			col("labels", func(i api.Image) string { return labelsText(i.Labels) }).wraps(12).spare(),
		},
		list: func(ctx context.Context, c *api.Client, _ api.Filter) ([]api.Image, error) { return c.Images(ctx) },
		get:  func(ctx context.Context, c *api.Client, name string) (api.Image, error) { return c.Image(ctx, name) },
		remove: func(ctx context.Context, c *api.Client, name string, options ...api.Option) error {
			return c.DeleteImage(ctx, name, options...)
		},
		detail: a.imageDetail, complete: a.completeImages,
	}
}

func (a *app) imageCommand() *cobra.Command {
	r := a.images()
	return group("image", "Registered images", r.listCommand(a), r.getCommand(a), a.imageApplyCommand(r), a.imageSignCommand(r),
		a.imageCaptureCommand(), a.imageAddCommand(r),
		r.deleteCommand(a, "delete", "Forget images that no binding uses; the files stay", "deleted"))
}

func (a *app) imageDetail(i api.Image) {
	a.section("image", [][2]string{
		{"name", i.Name}, {"digest", i.Digest}, {"urls", strings.Join(i.URLs, " ")}, {"disk", factText("bytes", fmt.Sprint(i.Bytes))},
		{"file", factText("bytes", fmt.Sprint(i.FileBytes))}, {"used", usedText(i)}, {"signature", i.Signature}, {"architecture", i.Architecture},
		{"labels", labelsText(i.Labels)}, {"created", localTime(i.Created)},
	})
}

func (a *app) imageApplyCommand(r *resource[api.Image]) *cobra.Command {
	var file string
	var spec api.ImageSpec
	command := &cobra.Command{
		Use: "apply [IMAGE]", Short: "Register an image; another content needs another name",
		Example: `  sledctl image apply debian-12-v1 --url http://10.77.0.1/images/8f3c.raw.zst --digest sha256:8f3c... \
      --bytes 2147483648 --file-bytes 312345678
  sledctl image apply -f image.yaml`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (file == "") == (len(args) == 0) {
				return usagef("want either IMAGE or -f FILE")
			}
			wanted := []api.Image{{ImageSpec: spec}}
			if file == "" {
				wanted[0].Name = args[0]
			} else {
				var err error
				if wanted, err = readObjects[api.Image](a, file); err != nil {
					return err
				}
			}
			return a.applyImages(cmd.Context(), r, wanted)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&file, "file", "f", "", "images in YAML or JSON, as `get -o yaml` prints them; - for standard input")
	flags.StringArrayVar(&spec.URLs, "url", nil, "where nodes fetch it (repeatable: tried in turn)")
	flags.StringVar(&spec.Digest, "digest", "", "sha256:HEX of the image's index, as sledc inspect shows it")
	flags.Int64Var(&spec.Bytes, "bytes", 0, "size of the raw disk")
	flags.Int64Var(&spec.FileBytes, "file-bytes", 0, "size of the file as served")
	flags.Int64Var(&spec.UsedBytes, "used-bytes", 0, "bytes of the disk that hold something")
	flags.StringVar(&spec.Signature, "signature", "", "Ed25519 signature of the digest, in base64; can be added later")
	flags.StringVar(&spec.Architecture, "architecture", "", "x86_64 or arm64")
	flags.StringToStringVarP(&spec.Labels, "label", "l", nil, "label, KEY=VALUE (repeatable)")
	return command
}

func (a *app) applyImages(ctx context.Context, r *resource[api.Image], wanted []api.Image) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	stored := make([]api.Image, 0, len(wanted))
	for _, image := range wanted {
		answer, err := client.PutImage(ctx, image.ImageSpec)
		if err != nil {
			return fmt.Errorf("image %s: %w", image.Name, err)
		}
		stored = append(stored, answer)
	}
	return r.print(a, stored)
}

// usedText is what of the disk holds something, where that is known.
func usedText(i api.Image) string {
	if i.UsedBytes == 0 {
		return ""
	}
	return bytesText(i.UsedBytes)
}

// shortDigest is enough of a digest to compare by eye.
func shortDigest(digest string) string {
	if len(digest) > 19 {
		return digest[:19]
	}
	return digest
}
