// SPDX-License-Identifier: Apache-2.0

package nodetext

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/netip"
	"regexp"
	"strings"
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

const (
	algorithm = "ssh-ed25519"
	// blobHead precedes the 32 bytes of a key: both are fields with their length before them.
	blobHead = "\x00\x00\x00\x0b" + algorithm + "\x00\x00\x00\x20"
	blobSize = len(blobHead) + 32
)

// ParseHostKey refuses text that is no Ed25519 key in its one encoding.
func ParseHostKey(text string) (HostKey, error) {
	name, encoded, _ := strings.Cut(text, " ")
	if name != algorithm {
		return HostKey{}, errors.New("the algorithm is not " + algorithm)
	}
	if strings.ContainsAny(encoded, "\r\n") { // the decoder skips them
		return HostKey{}, errors.New("the key is not one line")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(blob) != blobSize || !strings.HasPrefix(string(blob), blobHead) {
		return HostKey{}, errors.New("the key is not the base64 of an " + algorithm + " key")
	}
	return HostKey{value{text}}, nil
}

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
