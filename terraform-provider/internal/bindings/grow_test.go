// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"fmt"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest/sshkeys"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// single is a sled_binding of node n<i>.
func single(i int, image string, more ...string) string {
	text := fmt.Sprintf("resource \"sled_binding\" \"n%d\" {\n  node  = \"n%[1]d\"\n  image = %q\n", i, image)
	for _, line := range more {
		text += "  " + line + "\n"
	}
	return text + "}\n"
}

const forgotten = `removed {
  from = sled_binding.n1
  lifecycle {
    destroy = false
  }
}
`

// wants checks owners of n1, n2 and so on.
func (s *site) owners(want ...string) {
	s.Helper()
	for i, one := range want {
		if got := s.node(i + 1).Binding.Owner; got != one {
			s.Errorf("n%d belongs to %q, want %q", i+1, got, one)
		}
	}
}

// A machine moves from sled_binding to sled_bindings, on to another one and back, and is not imaged.
func TestAccGrow(t *testing.T) {
	s := start(t)
	const keys = `authorized_keys = ["` + sshkeys.Alice + ` alice"]`
	s.apply(single(1, "d12", keys), single(2, "d12", keys))
	s.declare(single(2, "d12", keys), block("x", images("d12"), keys))
	s.Fails(`binding of 52:54:00:77:00:01 moves in one apply.*removed block`, "plan")

	has(t, s.apply(forgotten, single(2, "d12", keys), block("x", images("d12"), keys)),
		`1 bindings are taken over as they are`, `n1 \(52:54:00:77:00:01\), from terraform, at generation 1`)
	s.owners("terraform:x", "terraform")

	has(t, s.apply(single(2, "d12", keys), block("x", images("d12"), keys), block("y", images("d12"), keys)),
		`n1 .* from terraform:x, at generation 1`)
	s.owners("terraform:y", "terraform")
	s.apply(single(2, "d12", keys), block("x", nil, keys), block("y", images("d12"), keys))
	s.declare(single(2, "d12", keys), block("x", images("d12"), keys), block("y", nil, keys))
	s.Fails(`binding of 52:54:00:77:00:01 moves in one apply`, "plan")
	s.declare(single(2, "d12", keys), block("x", images("d12"), keys))
	s.Fails(`binding of 52:54:00:77:00:01 moves in one apply`, "plan")
	s.bound("d12@1", "d12@1")
	s.owners("terraform:y", "terraform")
}

// Only what is the same is taken over: the rest would be imaged, or is not of this provider.
func TestAccGrowRefuses(t *testing.T) {
	s := start(t)
	s.apply(single(1, "d12"), single(2, "d12", `hostname = "web"`))
	s.Bind(api.BindingSpec{Node: "n3", Image: "d12", Owner: "terraform-b"})
	s.declare(forgotten, single(2, "d12", `hostname = "web"`), block("x", images("d13")))
	s.Fails(`n1 \(52:54:00:77:00:01\) belongs to terraform`, "plan")
	s.declare(single(1, "d12"), single(2, "d12", `hostname = "web"`), block("x", images("", "d12")))
	s.Fails(`n2 \(52:54:00:77:00:02\) belongs to terraform`, "plan")
	s.declare(single(1, "d12"), single(2, "d12", `hostname = "web"`), block("x", images("", "", "d12")))
	s.Fails(`n3 \(52:54:00:77:00:03\) belongs to terraform-b`, "plan")
	s.bound("d12@1", "d12@1", "d12@1")
}

// What changes between plan and apply is not taken over.
func TestAccGrowStale(t *testing.T) {
	s := start(t)
	s.apply(single(1, "d12"))
	s.declare(forgotten, block("x", images("d12")))
	s.Must("plan", "-out=saved")
	s.Bind(api.BindingSpec{Node: "n1", Image: "d13", Owner: "terraform"})
	out := s.Run("apply", "saved")
	if out.Code == 0 {
		t.Errorf("applied:\n%s", out.Text)
	}
	s.bound("d13@2")
	s.owners("terraform")
	hasNot(t, acctest.Flat(out.Text), `Apply complete`)
}
