// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// A cause that every resource meets is one error of the plan, with 100 resources too, and the state stays. An apply
// has an error for each, of which one has the cause.
func TestAccOneErrorForOneCause(t *testing.T) {
	l, proxy := broken(t)
	const machines = 100
	l.sledd.DeclareMany(machines)
	many := func(image string) string {
		return fmt.Sprintf(`resource "sled_binding" "b" {
  count = %d
  node  = format("52:54:00:77:00:%%02x", count.index)
  image = %q
}`, machines, image)
	}
	l.declare(many("v1"))
	l.Apply()
	l.declare(many("v2"))
	for name, fault := range map[string]acctest.Fault{"503": acctest.Faults()["503"], "401": acctest.Faults()["401"]} {
		proxy.Break("GET", "/v1/nodes/", fault)
		if text := l.Fails("read node", "plan"); strings.Count(text, "Error: ") != 1 {
			t.Errorf("%s: %d errors:\n%s", name, strings.Count(text, "Error: "), text)
		}
		proxy.Mend()
		saved := l.save()
		proxy.Break("PUT", "/v1/bindings/", fault)
		text := acctest.Flat(l.Run("apply", saved).Text)
		proxy.Mend()
		told := strings.Count(text, "The cause is that of the first error of this run.")
		if all := strings.Count(text, "Error: "); all != machines || told != machines-1 {
			t.Errorf("%s: %d errors, %d of which refer to another:\n%s", name, all, told, text)
		}
	}
	l.Apply()
	l.Empty()
}
