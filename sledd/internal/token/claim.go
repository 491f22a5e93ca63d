// SPDX-License-Identifier: Apache-2.0

package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/mac"
)

// ClaimKey seals claims: what sledd has to know of a claim without evidence is in its token, and not in the store.
type ClaimKey [32]byte

// Sealed is the content of a claim token.
type Sealed struct {
	Since   time.Time // in whole milliseconds
	Epoch   int64
	Code    [5]byte
	Address netip.Addr // that the claim was made from; invalid: not known
	Link    byte
	NIC     string // MAC
	Boot    string // kernel's boot id, at most 64 bytes
}

// A sealed claim is: version and link, milliseconds since 1970, epoch, code, address, MAC, boot id, code of
// authentication. With a boot id of 64 bytes the token has 255 bytes; sledc takes 256.
const (
	sealVersion = 1 << 4
	sealLink    = 1<<4 - 1
	sealFixed   = 1 + 6 + 3 + 5 + 16 + 6
	sealSum     = 16
	sealBoot    = 64
	maxEpoch    = 1<<24 - 1
)

// Seal writes the token of a claim to be a node.
func (k *ClaimKey) Seal(address string, claim Sealed) (string, error) {
	nic, err := hex.DecodeString(mac.Plain(claim.NIC))
	if err != nil || len(nic) != 6 || len(claim.Boot) > sealBoot || claim.Link > sealLink {
		return "", fmt.Errorf("claim of %s: interface %.40q, boot id %.80q or link %d cannot be sealed", address, claim.NIC,
			claim.Boot, claim.Link)
	}
	data := make([]byte, 0, sealFixed+sealBoot+sealSum)
	data = append(data, sealVersion|claim.Link)
	data = append(data, number(claim.Since.UnixMilli(), 6)...)
	data = append(data, number(claim.Epoch&maxEpoch, 3)...)
	data = append(data, claim.Code[:]...)
	from := netip.IPv6Unspecified().As16()
	if claim.Address.IsValid() {
		from = claim.Address.As16()
	}
	data = append(append(append(data, from[:]...), nic...), claim.Boot...)
	data = append(data, k.sum("claim", address, data)[:sealSum]...)
	return "sledc_" + mac.Plain(address) + "_0_" + hex.EncodeToString(data), nil
}

// Open reads a token of a claim to be a node that Seal has written with the same key.
func (k *ClaimKey) Open(address, text string) (Sealed, bool) {
	parts := claimForm.FindStringSubmatch(text)
	if parts == nil || parts[1] != mac.Plain(address) {
		return Sealed{}, false
	}
	data, err := hex.DecodeString(parts[2])
	if err != nil || len(data) < sealFixed+sealSum || data[0]&^sealLink != sealVersion {
		return Sealed{}, false
	}
	content, sum := data[:len(data)-sealSum], data[len(data)-sealSum:]
	if !hmac.Equal(sum, k.sum("claim", address, content)[:sealSum]) {
		return Sealed{}, false
	}
	claim := Sealed{Link: content[0] & sealLink, Since: time.UnixMilli(value(content[1:7])).UTC(),
		Epoch: value(content[7:10]), Code: [5]byte(content[10:15]), NIC: colons(content[31:37]),
		Boot: string(content[sealFixed:])}
	if from := netip.AddrFrom16([16]byte(content[15:31])).Unmap(); !from.IsUnspecified() {
		claim.Address = from
	}
	return claim, true
}

// Nonce returns what a TPM's quote for a claim must contain.
func (k *ClaimKey) Nonce(address, text string) string {
	return hex.EncodeToString(k.sum("nonce", address, []byte(text)))
}

// SameEpoch reports whether the epoch of a claim is that of its node.
func (s Sealed) SameEpoch(epoch int64) bool { return s.Epoch == epoch&maxEpoch }

func (k *ClaimKey) sum(what, address string, data []byte) []byte {
	sum := hmac.New(sha256.New, k[:])
	_, _ = fmt.Fprintf(sum, "%s %s %d\n", what, mac.Plain(address), len(data)) // a hash takes all
	_, _ = sum.Write(data)
	return sum.Sum(nil)
}

func number(n int64, size int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(n))[8-size:] //nolint:gosec // positive
}

func value(data []byte) int64 {
	return int64(binary.BigEndian.Uint64(append(make([]byte, 8-len(data), 8), data...))) //nolint:gosec // at most 48 bits
}

func colons(address []byte) string {
	pairs := make([]string, len(address))
	for i, one := range address {
		pairs[i] = hex.EncodeToString([]byte{one})
	}
	return strings.Join(pairs, ":")
}
