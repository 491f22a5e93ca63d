// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
	"github.com/sled-fleet/sled/terraform-provider/internal/bindings"
)

// One secret of many machines is sent again only with another version, to all of them; a machine that comes later gets
// the secret of then.
func TestAccOnlyTheVersionOfASecretDecides(t *testing.T) {
	acctest.SkipBelow(t, "1.11.0", "1.11.0")
	s := prepare(t, acctest.StartAlone(t))
	body := func(version int, images []string, more ...string) string {
		return "variable \"secret\" {\n  type = string\n  ephemeral = true\n}\n" + block("x", images, append(more,
			`user_data_wo = "#!${var.secret}"`, fmt.Sprintf("user_data_wo_version = %d", version))...)
	}
	sent := func(secrets ...string) {
		t.Helper()
		for i, secret := range secrets {
			if got := s.node(i + 1).Binding.UserDataSHA256; got != s.HashOf("#!"+secret) {
				t.Errorf("n%d does not have %q", i+1, secret)
			}
			s.NoSecret("", secret, s.HashOf("#!"+secret))
		}
	}
	t.Setenv("TF_VAR_secret", "secret-one")
	s.apply(body(1, images("d12", "d12")))
	sent("secret-one", "secret-one")

	t.Setenv("TF_VAR_secret", "secret-two")
	has(t, s.plan(body(1, images("d12", "d12"))), "No changes")
	s.apply(body(1, images("d13", "d12", "d12"))) // another image, and another machine
	s.bound("d13@2", "d12@1", "d12@1")
	sent("secret-one", "secret-one", "secret-two")

	t.Setenv("TF_VAR_secret", "secret-three")
	hasNot(t, s.apply(body(2, images("d13", "d12", "d12"))), "is wiped")
	s.bound("d13@2", "d12@1", "d12@1")
	sent("secret-three", "secret-three", "secret-three")

	s.Must("state", "rm", "sled_bindings.x")
	s.Must("import", "sled_bindings.x", "x")
	t.Setenv("TF_VAR_secret", "secret-four")
	hasNot(t, s.apply(body(9, images("d13", "d12", "d12"), `seed_changes = "reimage"`)), "is wiped")
	s.bound("d13@2", "d12@1", "d12@1")
	sent("secret-three", "secret-three", "secret-three")

	has(t, s.apply(body(10, images("d13", "d12", "d12"), `seed_changes = "reimage"`)), "n1.* is wiped", "n3.* is wiped")
	s.bound("d13@3", "d12@2", "d12@2")
	sent("secret-four", "secret-four", "secret-four")
}

// An apply that ended early has sent its secret to a part of the machines. The next one, which has another, images none
// of them for that.
func TestAccSecretOfAnApplyThatEndedEarly(t *testing.T) {
	acctest.SkipBelow(t, "1.11.0", "1.11.0")
	bindings.SetMost(t, 1)
	s := prepare(t, acctest.StartAlone(t))
	proxy := acctest.NewProxy(t, s.URL)
	s.header = acctest.Header(proxy.URL)
	body := "variable \"secret\" {\n  type = string\n  ephemeral = true\n}\n" + block("x", images("d12", "d12"),
		`user_data_wo = "#!${var.secret}"`, "user_data_wo_version = 1", `seed_changes = "reimage"`)
	t.Setenv("TF_VAR_secret", "secret-one")
	s.declare(body)
	proxy.Break(http.MethodPost, "/v1/bindings", passing(t, s.URL, 1, acctest.Cut))
	if out := s.Run("apply", "-auto-approve"); out.Code == 0 {
		t.Error(out.Text)
	}
	proxy.Mend()
	t.Setenv("TF_VAR_secret", "secret-two")
	s.apply(body)
	s.bound("d12@1", "d12@1")
	for i, secret := range []string{"secret-one", "secret-two"} {
		if got := s.node(i + 1).Binding.UserDataSHA256; got != s.HashOf("#!"+secret) {
			t.Errorf("n%d does not have %q", i+1, secret)
		}
	}
}
