// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// withVersion is n1 with a secret of which only the version decides.
func withVersion(version int, image string, more ...string) string {
	return withSecret + n("n1", append([]string{`image = "` + image + `"`, `user_data_wo = "#!${var.secret}"`,
		fmt.Sprintf("user_data_wo_version = %d", version)}, more...)...)
}

// sum is the hash of the user data with a secret.
func (l *lab) sum(secret string) string { return l.sledd.HashOf("#!" + secret) }

// unguessable wants no secret and no hash of one in texts, the saved plans "first" and "second", and the state.
func (l *lab) unguessable(texts []string) {
	l.Helper()
	for _, name := range []string{"first", "second", "terraform.tfstate"} {
		content, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			l.Fatal(err)
		}
		texts = append(texts, string(content))
	}
	for i := range 7 {
		secret := fmt.Sprintf("secret-%d", i)
		for _, text := range texts {
			l.hasNot(text, secret, l.sum(secret))
		}
		l.NoSecret("first", secret, l.sum(secret))
		l.NoSecret("second", secret, l.sum(secret))
		l.NoSecret("", secret, l.sum(secret))
	}
}

// A secret that is another one at each run, as from a vault, is sent with another version only. Neither it nor a hash
// of it is in state, plan, plan file or output, so that nobody can guess it from there.
func TestAccOnlyTheVersionOfASecretDecides(t *testing.T) {
	l := alone(t)
	var texts []string
	run := func(secret, command string, arguments ...string) string {
		t.Helper()
		t.Setenv("TF_VAR_secret", secret)
		text := acctest.Flat(l.Must(command, arguments...))
		texts = append(texts, text)
		return text
	}
	sent := func(secret, image string, generation int64) {
		t.Helper()
		if b := l.wants(1, image, generation); b.UserDataSHA256 != l.sum(secret) {
			t.Errorf("sledd does not have the user data with %s", secret)
		}
	}
	l.declare(withVersion(1, "v1", `seed_changes = "reimage"`))
	run("secret-0", "plan", "-out=first")
	run("secret-1", "apply", "first") // a token that expired between the two
	sent("secret-1", "v1", 1)
	for i := range 10 {
		l.has(run(fmt.Sprintf("secret-%d", i), "plan"), "No changes")
	}

	l.declare(withVersion(1, "v2", `seed_changes = "reimage"`)) // another change sends no other secret
	run("secret-2", "apply", "-auto-approve")
	sent("secret-1", "v2", 2)

	l.declare(withVersion(2, "v2", `seed_changes = "reimage"`))
	l.has(run("secret-3", "plan", "-out=second"), "~ generation = 2 -> 3", "~ user_data_wo_version = 1 -> 2",
		"n1: disk serial:LAB-0001 is wiped")
	run("secret-4", "apply", "second")
	sent("secret-4", "v2", 3)

	l.declare(withVersion(3, "v2")) // for the next image
	l.hasNot(run("secret-5", "plan"), "is wiped", "~ generation ")
	run("secret-5", "apply", "-auto-approve")
	sent("secret-5", "v2", 3)
	l.has(run("secret-6", "plan"), "No changes")

	l.unguessable(texts)
}

// Between the two kinds of user data, and to none, it is sent once.
func TestAccUserDataChangesItsKind(t *testing.T) {
	l := alone(t)
	t.Setenv("TF_VAR_secret", "one")
	plain := withSecret + n("n1", image("v1"), `user_data = "#cloud-config"`)
	for _, c := range []struct{ body, sum string }{
		{plain, l.sledd.HashOf("#cloud-config")},
		{withVersion(0, "v1"), l.sum("one")},
		{plain, l.sledd.HashOf("#cloud-config")},
		{withVersion(7, "v1"), l.sum("one")},
		{withSecret + n("n1", image("v1")), ""},
	} {
		l.declare(c.body)
		l.Apply()
		if b := l.wants(1, "v1", 1); b.UserDataSHA256 != c.sum {
			t.Errorf("user data %q, want %q, by %s", b.UserDataSHA256, c.sum, c.body)
		}
		l.Empty()
	}
	l.declare(withSecret + n("n1", image("v1"), `user_data_wo = var.secret`))
	l.Fails("user_data_wo_version", "plan")
	l.declare(withSecret + n("n1", image("v1"), `user_data_wo_version = 1`))
	l.Fails("user_data_wo", "plan")
	l.declare(withVersion(1, "v1", `user_data = "#cloud-config"`))
	l.Fails("user_data", "plan")
}

// An import cannot know the version, and takes what is stored for the declared one: it images nothing. A binding that
// somebody took away gets the secret of now.
func TestAccVersionAfterAnImportAndAnAbsence(t *testing.T) {
	l := alone(t)
	t.Setenv("TF_VAR_secret", "one")
	body := withVersion(4, "v1", `seed_changes = "reimage"`)
	l.declare(body)
	l.Apply()
	l.sledd.Machine(1).Fulfil()
	l.Must("state", "rm", "sled_binding.n1")
	l.Must("import", "sled_binding.n1", "n1")
	t.Setenv("TF_VAR_secret", "two")
	l.hasNot(l.plan(2), "is wiped", "~ generation ")
	l.Apply()
	if b := l.wants(1, "v1", 1); b.UserDataSHA256 != l.sum("one") {
		t.Error("the stored user data was replaced")
	}
	l.Empty()

	if err := l.sledd.Client().DeleteBinding(t.Context(), "n1", api.As("terraform")); err != nil {
		t.Fatal(err)
	}
	l.declare(withVersion(4, "v1", `seed_changes = "reimage"`, `on_drift = "reimage"`))
	l.Apply()
	if b := l.wants(1, "v1", 2); b.UserDataSHA256 != l.sum("two") {
		t.Error("the user data of now was not sent")
	}
	l.Empty()
}
