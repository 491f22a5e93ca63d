// SPDX-License-Identifier: Apache-2.0

package ready_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// A machine that waits to be admitted ends the wait, which names the command to type; after it the next apply waits on.
func TestAccReadyNamesTheCommandThatAdmits(t *testing.T) {
	s := begin(t, 1)
	s.Bind(api.BindingSpec{Node: "n1", Image: "debian-12-v1", Admission: "proven"})
	cli := acctest.NewCLI(t, acctest.Config("", s.config(`n1 = 1`)))
	var code, claim string
	s.meanwhile(func() { code, claim = s.Claim(1, "boot-1") })
	out := cli.Run("apply", "-auto-approve")
	s.working.Wait()
	for _, want := range []string{"n1: failed: a machine waits to be admitted as this node",
		"type the code that its console shows: sledctl admit n1 CODE"} {
		if !strings.Contains(acctest.Flat(out.Text), want) || out.Code == 0 {
			t.Errorf("exit code %d, no %q in\n%s", out.Code, want, out.Text)
		}
	}
	if strings.Contains(out.Text, code) {
		t.Errorf("the code is read on the console, not in\n%s", out.Text)
	}
	_, err := s.Client().Admit(t.Context(), "n1", api.AdmitSpec{CodeSpec: api.CodeSpec{Code: code}})
	if err != nil || s.Polls(1, claim) == "" {
		t.Fatalf("not admitted: %v", err)
	}
	if waiting := s.Node(1).WaitingClaims; len(waiting) != 0 {
		t.Errorf("%v", waiting)
	}
}
