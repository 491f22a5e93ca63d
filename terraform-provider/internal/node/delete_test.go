// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// applied is a directory where node n1 was applied.
func applied(t *testing.T, s *sleddtest.Sledd) *acctest.CLI {
	t.Helper()
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), small(`disk = "serial:LAB-0001"`)))
	cli.Apply()
	return cli
}

func gone(t *testing.T, s *sleddtest.Sledd) {
	t.Helper()
	if node, err := s.Client().Node(t.Context(), first); !api.IsNotFound(err) {
		t.Errorf("%+v %v", node, err)
	}
}

func TestAccNodeDeleteBound(t *testing.T) {
	s := acctest.Start(t)
	s.Register("debian")
	cli := applied(t, s)
	s.Bind(api.BindingSpec{Node: "n1", Image: "debian", Owner: "terraform:web"})
	s.Machine(1).Fulfil()
	cli.Fails(`node n1 \(52:54:00:77:00:01\) is bound: .* image debian \(generation 1\), declared by terraform:web`,
		"destroy", "-auto-approve")
	if err := s.Client().DeleteBinding(t.Context(), "n1", api.As("terraform:web")); err != nil {
		t.Fatal(err)
	}
	s.Bind(api.BindingSpec{Node: "n1", Capture: "golden"})
	cli.Fails(`its capture as golden \(generation 2\), declared by nobody`, "destroy", "-auto-approve")
	if err := s.Client().DeleteBinding(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	s.Bind(api.BindingSpec{Node: "n1", Owner: "somebody"})
	cli.Fails(`a wipe \(generation 2\), declared by somebody`, "destroy", "-auto-approve")
	if err := s.Client().DeleteBinding(t.Context(), "n1", api.As("somebody")); err != nil {
		t.Fatal(err)
	}
	cli.Must("destroy", "-auto-approve")
	gone(t, s)
}

func TestAccNodeDeleteAfterWipe(t *testing.T) {
	s := acctest.Start(t)
	cli := applied(t, s)
	s.Bind(api.BindingSpec{Node: "n1"})
	cli.Fails(`n1 is not wiped yet \(generation 1, phase not seen yet\).*playbooks/wipe.yml --limit n1, then `+
		`destroy again`, "destroy", "-auto-approve")
	machine := s.Machine(1)
	machine.Fail(1, "broken disk")
	cli.Fails(`n1 is not wiped yet \(generation 1, phase failed\)`, "destroy", "-auto-approve")
	s.Machine(1).Fulfil()
	cli.Must("destroy", "-auto-approve")
	gone(t, s)
}

func TestAccNodeChangedSinceThePlan(t *testing.T) {
	s := acctest.Start(t)
	cli := applied(t, s)
	change := func(disk string) {
		if _, err := s.Client().PutNode(t.Context(), api.NodeSpec{MAC: first, Name: "n1", Disk: disk}); err != nil {
			t.Fatal(err)
		}
	}
	cli.Must("plan", "-destroy", "-out=destroy")
	cli.Write(acctest.Config(acctest.Header(s.URL), named("web1")))
	cli.Must("plan", "-out=rename")
	change("only")
	cli.Fails(`Changed since the plan was made: could not declare node web1.*Nothing was written`, "apply", "rename")
	cli.Fails(`Changed since the plan was made: could not delete node n1`, "apply", "destroy")
	if node := stored(t, s); node.Name != "n1" || node.Disk != "only" {
		t.Errorf("%+v", node)
	}

	cli.Apply()
	cli.Must("plan", "-out=same")
	cli.Must("plan", "-destroy", "-out=destroy")
	if err := s.Client().DeleteNode(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	cli.Must("apply", "destroy") // gone already is gone

	cli.Must("plan", "-out=create")
	s.Declare(1)
	if out := cli.Run("apply", "create"); out.Code == 0 || !strings.Contains(out.Text, "is already declared") {
		t.Error(out.Text)
	}
}
