// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
)

// trust is what the caller demands of an image. Statements are read elsewhere.
type trust struct {
	keys      []ed25519.PublicKey // nil: signatures are not checked
	digest    string              // empty: any
	signature string              // beside the file, in base64; empty: none
}

func isZero(p []byte) bool { return len(bytes.Trim(p, "\x00")) == 0 }

func (w trust) check(t trailer) error {
	if w.digest != "" && w.digest != t.digestText() {
		return refuse(integrity, "digest %s, want %s", t.digestText(), w.digest)
	}
	if isZero(t.key) != isZero(t.signature) {
		return refuse(integrity, "half a signature")
	}
	signature, id := t.signature, t.key
	if w.signature != "" {
		beside, err := base64.StdEncoding.Strict().DecodeString(w.signature)
		if err != nil || len(beside) != ed25519.SignatureSize ||
			base64.StdEncoding.EncodeToString(beside) != w.signature { // line feeds are skipped
			return refuse(usage, "signature %q is not 64 bytes in base64", w.signature)
		}
		signature, id = beside, nil
	}
	if w.keys == nil {
		return nil
	}
	if isZero(signature) {
		return refuse(integrity, "not signed")
	}
	for _, key := range w.keys {
		sum := sha256.Sum256(key)
		named := id == nil || bytes.Equal(sum[:len(id)], id)
		if named && ed25519.Verify(key, append([]byte("sled-image-1:"), t.digest...), signature) {
			return nil
		}
	}
	return refuse(integrity, "signed by none of the keys")
}

// readKeys reads every public key of a PEM file.
func readKeys(path string) ([]ed25519.PublicKey, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the file that the caller names
	if err != nil {
		return nil, err
	}
	var keys []ed25519.PublicKey
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		key, isKey := parsed.(ed25519.PublicKey)
		if err != nil || !isKey {
			return nil, fmt.Errorf("%s: not only Ed25519 public keys: %w", path, err)
		}
		keys = append(keys, key)
	}
	if keys == nil {
		return nil, fmt.Errorf("%s: no public key", path)
	}
	return keys, nil
}
