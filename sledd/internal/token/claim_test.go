// SPDX-License-Identifier: Apache-2.0

package token_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sled-fleet/sled/sledd/internal/token"
)

const node = "52:54:00:77:00:01"

func sealed(boot, address string) token.Sealed {
	claim := token.Sealed{Since: time.UnixMilli(1_767_323_045_123).UTC(), Epoch: 1<<24 - 1, Code: [5]byte{1, 2, 3, 4, 5},
		Link: 2, NIC: "52:54:00:77:00:0a", Boot: boot}
	claim.Address, _ = netip.ParseAddr(address)
	return claim
}

func TestAClaimIsSealedInItsToken(t *testing.T) {
	key := token.ClaimKey{1}
	for _, address := range []string{"", "192.0.2.1", "2001:db8::1"} {
		for _, boot := range []string{"", "0c2f5c1e-7a54-4c1f-9a55-1f3a0b8f6f5e", strings.Repeat("b", 64)} {
			want := sealed(boot, address)
			text, err := key.Seal(node, want)
			if owner, formed := token.Owner(text); err != nil || owner != "525400770001" || !formed || !token.IsClaim(text) ||
				len(text) > 256 {
				t.Errorf("%v, %q of %d bytes is of %s", err, text, len(text), owner)
			}
			if got, is := key.Open(node, text); !is || got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
	if want := sealed("b", ""); !want.SameEpoch(1<<25-1) || want.SameEpoch(1<<24) {
		t.Error("epochs are compared by their last 24 bits")
	}
}

func TestAForgedClaimIsRefused(t *testing.T) {
	key, other := token.ClaimKey{1}, token.ClaimKey{2}
	text, err := key.Seal(node, sealed("boot", "192.0.2.1"))
	if err != nil {
		t.Fatal(err)
	}
	head := len("sledc_525400770001_0_")
	for at := head; at < len(text); at++ {
		digit := "0"
		if text[at] == '0' {
			digit = "1"
		}
		if _, is := key.Open(node, text[:at]+digit+text[at+1:]); is {
			t.Errorf("digit %d is changed", at)
		}
	}
	for what, forged := range map[string]string{"shorter": text[:len(text)-2], "longer": text + "00", "odd": text + "0",
		"nothing": "", "no content": text[:head] + strings.Repeat("0", 64),
		"another node": strings.Replace(text, "525400770001", "525400770002", 1)} {
		if _, is := key.Open(node, forged); is {
			t.Errorf("%s is taken", what)
		}
	}
	if _, is := key.Open("52:54:00:77:00:02", strings.Replace(text, "525400770001", "525400770002", 1)); is {
		t.Error("the claim of one node is taken for another")
	}
	if _, is := other.Open(node, text); is {
		t.Error("another key opens it")
	}
	if key.Nonce(node, text) == other.Nonce(node, text) || len(key.Nonce(node, text)) != 64 {
		t.Error(key.Nonce(node, text))
	}
	for _, claim := range []token.Sealed{sealed(strings.Repeat("b", 65), ""), {NIC: "n1"}, {NIC: node, Link: 16}} {
		if text, err := key.Seal(node, claim); err == nil {
			t.Errorf("%+v is sealed as %s", claim, text)
		}
	}
}

func FuzzOpenClaim(f *testing.F) {
	key := token.ClaimKey{1}
	text, _ := key.Seal(node, sealed("boot", "192.0.2.1"))
	f.Add(text)
	f.Add(text[:len(text)-2])
	f.Fuzz(func(t *testing.T, forged string) {
		if claim, is := key.Open(node, forged); is && forged != text {
			t.Errorf("%q is taken: %+v", forged, claim)
		}
	})
}
