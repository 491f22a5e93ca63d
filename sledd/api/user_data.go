// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// UserDataHash is what stands for user data in bindings, plans and states: many people read these, and could guess a
// short secret in a known text from a plain hash. The key is that of the fleet (Store.HashKey). Empty for none.
func UserDataHash(key, userData string) string {
	if userData == "" {
		return ""
	}
	keyed := hmac.New(sha256.New, []byte(key))
	keyed.Write([]byte(userData))
	return "hmac-sha256:" + hex.EncodeToString(keyed.Sum(nil))
}
