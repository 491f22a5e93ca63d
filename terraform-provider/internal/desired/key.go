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
// SHA-256. From an HMAC it can not, without the key, which sledd tells those who may read its bindings. The zero Key is
// that of a sledd that has none.
type Key string

// Hash keys the SHA-256 of user data. Everything else, such as a version or what is keyed already, stays as it is.
func (k Key) Hash(sum string) string {
	if k == "" || !sumPattern.MatchString(sum) {
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

// Keyed keys the hash that an earlier version left in a state.
func (s *Shared) Keyed(k Key) {
	if !s.UserDataSHA256.IsUnknown() {
		take(&s.UserDataSHA256, k.Hash(s.UserDataSHA256.ValueString()))
	}
}

// Keyed is Shared.Keyed for a record.
func (s State) Keyed(k Key) State {
	s.UserDataSHA256 = k.Hash(s.UserDataSHA256)
	return s
}

// Unkeyed leaves the hash in a plan as an earlier version wrote it into the state, if it is the same: to key it is no
// change of the configuration. The next refresh does.
func (s *Shared) Unkeyed(state Shared, k Key) {
	if was := state.UserDataSHA256; !was.IsNull() && k.Hash(was.ValueString()) == s.UserDataSHA256.ValueString() {
		s.UserDataSHA256 = was
	}
}
