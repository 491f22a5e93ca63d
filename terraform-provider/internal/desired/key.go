// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"

	"github.com/sled-fleet/sled/sledd/api"
)

// keyedPrefix is before a hash that is keyed.
const keyedPrefix = "hmac-sha256:"

var sumPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Key is that of a fleet. Many people read plans and states, and a short secret in a known text can be guessed from its
// SHA-256. From an HMAC it can not, without the key, which sledd tells those who may read its bindings.
type Key string

// Hash keys the SHA-256 of user data. Everything else, such as a version or what is keyed already, stays as it is.
func (k Key) Hash(sum string) string {
	if !sumPattern.MatchString(sum) {
		return sum
	}
	keyed := hmac.New(sha256.New, []byte(k))
	keyed.Write([]byte(sum))
	return keyedPrefix + hex.EncodeToString(keyed.Sum(nil))
}

// Hide keys the hash in an answer of sledd.
func (k Key) Hide(b *api.Binding) {
	if b != nil {
		b.UserDataSHA256 = k.Hash(b.UserDataSHA256)
	}
}
