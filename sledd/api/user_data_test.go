// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// The hash is that of RFC 2104, as Ansible's modules compute it too.
func TestUserDataHash(t *testing.T) {
	if got := api.UserDataHash("Jefe", "what do ya want for nothing?"); got !=
		"hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" {
		t.Error(got)
	}
	if got := api.UserDataHash("key", ""); got != "" {
		t.Errorf("none: %q", got)
	}
}

// What cloud-init takes is taken; the rest it would ignore, and nobody would see that before the node runs.
func TestUserDataThatCloudInitIgnoresAreRefused(t *testing.T) {
	for _, text := range []string{"", "#cloud-config\n", "#cloud-config\nhostname: n1\n", "\n#Cloud-Config\na: [1]\n",
		"#!/bin/sh\nexit 0\n", "#include\nhttp://a/b\n", "#cloud-config-archive\n- a\n", "#cloud-boothook\n",
		"## template: jinja\n#cloud-config\na: {{ v1.region }}\n",
		"Content-Type: multipart/mixed; boundary=\"x\"\nMIME-Version: 1.0\n\n--x\n"} {
		if err := api.CheckUserData(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"hostname: n1\n":                             "starts with none of #cloud-config",
		"# cloud-config\nhostname: n1\n":             "starts with none of",
		"H4sIAAAAAAAA/0vOyS9N0U3Oz0vLTAcA":           "starts with none of",
		"#cloud-config\npassword: hush: a\n":         "is not valid YAML",
		"#cloud-config\nusers:\n\t- name: hush\n":    "is not valid YAML",
		"#cloud-config\n- hush\n":                    "is no mapping",
		"#cloud-config\nhush\n":                      "is no mapping",
		"#cloud-config\nsed s/a/b/ # hush\nhush b\n": "is no mapping",
	} {
		if err := api.CheckUserData(text); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
