// SPDX-License-Identifier: Apache-2.0

// Package seal encrypts what is stored and must not be readable from a copy of the store.
package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// Box seals with its first key, and opens with any. A nil Box has no keys.
type Box struct {
	keys []cipher.AEAD
}

// ErrNoKey means that a text was sealed with a key that the Box does not have, or was altered.
var ErrNoKey = errors.New("it is sealed, and none of the keys in --user-data-key-file opens it")

// Load reads a file of keys, one in each line: 64 hexadecimal digits. Without a file there is no Box.
func Load(file string) (*Box, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // a nil Box is one without keys
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	var box Box
	for i, line := range strings.Fields(string(text)) {
		key, err := hex.DecodeString(line)
		if err != nil || len(key) != chacha20poly1305.KeySize {
			return nil, fmt.Errorf("%s: key %d is not %d hexadecimal digits, as from openssl rand -hex 32", file, i+1,
				2*chacha20poly1305.KeySize)
		}
		aead, err := chacha20poly1305.NewX(key)
		if err != nil {
			return nil, err //nolint:wrapcheck // cannot happen: the length is right
		}
		box.keys = append(box.keys, aead)
	}
	if len(box.keys) == 0 {
		return nil, fmt.Errorf("%s holds no key: want a line of %d hexadecimal digits", file, 2*chacha20poly1305.KeySize)
	}
	return &box, nil
}

// Seal encrypts a text for a place, such as a node: it opens nowhere else. Each result differs.
func (b *Box) Seal(text, place string) string {
	nonce := make([]byte, chacha20poly1305.NonceSizeX)
	_, _ = rand.Read(nonce) // never fails: the Go runtime ends the process first
	return base64.StdEncoding.EncodeToString(b.keys[0].Seal(nonce, nonce, []byte(text), []byte(place)))
}

// Open decrypts what was sealed for a place.
func (b *Box) Open(sealed, place string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(sealed)
	if b == nil || err != nil || len(data) < chacha20poly1305.NonceSizeX {
		return "", ErrNoKey
	}
	nonce, rest := data[:chacha20poly1305.NonceSizeX], data[chacha20poly1305.NonceSizeX:]
	for _, key := range b.keys {
		if text, err := key.Open(nil, nonce, rest, []byte(place)); err == nil {
			return string(text), nil
		}
	}
	return "", ErrNoKey
}
