// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// words is how many passwords a dictionary has.
const words = 1000

func word(i int) string { return fmt.Sprintf("hunter%03d", i) }

func documentWith(secret string) string { return "#cloud-config\npassword: " + secret + "\n" }

// Of a text: what may be a key, and what may be a hash or a password.
var (
	keyPattern  = regexp.MustCompile(`[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	hashPattern = regexp.MustCompile(`[0-9a-f]{64}|[A-Za-z0-9+/]{43}=|hunter\d{3}`)
)

// guessed is the attack of somebody who has a text and knows the document but for the password: which passwords of a
// dictionary are in it, or have a hash in it, plain or keyed by whatever stands in the text.
func guessed(text string) (found []string) {
	hashes, keys := map[string]bool{}, map[string]bool{}
	for _, one := range hashPattern.FindAllString(text, -1) {
		hashes[one] = true
	}
	for _, one := range keyPattern.FindAllString(text, -1) {
		keys[one] = true
	}
	for i := range words {
		document := documentWith(word(i))
		raw := sha256.Sum256([]byte(document))
		hit := hashes[word(i)] || hashes[hex.EncodeToString(raw[:])] || hashes[base64.StdEncoding.EncodeToString(raw[:])]
		for key := range keys {
			hit = hit || hashes[strings.TrimPrefix(api.UserDataHash(key, document), "hmac-sha256:")]
		}
		if hit {
			found = append(found, word(i))
		}
	}
	return found
}

// A password in user_data cannot be guessed from plan, state, private state, log and what sledd answers an operator of
// role read, although its document is known. The same attack with the key of the fleet beside it succeeds.
func TestAccUserDataIsNotGuessed(t *testing.T) {
	l := alone(t)
	read := logs(t)
	t.Setenv("TF_VAR_secret", word(417))
	document := `user_data = "#cloud-config\npassword: ${var.secret}\n"`
	l.declare(withSecret, n("n1", image("v1"), document), "resource \"sled_bindings\" \"x\" {\n  name = \"x\"\n"+
		"  images = { \"52:54:00:77:00:02\" = \"v1\" }\n  "+document+"\n}\n")
	l.Must("plan", "-out=first")
	printed := l.Must("show", "first") + l.Must("apply", "first")
	l.Empty()
	l.Must("plan", "-out=second", "-replace="+n1)
	kept := printed + l.Kept("first") + l.Kept("second") + l.Must("show", "-json") + read()
	l.has(kept, "hmac-sha256:")
	if found := guessed(kept); len(found) > 0 {
		t.Errorf("guessed: %q", found)
	}
	store, err := l.sledd.Client().Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.hasNot(kept, store.HashKey)
	answer := l.sledd.Node(1).Binding.UserDataSHA256
	if found := guessed(answer); len(found) > 0 {
		t.Errorf("guessed from sledd's answer: %q", found)
	}
	for what, text := range map[string]string{"sledd's answer with the key": answer + "\n" + store.HashKey,
		"the state with the key": kept + "\n" + store.HashKey} {
		if found := guessed(text); len(found) != 1 || found[0] != word(417) {
			t.Errorf("%s: the attack finds %q, so it proves nothing", what, found)
		}
	}
}

// A secret that is rotated ten times reaches sledd ten times: nothing is wiped, nothing fails, and no plan and no state
// has it.
func TestAccASecretIsRotated(t *testing.T) {
	l := alone(t)
	t.Setenv("TF_VAR_secret", word(0))
	l.declare(withVersion(0, "v1"))
	l.Apply()
	l.sledd.Machine(1).Fulfil()
	for i := 1; i <= 10; i++ {
		t.Setenv("TF_VAR_secret", word(i))
		l.declare(withVersion(i, "v1"))
		l.hasNot(acctest.Flat(l.Must("plan", "-out=saved")), "is wiped", "~ generation ")
		l.Must("apply", "saved")
		if b := l.wants(1, "v1", 1); b.UserDataSHA256 != l.sum(word(i)) {
			t.Errorf("secret %d did not arrive", i)
		}
		kept := l.Kept("saved")
		for j := range i + 1 {
			l.hasNot(kept, word(j), strings.TrimPrefix(l.sum(word(j)), "hmac-sha256:"))
		}
		l.Empty()
	}
}
