// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func siteKeys(t *testing.T) Keys {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(images, "keys/both.pub"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ParseKeys(text)
	if err != nil || len(keys) != 2 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	return keys
}

// TestSignaturesOfVectors leaves out those that only a floor refuses: sledd has none.
func TestSignaturesOfVectors(t *testing.T) {
	keys, read := siteKeys(t), 0
	for _, v := range signings(t) {
		if v.code != "0" && v.floor != "" {
			continue
		}
		read++
		if keys.Signed(v.image, v.digest, v.statement, v.signature) != (v.code == "0") {
			t.Errorf("%s: code %s", v.name, v.code)
		}
		if (Keys{}).Signed(v.image, v.digest, v.statement, v.signature) {
			t.Errorf("%s is signed by no key", v.name)
		}
	}
	if read < 60 {
		t.Errorf("%d vectors were read", read)
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":      "there is no key",
		" \n":   "there is no key",
		"hello": "key 1 is not in PEM",
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n": "key 1: ",
		"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP\n" +
			"40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==\n-----END PUBLIC KEY-----\n": "want Ed25519",
	} {
		if _, err := ParseKeys([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
