// SPDX-License-Identifier: Apache-2.0

package ready_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// site is a sledd with nodes n1 to n<count>, and a proxy that says when the provider begins to watch.
type site struct {
	*sleddtest.Sledd
	*testing.T
	proxy   *acctest.Proxy
	working sync.WaitGroup
}

// begin has nodes that are bound with generation 1, by somebody else.
func begin(t *testing.T, count int) *site {
	t.Helper()
	s := declared(t, count)
	for i := 1; i <= count; i++ {
		s.Bind(api.BindingSpec{Node: fmt.Sprintf("n%d", i), Image: "debian-12-v1"})
	}
	return s
}

func declared(t *testing.T, count int) *site {
	t.Helper()
	s := &site{Sledd: acctest.Start(t), T: t}
	s.proxy = acctest.NewProxy(t, s.URL)
	s.Register("debian-12-v1")
	for i := 1; i <= count; i++ {
		s.Declare(i)
	}
	t.Cleanup(s.working.Wait)
	return s
}

// meanwhile does something as soon as the provider watches.
func (s *site) meanwhile(do func()) {
	s.proxy.Before(http.MethodGet, "/v1/events", func() { s.working.Go(do) })
}

// fulfil lets machines do what their bindings request.
func (s *site) fulfil(numbers ...int) func() {
	return func() {
		for _, i := range numbers {
			s.Machine(i).Fulfil()
		}
	}
}

// config waits for nodes, given as the inside of a map in HCL.
func (s *site) config(nodes string, more ...string) string {
	return acctest.Header(s.proxy.URL) + fmt.Sprintf("resource \"sled_ready\" \"all\" {\n  nodes = { %s }\n  "+
		"%s\n}\n", nodes, strings.Join(more, "\n  "))
}

// test runs steps, of which a resource.Test is made.
func (s *site) test(steps ...resource.TestStep) {
	s.T.Helper()
	resource.Test(s.T, resource.TestCase{ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories, Steps: steps})
}

func attribute(name, value string) resource.TestCheckFunc {
	return resource.TestCheckResourceAttr("sled_ready.all", name, value)
}

func updates() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
		plancheck.ExpectResourceAction("sled_ready.all", plancheck.ResourceActionUpdate)}}
}

func TestAccReadyAll(t *testing.T) {
	s := begin(t, 2)
	s.test(
		resource.TestStep{
			PreConfig: func() { s.meanwhile(s.fulfil(1, 2)) },
			Config:    s.config(`n1 = 1, "52-54-00-77-00-02" = 1`),
			Check: resource.ComposeTestCheckFunc(attribute("require", "all"), attribute("ready.%", "2"),
				attribute("ready.n1", "1"),
				attribute("ready.52-54-00-77-00-02", "1"), attribute("failed.%", "0"), attribute("pending.%", "0")),
		},
		resource.TestStep{ // what is no other wait is not waited for, whatever sledd would say
			PreConfig: func() {
				s.proxy.Break(http.MethodGet, "/v1/events",
					acctest.Status(http.StatusForbidden, "not now"))
			},
			Config: s.config(`n1 = 1, "52-54-00-77-00-02" = 1`, `require = "50%"`,
				`timeouts = { update = "1m" }`),
			ConfigPlanChecks: updates(),
			Check:            attribute("ready.%", "2"),
		},
		resource.TestStep{
			PreConfig: func() {
				s.proxy.Mend()
				s.Bind(api.BindingSpec{Node: "n1", Image: "debian-12-v1"}, api.Reimage())
				s.meanwhile(s.fulfil(1))
			},
			Config:           s.config(`n1 = 2`, `timeouts = { update = "1m" }`),
			ConfigPlanChecks: updates(),
			Check:            resource.ComposeTestCheckFunc(attribute("ready.%", "1"), attribute("ready.n1", "2")),
		},
		resource.TestStep{Config: s.config(`n1 = 2`, `timeouts = { update = "1m" }`), PlanOnly: true},
	)
}

func TestAccReadyEnough(t *testing.T) {
	s := begin(t, 10)
	s.test(resource.TestStep{
		PreConfig: func() { s.meanwhile(s.fulfil(1, 2, 3, 4, 5, 6, 7, 8, 9)) },
		Config:    s.config(`for i in range(1, 11) : "n${i}" => 1`, `require = "90%"`),
		Check: resource.ComposeTestCheckFunc(attribute("ready.%", "9"), attribute("pending.%", "1"),
			attribute("pending.n10", "never seen (generation 0, requested 1)")),
	})
}

func TestAccReadyFailFast(t *testing.T) {
	s := begin(t, 2)
	cli := acctest.NewCLI(t, acctest.Config("", s.config(`n1 = 1, n2 = 1`)))
	s.meanwhile(func() { s.Machine(1).Fail(4, "no disk matches serial:LAB-0001") })
	out := cli.Run("apply", "-auto-approve")
	if !strings.Contains(out.Text, "  n1: failed: step wipe: no disk matches serial:LAB-0001 (exit code 4)\n") ||
		!strings.Contains(acctest.Flat(out.Text), "1 of 2 nodes failed") || out.Code == 0 {
		t.Errorf("exit code %d:\n%s", out.Code, out.Text)
	}
	// The machine is booted and tries again; the next apply waits for the same generation.
	s.Machine(1)
	s.meanwhile(s.fulfil(1, 2))
	cli.Apply()
	cli.Empty()
	if generation := s.Node(1).Binding.Generation; generation != 1 {
		t.Errorf("n1 has generation %d", generation)
	}
}

func TestAccReadyFailSlowly(t *testing.T) {
	s := begin(t, 3)
	cli := acctest.NewCLI(t, acctest.Config("", s.config(`n1 = 1, n2 = 1, n3 = 1`, `fail_fast = false`)))
	s.meanwhile(func() {
		s.Machine(1).Fail(6, "no server answers")
		s.fulfil(2, 3)()
	})
	out := cli.Run("apply", "-auto-approve")
	for _, want := range []string{"1 of 3 nodes failed", "2 of 3 nodes are ready, 3 are required: 1 failed, 2 " +
		"ready.", "step wipe: no server answers (exit code 6)"} {
		if !strings.Contains(acctest.Flat(out.Text), want) {
			t.Errorf("no %q in\n%s", want, out.Text)
		}
	}
}

func TestAccReadySurvivesARestart(t *testing.T) {
	s := begin(t, 2)
	s.test(resource.TestStep{
		PreConfig: func() {
			s.meanwhile(func() {
				s.fulfil(1)()
				s.Stop()
				s.Resume()
				s.fulfil(2)()
			})
		},
		Config: s.config(`n1 = 1, n2 = 1`),
		Check:  attribute("ready.%", "2"),
	})
}

func TestAccReadyRefuses(t *testing.T) {
	s := begin(t, 1)
	s.Declare(2)
	s.test(
		resource.TestStep{Config: s.config(`n1 = 1`, `timeouts = { create = "soon" }`),
			ExpectError: regexp.MustCompile(`"soon" must be`)},
		resource.TestStep{Config: s.config(`n1 = 1`, `require = "2"`),
			ExpectError: regexp.MustCompile(`nodes has only 1`)},
		resource.TestStep{Config: s.config(`n1 = 1`, `require = "most"`),
			ExpectError: regexp.MustCompile(`require is "most": want all`)},
		resource.TestStep{Config: s.config(`n1 = 0`), ExpectError: regexp.MustCompile(`must be at least 1`)},
		resource.TestStep{Config: s.config(`"n 1" = 1`), ExpectError: regexp.MustCompile(`must be a MAC or the name`)},
		resource.TestStep{Config: s.config(`n1 = 1, ghost = 1`),
			ExpectError: regexp.MustCompile(`ghost: failed: sledd does not know this node`)},
		resource.TestStep{Config: s.config(`n2 = 1`), ExpectError: regexp.MustCompile(`n2: failed: it has no ` +
			`binding any more`)},
		resource.TestStep{Config: s.config(`n1 = 7`), ExpectError: regexp.MustCompile(`generation 7 is required, ` +
			`but its binding has generation 1`)},
	)
}
