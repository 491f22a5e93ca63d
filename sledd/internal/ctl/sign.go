// SPDX-License-Identifier: Apache-2.0

package ctl

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sled-fleet/sled/sledd/api"
)

// signed is the prefix of the digest in the signed message (contract/image.md, "Digest and trust").
const signed = "sled-image-1:"

func (a *app) imageSignCommand(r *resource[api.Image]) *cobra.Command {
	var file string
	command := &cobra.Command{
		Use: "sign IMAGE", Short: "Sign a registered image, so that nodes accept it",
		Long: `Signs the digest of an image on this machine, which the key never leaves, and
registers the signature. An existing signature is replaced. Nodes verify it
with the public keys in the site's initrd.`,
		Example: "  sledctl image sign debian-12-v1 --key image.key",
		Args:    cobra.ExactArgs(1), ValidArgsFunction: a.completeImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := a.readKey(file)
			if err != nil {
				return err
			}
			client, err := a.client()
			if err != nil {
				return err
			}
			image, err := client.Image(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if image.Signature, err = signature(key, image.Digest); err != nil {
				return err
			}
			image, err = client.PutImage(cmd.Context(), image.ImageSpec)
			if err != nil {
				return err
			}
			return r.print(a, []api.Image{image})
		},
	}
	command.Flags().StringVar(&file, "key", "", "PEM file of the Ed25519 private key (required); - is standard input")
	return command
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

// signature signs the digest of an image, in base64.
func signature(key ed25519.PrivateKey, digest string) (string, error) {
	sum, err := hex.DecodeString(strings.TrimPrefix(digest, "sha256:"))
	if err != nil || len(sum) != 32 {
		return "", fmt.Errorf("digest %s is not sha256: and 64 hexadecimal digits", digest)
	}
	return base64.StdEncoding.EncodeToString(ed25519.Sign(key, append([]byte(signed), sum...))), nil
}
