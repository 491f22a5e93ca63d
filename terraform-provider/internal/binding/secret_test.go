// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const withSecret = `
variable "secret" {
  type      = string
  ephemeral = true
}
`

// logs collects what the provider of this process logs from now on.
func logs(t *testing.T) func() string {
	t.Helper()
	t.Setenv("TF_LOG", "TRACE")
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = file
	t.Cleanup(func() { os.Stderr = stderr; file.Close() })
	return func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// A secret in user data reaches the machine, and neither state, private state, plan, plan file nor any log of the
// provider or the CLI. Another one is another generation, the same is not.
func TestAccUserDataIsSecret(t *testing.T) {
	const one, two = "Xq7-seeded-secret-one", "Xq7-seeded-secret-two"
	l := alone(t)
	read := logs(t)
	body := withSecret + n("n1", image("v1"), `user_data = "#cloud-config\npassword: ${var.secret}\n"`,
		`seed_changes = "reimage"`)
	run := func(secret, command string, arguments ...string) string {
		t.Helper()
		t.Setenv("TF_VAR_secret", secret)
		text := l.Must(command, arguments...)
		if strings.Contains(text, one) || strings.Contains(text, two) {
			t.Errorf("%s prints the secret", command)
		}
		return acctest.Flat(text)
	}
	l.declare(body)
	run(one, "plan", "-out=first")
	l.NoSecret("first", one)
	run(one, "apply", "first")
	b := l.wants(1, "v1", 1)
	if want := l.sledd.HashOf("#cloud-config\npassword: " + one + "\n"); b.UserDataSHA256 != want {
		t.Errorf("user data with hash %q arrived, want %s", b.UserDataSHA256, want)
	}
	l.has(run(one, "plan"), "No changes")

	l.has(run(two, "plan", "-out=second"), "~ generation = 1 -> 2", "~ user_data_sha256",
		"Warning: n1: disk serial:LAB-0001 is wiped")
	l.NoSecret("second", one, two)
	run(two, "apply", "second")
	l.wants(1, "v1", 2)
	l.NoSecret("", one, two)
	for _, name := range []string{"first", "second", "terraform.tfstate"} {
		content, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil || strings.Contains(string(content), one) || strings.Contains(string(content), two) {
			t.Errorf("%s: %v, or it holds the secret", name, err)
		}
	}

	l.declare(withSecret + n("n1", image("v1"), `seed_changes = "reimage"`)) // none any more
	l.has(run(two, "plan"), "~ generation = 2 -> 3", "- user_data_sha256")
	run(two, "apply", "-auto-approve")
	if b := l.wants(1, "v1", 3); b.UserDataSHA256 != "" {
		t.Errorf("user data %s is left", b.UserDataSHA256)
	}

	log := read()
	l.has(log, "Calling provider defined Resource Create", "Calling provider defined Resource Update")
	l.hasNot(log, one, two)
}

// The same within the testing framework, which looks at plan and state as JSON.
func TestAccUserDataIsInNoJSON(t *testing.T) {
	acctest.SkipBelow(t, "1.11.0", "1.11.0")
	s := sledd(t)
	t.Setenv("TF_VAR_secret", "Xq7-seeded-secret")
	secrets := acctest.NoSecret{"Xq7-seeded-secret"}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{{
			Config: acctest.Header(s.URL) + withSecret + n("n1", image("v1"), `user_data = "#!${var.secret}"`),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{secrets},
				PostApplyPostRefresh: []plancheck.PlanCheck{secrets}},
			ConfigStateChecks: []statecheck.StateCheck{secrets},
		}},
	})
}
