// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// A cause that every resource meets is one error of the plan, however many resources there are (SLED_MACHINES), and the
// state stays. An apply has an error for each, of which one has the cause.
func TestAccOneErrorForOneCause(t *testing.T) {
	l, proxy := broken(t)
	count := machines(t)
	l.sledd.DeclareMany(count)
	l.declare(alike(count, "v1"))
	l.Apply()
	l.declare(alike(count, "v2"))
	for name, fault := range map[string]acctest.Fault{"503": acctest.Faults()["503"], "401": acctest.Faults()["401"]} {
		proxy.Break("GET", "/v1/nodes/", fault)
		text := l.Fails("read node", "plan")
		t.Logf("%s: %d errors of a plan of %d", name, strings.Count(text, "Error: "), count)
		if strings.Count(text, "Error: ") != 1 {
			t.Errorf("%s: %d errors:\n%s", name, strings.Count(text, "Error: "), text)
		}
		proxy.Mend()
		saved := l.save()
		proxy.Break("PUT", "/v1/bindings/", fault)
		text = acctest.Flat(l.Run("apply", saved).Text)
		proxy.Mend()
		told := strings.Count(text, "("+name+" ")
		if all := strings.Count(text, "Error: "); all != count || told != count {
			t.Errorf("%s: %d errors, %d of which have the cause:\n%s", name, all, told, text)
		}
	}
	l.Apply()
	l.Empty()
}
