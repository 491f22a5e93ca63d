// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
)

const privateKey = `-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n`

// What no installed system could use is refused by the plan, before sledd or a state has it.
func TestAccValuesAreCheckedForTheirUse(t *testing.T) {
	l := start(t)
	for line, says := range map[string]string{
		`authorized_keys = ["` + sshkeys.Alice + `", "` + privateKey + `"]`: "Key 2 is a private key: give the public",
		`authorized_keys = ["~/.ssh/id_ed25519.pub"]`:                       "give the content of a .pub",
		`authorized_keys = ["` + sshkeys.Alice + `\n` + sshkeys.Bob + `"]`:  "Key 1 is not one line",
		`hostname = "` + strings.Repeat("a", 60) + `.ab.d"`:                 "at most 64",
		`hostname = "under_score"`:                                          "must be labels of a-z",
	} {
		l.declare(n("n1", image("v1"), line))
		l.Fails(says, "plan")
	}
}

// The newline of file("id.pub") is no part of a key, and no difference.
func TestAccKeysMayEndInANewline(t *testing.T) {
	l := start(t)
	l.declare(n("n1", image("v1"), `authorized_keys = ["`+sshkeys.Alice+` alice\n"]`))
	l.Apply()
	l.Empty()
	if keys := l.sledd.Node(1).Binding.AuthorizedKeys; len(keys) != 1 || keys[0] != sshkeys.Alice+" alice" {
		t.Errorf("%q", keys)
	}
	l.wants(1, "v1", 1)
}
