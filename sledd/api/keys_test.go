// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

const privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"

// What operators give instead of a public key, by mistake, and what the error says.
var noKeys = map[string]string{
	privateKey:                                                     "private key: give the public key",
	"-----BEGIN OPENSSH PRIVATE KEY-----":                          "private key",
	"-----BEGIN RSA PRIVATE KEY-----":                              "private key",
	"-----BEGIN ENCRYPTED PRIVATE KEY-----":                        "private key",
	"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----":                   "private key",
	"PuTTY-User-Key-File-3: ssh-ed25519":                           "private key",
	"---- BEGIN SSH2 PUBLIC KEY ----":                              "RFC 4716",
	"-----BEGIN PUBLIC KEY-----":                                   "PEM",
	"-----BEGIN CERTIFICATE-----":                                  "PEM",
	"~/.ssh/id_ed25519.pub":                                        "content of a .pub file",
	"SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU alice":     "not an SSH public key",
	"ssh-ed25519 AAAA alice":                                       "not an SSH public key",
	"ssh-rsa " + strings.TrimPrefix(sshkeys.Alice, "ssh-ed25519 "): "not an SSH public key",
	strings.TrimPrefix(sshkeys.Alice, "ssh-ed25519 "):              "not an SSH public key",
	sshkeys.Alice[:60]:                                             "not an SSH public key",
	"node1.example.org " + sshkeys.Alice:                           "option that sshd does not know",
	sshkeys.Alice + "\n" + sshkeys.Bob:                             "one line",
	sshkeys.Alice + strings.Repeat(" a", 10_000):                   "one line",
	"":   "one line",
	"\n": "one line",
}

func TestKeysAreCheckedForTheirUse(t *testing.T) {
	for _, key := range []string{sshkeys.Alice, sshkeys.Alice + " alice", sshkeys.Alice + "\n",
		"  " + sshkeys.Bob + "\r\n", `from="10.0.0.1",command="echo \"a b\"",restrict ` + sshkeys.Bob + " bob",
		"no-X11-forwarding " + sshkeys.Bob, "# admins"} {
		if err := api.CheckKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for key, want := range noKeys {
		err := api.CheckKey(key)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", key, err, want)
		} else if len(key) > 8 && strings.Contains(err.Error(), key) {
			t.Errorf("the error quotes %q", key)
		}
	}
}

func TestKeysAreReadFromFiles(t *testing.T) {
	keys, err := api.ReadKeys("# admins\n" + sshkeys.Alice + " alice\r\n\n  " + sshkeys.Bob)
	if err != nil || !slices.Equal(keys, []string{sshkeys.Alice + " alice", sshkeys.Bob}) {
		t.Errorf("%q, %v", keys, err)
	}
	_, err = api.ReadKeys("# admins\n" + sshkeys.Alice + "\n-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n")
	if err == nil || !strings.HasPrefix(err.Error(), "line 3 is a private key") {
		t.Error(err)
	}
}
