// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
)

// Keys are the public keys of those who sign a site's images.
type Keys []ed25519.PublicKey

// ParseKeys reads one key or more in PEM, as in secrets/image.pub.
func ParseKeys(text []byte) (Keys, error) {
	var keys Keys
	for rest := bytes.TrimSpace(text); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		block, after := pem.Decode(rest)
		if block == nil {
			return nil, fmt.Errorf("key %d is not in PEM: want blocks of -----BEGIN PUBLIC KEY-----", len(keys)+1)
		}
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("key %d: %w", len(keys)+1, err)
		}
		key, fine := parsed.(ed25519.PublicKey)
		if !fine {
			return nil, fmt.Errorf("key %d is of type %T: want Ed25519", len(keys)+1, parsed)
		}
		keys, rest = append(keys, key), after
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key: want blocks of -----BEGIN PUBLIC KEY-----")
	}
	return keys, nil
}

// Signed reports whether the signature of an image is by one of the keys, and its statement of this image.
func (k Keys) Signed(name, digest, statement, signature string) bool {
	if parsed, err := ParseStatement(statement); err != nil || parsed.Fits(name, digest) != nil {
		return false
	}
	made, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && slices.ContainsFunc(k, func(key ed25519.PublicKey) bool {
		return ed25519.Verify(key, []byte(statement), made)
	})
}
