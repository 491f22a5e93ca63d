// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/sledd/internal/wording"
)

func (a *app) imageSignCommand(r *resource[api.Image]) *cobra.Command {
	var file, line string
	command := &cobra.Command{
		Use: "sign IMAGE", Short: "Sign a registered image, so that nodes accept it",
		Long: `Reads the index of an image where it is published, computes its digest, and
signs a statement of name, line, date and digest on this machine, which the key
never leaves. If the digest is not the registered one, nothing is signed. An
existing signature is replaced. Nodes verify it with the public keys in the
site's initrd.

Images of one line replace one another. The site can refuse those of a line
that were signed before a date (initrd_image_floor of role initrd).`,
		Example: "  sledctl image sign debian-12-v1 --key image.key",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := a.readKey(file)
			if err != nil {
				return err
			}
			if line == "" {
				line = imagefile.LineOf(args[0])
			}
			if err := imagefile.CheckName(line); err != nil {
				return usagef("--line: %w", err)
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			image, err := a.sign(cmd.Context(), client, args[0], line, key)
			if err != nil {
				return err
			}
			return r.print(a, []api.Image{image})
		},
	}
	flags := command.Flags()
	flags.StringVar(&file, "key", "", "PEM file of the Ed25519 private key (required); - is standard input")
	flags.StringVar(&line, "line", "", "the images that replace one another; default: the name without -v and a number")
	return command
}

func (a *app) imageUnsignCommand(r *resource[api.Image]) *cobra.Command {
	return &cobra.Command{
		Use: "unsign IMAGE", Short: "Withdraw the signature of a registered image",
		Long: `Withdraws the signature of an image from its registration. The file of a
captured image is private again, and a signature that was made before is not
accepted again. Nodes refuse the image from their next plan on, unless the file
itself is signed: initrd_image_floor of role initrd refuses that as well.`,
		Example: "  sledctl image unsign golden-1",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			image, err := client.UnsignImage(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return r.print(a, []api.Image{image})
		},
	}
}

// sign registers the signature of what is published, if that is what is registered.
func (a *app) sign(ctx context.Context, client *api.Client, name, line string, key ed25519.PrivateKey) (api.Image,
	error) {
	image, err := client.Image(ctx, name)
	if err != nil {
		return image, err
	}
	found, err := a.examine(ctx, client, image.ImageSpec)
	if err != nil {
		return image, fmt.Errorf("nothing was signed: %w", err)
	}
	if found.Digest != image.Digest {
		return image, fmt.Errorf("nothing was signed: image %s is registered with digest %s, and its file has %s",
			name, image.Digest, found.Digest)
	}
	a.Say(a.Err, "%s: %s", name, contentText(found))
	statement := imagefile.Statement{Name: name, Line: line, Signed: a.Now(), Digest: found.Digest}
	image.Statement = statement.String()
	image.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(image.Statement)))
	return client.PutImage(ctx, image.ImageSpec, api.IfRevision(image.Revision))
}

// contentText describes what is signed.
func contentText(image imagefile.Image) string {
	of := api.DiskImage
	if image.OnePartition {
		of = api.PartitionImage
	}
	text := fmt.Sprintf("%s of %s, %s used", of, wording.Bytes(image.Bytes), wording.Bytes(image.UsedBytes))
	for _, one := range image.Partitions {
		text += fmt.Sprintf("; %s of %s at %s", one.Content, wording.Bytes(one.Bytes), wording.Bytes(one.Start))
	}
	return text
}

// readKey reads an Ed25519 private key in PKCS #8, as `openssl genpkey -algorithm ed25519` writes it.
func (a *app) readKey(file string) (ed25519.PrivateKey, error) {
	if file == "" {
		return nil, usagef("--key FILE is missing: a PEM file with the Ed25519 private key of the site")
	}
	content, err := a.readFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(content)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, usagef("--key %s: expected a PEM file with a PRIVATE KEY, as made by openssl genpkey -algorithm ed25519",
			file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, usagef("--key %s: %w", file, err)
	}
	key, fits := parsed.(ed25519.PrivateKey)
	if !fits {
		return nil, usagef("--key %s: expected an Ed25519 key, got %T", file, parsed)
	}
	return key, nil
}
