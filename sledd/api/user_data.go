// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"sigs.k8s.io/yaml"
)

// userDataHeaders are what user data start with that cloud-init carries out, beside MIME multipart.
var userDataHeaders = []string{"#cloud-config", "#!", "#include", "#cloud-boothook", "#part-handler", "## template:"}

// mimeHead is how many bytes of user data cloud-init searches for the head of MIME multipart.
const mimeHead = 4096

// CheckUserData returns why cloud-init would ignore user data, which it reports only in its log on the node. The error
// never quotes them, because they may hold secrets.
func CheckUserData(userData string) error {
	if userData == "" {
		return nil
	}
	text := strings.TrimSpace(userData)
	lower := strings.ToLower(text)
	known := strings.Contains(lower[:min(len(lower), mimeHead)], "mime-version:")
	for _, header := range userDataHeaders {
		known = known || strings.HasPrefix(lower, header)
	}
	if !known {
		return errors.New("cloud-init would ignore this user_data: it starts with none of " +
			strings.Join(userDataHeaders, ", ") + ", and is not MIME multipart")
	}
	first, _, _ := strings.Cut(lower, "\n")
	if strings.TrimSpace(first) != "#cloud-config" {
		return nil
	}
	var document any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return errors.New("cloud-init would ignore this user_data: it starts with #cloud-config, and is not valid YAML")
	}
	if _, mapping := document.(map[string]any); !mapping && document != nil {
		return errors.New("cloud-init would ignore this user_data: it starts with #cloud-config, and is no mapping " +
			"such as \"hostname: n1\"")
	}
	return nil
}

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
