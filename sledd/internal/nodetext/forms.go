// SPDX-License-Identifier: Apache-2.0

package nodetext

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/netip"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Address is the IP address of a node: unicast, reachable from other machines, without a zone.
type Address struct{ value }

// unreachable networks count as unicast for netip: "this network" and the reserved ones of IPv4.
var unreachable = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("240.0.0.0/4")}

var errNoMachine = errors.New("it is not a unicast address that other machines reach")

// ParseAddress refuses text that is no such address.
func ParseAddress(text string) (Address, error) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return Address{}, errors.New("it is not an IP address")
	}
	if address.Zone() != "" || address.Is4In6() || !address.IsGlobalUnicast() {
		return Address{}, errNoMachine
	}
	for _, network := range unreachable {
		if network.Contains(address) {
			return Address{}, errNoMachine
		}
	}
	return Address{value{address.String()}}, nil
}

// UnmarshalText drops a stored text that is no address.
func (a *Address) UnmarshalText(text []byte) error {
	*a, _ = ParseAddress(string(text)) // the zero value with an error
	return nil
}

// HostKey is the public host key of a node's SSH server: algorithm and key, as in known_hosts, without a comment.
type HostKey struct{ value }

// ParseHostKey refuses text that is no key of Ed25519, ECDSA (P-256) or RSA (2,048 to 3,072 bits) in its one encoding.
func ParseHostKey(text string) (HostKey, error) {
	name, encoded, _ := strings.Cut(text, " ")
	if strings.ContainsAny(encoded, "\r\n") { // the decoder skips them
		return HostKey{}, errors.New("the key is not one line")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(blob) > longestBlob {
		return HostKey{}, errors.New("the key is not the base64 of a host key")
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil || key.Type() != name || !bytes.Equal(key.Marshal(), blob) {
		return HostKey{}, errors.New("the key is not one of its algorithm")
	}
	switch name {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256:
	case ssh.KeyAlgoRSA:
		if len(blob) < shortestRSA {
			return HostKey{}, errors.New("the RSA key is too short")
		}
	default:
		return HostKey{}, errors.New("the algorithm is none of ssh-ed25519, ecdsa-sha2-nistp256, ssh-rsa")
	}
	return HostKey{value{text}}, nil
}

// Bytes of the blob of an RSA key: of one with 2,048 bits, and of one with 3,072.
const shortestRSA, longestBlob = 279, 407

// Fingerprint returns the fingerprint of the key, as printed by ssh; empty without a key.
func (k HostKey) Fingerprint() Identifier {
	_, encoded, found := strings.Cut(k.text, " ")
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil {
		return Identifier{}
	}
	sum := sha256.Sum256(blob)
	return Identifier{value{"SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])}}
}

// UnmarshalText drops a stored text that is no host key.
func (k *HostKey) UnmarshalText(text []byte) error {
	*k, _ = ParseHostKey(string(text)) // the zero value with an error
	return nil
}

// Digest is the digest of an image.
type Digest struct{ value }

var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ParseDigest refuses text that is no digest.
func ParseDigest(text string) (Digest, error) {
	if !digest.MatchString(text) {
		return Digest{}, errors.New("it is not sha256: and 64 lower-case hexadecimal digits")
	}
	return Digest{value{text}}, nil
}

// UnmarshalText drops a stored text that is no digest.
func (d *Digest) UnmarshalText(text []byte) error {
	*d, _ = ParseDigest(string(text)) // the zero value with an error
	return nil
}
