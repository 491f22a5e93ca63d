// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const (
	ofStore    = "/v1/store"
	ofNode     = "/v1/nodes/"
	ofBindings = "/v1/bindings/"
)

// told is what the user reads of each fault.
var told = map[string]string{
	"500": `sledd is unreachable: could not .*something broke \(500 Internal Server Error\).*The state is ` +
		`unchanged`,
	"503":     `sledd is unreachable: could not .*no leader \(503 Service Unavailable\).*The state is unchanged`,
	"401":     `sledd does not know the token: could not .*unknown token \(401 Unauthorized\).*was revoked`,
	"403":     `The role of the token is too low: could not .*role read is too low \(403 Forbidden\).*role operate`,
	"404":     `sledd refused to .*\(404 Not Found\).*Nothing was changed`,
	"garbage": `Could not .*answer is not the JSON of this API version`,
	"cut":     `sledd is unreachable: could not .*cannot be reached: EOF.*The state is unchanged`,
}

// each breaks something in every way, and mends it.
func each(t *testing.T, proxy *acctest.Proxy, method, path string, do func(want string)) {
	t.Helper()
	for name, fault := range acctest.Faults() {
		proxy.Break(method, path, fault)
		do(told[name])
		proxy.Mend()
	}
}

func TestAccNodeBrokenServer(t *testing.T) {
	s := acctest.Start(t)
	proxy := acctest.NewProxy(t, s.URL)
	header := acctest.Header(proxy.URL)
	cli := acctest.NewCLI(t, acctest.Config(header, small()))

	each(t, proxy, http.MethodGet, ofStore, func(want string) { cli.Fails(want, "plan") })
	each(t, proxy, http.MethodPut, ofNode, func(want string) { cli.Fails(want, "apply", "-auto-approve") })
	gone(t, s)
	cli.Apply()
	each(t, proxy, http.MethodGet, ofNode, func(want string) {
		cli.Fails(want, "plan")
		cli.Fails(want, "apply", "-refresh-only", "-auto-approve")
		cli.Fails(want, "destroy", "-auto-approve")
		cli.Fails(want, "destroy", "-auto-approve", "-refresh=false")
	})
	cli.Empty()
	cli.Write(acctest.Config(header, named("web1")))
	each(t, proxy, http.MethodPut, ofNode, func(want string) { cli.Fails(want, "apply", "-auto-approve") })
	each(t, proxy, http.MethodDelete, ofNode, func(want string) {
		if !strings.Contains(want, "JSON") { // the answer to a DELETE has no body
			cli.Fails(want, "destroy", "-auto-approve")
		}
	})
	if node := stored(t, s); node.Name != "n1" {
		t.Errorf("%+v", node)
	}
	cli.Apply()
	cli.Empty()

	if _, err := s.Client().PutNode(t.Context(), api.NodeSpec{MAC: first, Name: "web1", Disk: "only"}); err != nil {
		t.Fatal(err)
	}
	cli.Apply("-refresh-only")
	s.Bind(api.BindingSpec{Node: "web1"})
	s.Machine(1).Fulfil()
	each(t, proxy, http.MethodDelete, ofBindings, func(want string) {
		if !strings.Contains(want, "JSON") {
			cli.Fails(want, "destroy", "-auto-approve")
		}
	})
	cli.Must("destroy", "-auto-approve")
	gone(t, s)
}

// What answers well but about nothing is not sledd: it neither removes nor fills.
func TestAccNodeAnotherServer(t *testing.T) {
	s := acctest.Start(t)
	proxy := acctest.NewProxy(t, s.URL)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(proxy.URL), small()))
	const want = `Could not .*the answer is about node "" \(MAC ""\)`
	proxy.Break(http.MethodPut, ofNode, acctest.Other)
	cli.Fails(want, "apply", "-auto-approve")
	proxy.Mend()
	cli.Apply()
	proxy.Break(http.MethodGet, ofNode, acctest.Other)
	cli.Fails(want, "plan")
	cli.Fails(want, "apply", "-refresh-only", "-auto-approve")
	cli.Fails(want, "destroy", "-refresh=false", "-auto-approve")
	proxy.Mend()
	cli.Empty()
}

func TestAccNodeImportBrokenServer(t *testing.T) {
	s := acctest.Start(t)
	s.Declare(1)
	proxy := acctest.NewProxy(t, s.URL)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(proxy.URL), small()))
	each(t, proxy, http.MethodGet, ofNode, func(want string) { cli.Fails(want, "import", address, "n1") })
	cli.Must("import", address, "n1")
}

func TestAccDataBrokenServer(t *testing.T) {
	s := acctest.Start(t)
	s.Declare(1)
	proxy := acctest.NewProxy(t, s.URL)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(proxy.URL), `data "sled_node" "n" { name = "n1" }`))
	each(t, proxy, http.MethodGet, ofNode, func(want string) { cli.Fails(want, "plan") })
	cli.Apply()
}

// Somebody is faster between the reading and the writing of a deletion.
func TestAccNodeDeleteRaces(t *testing.T) {
	s := acctest.Start(t)
	proxy := acctest.NewProxy(t, s.URL)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(proxy.URL), small(`disk = "only"`)))
	cli.Apply()
	proxy.Before(http.MethodDelete, ofNode, func() { s.Bind(api.BindingSpec{Node: "n1"}) })
	cli.Fails(`sledd refused to delete node n1.*is bound \(generation 1\): delete the binding first`, "destroy",
		"-auto-approve")

	s.Machine(1).Fulfil()
	proxy.Before(http.MethodDelete, ofBindings, func() { s.Bind(api.BindingSpec{Node: "n1", Wipe: "signatures"}) })
	cli.Fails(`Changed since the plan was made: could not remove the finished wipe of node n1`, "destroy",
		"-auto-approve")

	s.Machine(1).Fulfil() // the other level is a wipe of its own
	proxy.Before(http.MethodDelete, ofBindings, func() {
		if err := s.Client().DeleteBinding(t.Context(), "n1"); err != nil {
			t.Error(err)
		}
	})
	cli.Fails(`Changed since the plan was made: could not remove the finished wipe of node n1`, "destroy",
		"-auto-approve")

	proxy.Before(http.MethodDelete, ofNode, func() {
		if err := s.Client().DeleteNode(t.Context(), "n1"); err != nil {
			t.Error(err)
		}
	})
	cli.Fails(`Changed since the plan was made: could not delete node n1`, "destroy", "-auto-approve")
	cli.Must("destroy", "-auto-approve")
	gone(t, s)
}

// The answer to a creation is lost: the next apply says what to do.
func TestAccNodeCreateAnswerLost(t *testing.T) {
	s := acctest.Start(t)
	proxy := acctest.NewProxy(t, s.URL)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(proxy.URL), small()))
	proxy.Break(http.MethodPut, ofNode, func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.Client().PutNode(t.Context(), api.NodeSpec{MAC: first, Name: "n1"}); err != nil {
			t.Error(err)
		}
		acctest.Cut(w, r)
	})
	cli.Fails(told["cut"], "apply", "-auto-approve")
	proxy.Mend()
	cli.Fails(`is already declared.*terraform import`, "apply", "-auto-approve")
	cli.Must("import", address, first)
	cli.Empty()
}

const three = `
resource "sled_node" "n" {
  for_each = { n1 = "52:54:00:77:00:01", n2 = "52:54:00:77:00:02", n3 = "52:54:00:77:00:03" }
  mac      = each.value
  name     = each.key
}
`

// once wants a plan to end with one single error. That the state file stays as it is, Fails sees to.
func once(t *testing.T, cli *acctest.CLI, want string) {
	t.Helper()
	if text := cli.Fails(want, "plan"); strings.Count(text, "Error: ") != 1 {
		t.Errorf("want one error:\n%s", text)
	}
}

func TestAccServerStopped(t *testing.T) {
	s := acctest.Start(t)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), three))
	cli.Apply()
	s.Stop()
	once(t, cli, `sledd is unreachable: could not .*connection refused.*The state is unchanged`)
	s.Resume()
	cli.Empty()
}

// A server that accepts and never answers is given up by the deadline of the call. Each case waits for one deadline, so
// they run side by side.
func TestAccBlackHole(t *testing.T) {
	renamed := strings.ReplaceAll(three, "each.key", `"${each.key}x"`)
	for name, c := range map[string]struct{ method, path, config, want, command string }{
		"read a node":  {http.MethodGet, ofNode, three, `read node n\d .*no answer before the deadline`, "plan"},
		"write a node": {http.MethodPut, ofNode, renamed, `declare node n\dx .*no answer before the deadline`, "apply"},
	} {
		t.Run(name, func(t *testing.T) {
			s := acctest.Start(t)
			proxy := acctest.NewProxy(t, s.URL)
			cli := acctest.NewCLI(t, acctest.Config(acctest.Header(proxy.URL), three))
			cli.Apply()
			proxy.Break(c.method, c.path, acctest.Hang)
			cli.Write(acctest.Config(acctest.Header(proxy.URL), c.config))
			arguments := map[string][]string{"apply": {"-auto-approve"}}[c.command]
			cli.Fails(`sledd is unreachable: could not `+c.want, c.command, arguments...)
		})
	}
}

// A server that accepts connections and never reads them is given up as well.
func TestAccSilentServer(t *testing.T) {
	s := acctest.Start(t)
	cli := acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), three))
	cli.Apply()
	hole, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	cli.Write(acctest.Config(acctest.Header("http://"+hole.Addr().String()), three))
	once(t, cli, `sledd is unreachable: could not .*no answer before the deadline.*The state is unchanged`)
}
