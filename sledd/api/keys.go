// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// mostKey is the longest line of a public key, with options and comment, in bytes.
const mostKey = 16384

// keyOptions are the options of a key that sshd knows, AUTHORIZED_KEYS FILE FORMAT of sshd(8). It ignores a line with
// any other, such as the host name of a line of known_hosts.
var keyOptions = []string{"agent-forwarding", "cert-authority", "command", "environment", "expiry-time", "from",
	"no-agent-forwarding", "no-port-forwarding", "no-pty", "no-touch-required", "no-user-rc", "no-x11-forwarding",
	"permitlisten", "permitopen", "port-forwarding", "principals", "pty", "restrict", "tunnel", "user-rc",
	"verify-required", "x11-forwarding"}

// CheckKey returns why a text is no line of authorized_keys: a public key or a comment. The error continues the name of
// the text, as in "key 2 is a private key", and never quotes it, because it may be a private key: front ends check keys
// before they send them.
func CheckKey(line string) error {
	line = strings.TrimSpace(line)
	switch {
	case strings.Contains(line, "PRIVATE KEY-----"), strings.Contains(line, "PRIVATE KEY ----"),
		strings.HasPrefix(line, "PuTTY-User-Key-File"):
		return errors.New("is a private key: give the public key, the file that ends in .pub")
	case strings.HasPrefix(line, "---- BEGIN SSH2"):
		return errors.New("is a key in the format of RFC 4716: convert its file with ssh-keygen -i -f FILE")
	case strings.HasPrefix(line, "-----BEGIN"):
		return errors.New("is PEM, which sshd does not read: convert its file with ssh-keygen -i -m PKCS8 -f FILE")
	case line == "" || len(line) > mostKey || strings.ContainsAny(line, "\n\r\x00"):
		return fmt.Errorf("is not one line of 1 to %d bytes: give each key as an element", mostKey)
	case strings.HasPrefix(line, "#"):
		return nil
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		return errors.New(`is not an SSH public key, such as "ssh-ed25519 AAAA... alice": give the content of a .pub file`)
	}
	if key.Type() == ssh.InsecureKeyAlgoDSA { //nolint:staticcheck // to refuse it
		return errors.New("is a DSA key, which sshd refuses: give an ed25519, ECDSA or RSA key")
	}
	for _, option := range options {
		if name, _, _ := strings.Cut(strings.ToLower(option), "="); !slices.Contains(keyOptions, name) {
			return errors.New("has an option that sshd does not know, so it would ignore the key: see sshd(8)")
		}
	}
	return nil
}

// ReadKeys returns the keys of a file, such as authorized_keys, without comments and empty lines.
func ReadKeys(text string) ([]string, error) {
	var keys []string
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := CheckKey(line); err != nil {
			return nil, fmt.Errorf("line %d %w", number, err)
		}
		keys = append(keys, line)
	}
	return keys, nil
}
