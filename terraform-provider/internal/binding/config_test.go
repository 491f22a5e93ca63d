// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// The token may be an argument, also an ephemeral one: it is in no state and no saved plan.
func TestAccTokenIsAnArgument(t *testing.T) {
	l := start(t)
	l.head = fmt.Sprintf(`
variable "token" {
  type      = string
  ephemeral = true
}
provider "sled" {
  server          = %q
  token           = var.token
  request_timeout = "30s"
}
`, l.sledd.URL)
	l.declare(n("n1", image("v1")))
	l.Fails("token is not known", "plan", "-var=token=0123456789abcdef0123456789abcdeg")
	l.Must("plan", "-out=saved", "-var=token="+sleddtest.AdminToken)
	l.Must("apply", "-var=token="+sleddtest.AdminToken, "saved")
	l.NoSecret("saved", sleddtest.AdminToken)
	l.wants(1, "v1", 1)
	for says, lines := range map[string]string{
		`"soon": want a time`:              `request_timeout = "soon"`,
		`"-1s": want a time`:               `request_timeout = "-1s"`,
		"must be a UUID":                   `fleet = "x"`,
		"no certificate in PEM format":     `ca_certificate = "x"`,
		"(?i)cannot be specified when":     "token = \"a\"\n  token_file = \"b\"",
		"(?i)cannot be specified when \\S": "ca_certificate = \"a\"\n  ca_file = \"b\"",
	} {
		l.head = acctest.Header(l.sledd.URL, lines)
		l.declare(n("n1", image("v1")))
		l.Fails(says, "plan")
	}
}

// An argument that the same apply makes known: everything is planned as known after apply, what exists is left alone,
// and the apply has the server and its limits.
func TestAccServerOfTheSameApply(t *testing.T) {
	l := start(t)
	head := func(line string) string {
		return strings.ReplaceAll(fmt.Sprintf(`
resource "terraform_data" "server" {
  input            = %q
  triggers_replace = "$"
}
provider "sled" {
  server = terraform_data.server.output
  %s
}
`, l.sledd.URL, line), "$", line)
	}
	l.head = head("")
	l.declare(n("n1", image("v1")), machine(10))
	l.has(l.plan(2), "The provider is not configured yet", "wipes = (known after apply)")
	l.Apply()
	l.wants(1, "v1", 1)
	l.Empty()
	l.head = head("max_reimages = 0")
	l.declare(n("n1", image("v2")), machine(10))
	l.has(l.plan(2), `image none -> v1" -> (known after apply)`, "1 to change")
	l.refused("max_reimages of the provider is 0", "apply", "-auto-approve")
	l.wants(1, "v1", 1)
}
