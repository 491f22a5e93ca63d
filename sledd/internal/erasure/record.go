// SPDX-License-Identifier: Apache-2.0

// Package erasure keeps the records of erased disks: a chain in the store, which is signed and never trimmed
// (contract/erasure.md, Records).
package erasure

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/sled-fleet/sled/sledd/api"
)

// What is signed starts with one of these, so that no signature holds for the other, or for an image.
const (
	recordContext = "sled erasure 1\n"
	headContext   = "sled erasure head 1\n"
)

// None is the hash that the first record holds.
var None = strings.Repeat("0", 2*sha256.Size)

// headLine is the last line of an exported chain.
type headLine struct {
	Head api.ErasureHead `json:"head"`
}

// Encode writes a record as it is hashed and stored: JSON without spaces, keys in the order of the type.
func Encode(record api.Erasure) ([]byte, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("erasure %d: %w", record.Number, err)
	}
	return text, nil
}

// EncodeHead writes the line that ends an exported chain.
func EncodeHead(head api.ErasureHead) ([]byte, error) {
	text, err := json.Marshal(headLine{head})
	if err != nil {
		return nil, fmt.Errorf("head of the chain: %w", err)
	}
	return text, nil
}

// Hash is the SHA-256 of an encoded record, in hexadecimal.
func Hash(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:])
}

func recordText(record api.Erasure) ([]byte, error) {
	record.Signature = ""
	text, err := Encode(record)
	return append([]byte(recordContext), text...), err
}

func headText(head api.ErasureHead) []byte {
	return fmt.Appendf([]byte(headContext), "%d %s", head.Number, head.SHA256)
}

// ParsePrivate reads the key that signs: Ed25519 in PKCS 8, PEM.
func ParsePrivate(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("want a PEM block PRIVATE KEY (openssl genpkey -algorithm ed25519)")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	signer, right := key.(ed25519.PrivateKey)
	if !right {
		return nil, fmt.Errorf("want an Ed25519 key, got %T", key)
	}
	return signer, nil
}

// ParsePublic reads the key that a chain is verified with.
func ParsePublic(text []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("want a PEM block PUBLIC KEY (sledctl erasure key)")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	public, right := key.(ed25519.PublicKey)
	if !right {
		return nil, fmt.Errorf("want an Ed25519 key, got %T", key)
	}
	return public, nil
}

// PublicPEM is the public half of a key; empty without one.
func PublicPEM(private ed25519.PrivateKey) string {
	if private == nil {
		return ""
	}
	public, _ := private.Public().(ed25519.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func sign(private ed25519.PrivateKey, text []byte) string {
	if private == nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(ed25519.Sign(private, text))
}

func checkSignature(public ed25519.PublicKey, text []byte, signature string) error {
	if signature == "" {
		return errors.New("it is not signed")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || !ed25519.Verify(public, text, raw) {
		return errors.New("its signature is not one of this key")
	}
	return nil
}

// strict decodes a line that Encode wrote, byte for byte.
func strict(line []byte, to any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return fmt.Errorf("it is no record: %w", err)
	}
	again, err := json.Marshal(to)
	if err != nil || !bytes.Equal(again, line) {
		return errors.New("it is not written as sledd writes a record")
	}
	return nil
}
