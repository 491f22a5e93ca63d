// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"net/http"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// broken is a lab whose sledd is behind a proxy that breaks.
func broken(t *testing.T) (*lab, *acctest.Proxy) {
	l := start(t)
	proxy := acctest.NewProxy(t, l.sledd.URL)
	l.head = acctest.Header(proxy.URL)
	return l, proxy
}

// Whatever goes wrong while reading, the plan fails, nothing is removed from the state, and afterwards nothing is to
// be done.
func TestAccReadFaults(t *testing.T) {
	l, proxy := broken(t)
	l.bound(image("v1"))
	l.Apply()
	for name, fault := range acctest.Faults() {
		proxy.Break("GET", "/v1/nodes/", fault)
		l.Fails("read node 52:54:00:77:00:01", "plan")
		l.refused("read node 52:54:00:77:00:01", "apply", "-auto-approve")
		l.refused("read node 52:54:00:77:00:01", "destroy", "-auto-approve")
		proxy.Mend()
		if t.Failed() {
			t.Fatal(name)
		}
	}
	proxy.Break("GET", "/v1/nodes/", acctest.Status(404, "node does not exist"))
	l.has(l.plan(0), "n1 is not known to sledd any more, after generation 1") // and nothing is wiped for that
	proxy.Mend()
	l.Empty()
	l.wants(1, "v1", 1)
}

// An answer of another server, though well formed, is not taken for a node without a binding.
func TestAccAnotherServer(t *testing.T) {
	l, proxy := broken(t)
	l.bound(image("v1"))
	proxy.Break("GET", "/v1/nodes/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	l.Fails("requested node 52:54:00:77:00:01, got \"\" with MAC \"\"", "plan")
}

// A create that fails leaves nothing behind: no resource, no taint; the next apply makes it.
func TestAccCreateFaults(t *testing.T) {
	l, proxy := broken(t)
	l.declare(n("n1", image("v1")))
	for name, fault := range acctest.Faults() {
		proxy.Break("PUT", "/v1/bindings/", fault)
		l.refused("bind node n1", "apply", "-auto-approve")
		proxy.Mend()
		if l.declared() != "" || l.sledd.Node(1).Binding != nil || t.Failed() {
			t.Fatalf("%s: %s, %+v", name, l.declared(), l.sledd.Node(1).Binding)
		}
	}
	l.Apply()
	l.wants(1, "v1", 1)
	l.Empty()
}

// An update that fails leaves the state as it was; the next apply makes it.
func TestAccUpdateFaults(t *testing.T) {
	l, proxy := broken(t)
	l.bound(image("v1"))
	l.declare(n("n1", image("v2")))
	for name, fault := range acctest.Faults() {
		proxy.Break("PUT", "/v1/bindings/", fault)
		l.refused("bind node n1", "apply", "-auto-approve")
		proxy.Mend()
		l.wants(1, "v1", 1)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	l.Apply()
	l.wants(1, "v2", 2)
	l.Empty()
}

// A delete that fails keeps the resource; the next apply does it.
func TestAccDeleteFaults(t *testing.T) {
	for way, method := range map[string]string{"keep": "DELETE", "wipe": "PUT"} {
		t.Run(way, func(t *testing.T) {
			l, proxy := broken(t)
			l.bound(image("v1"), `on_destroy = "`+way+`"`)
			l.declare()
			for name, fault := range acctest.Faults() {
				proxy.Break(method, "/v1/bindings/", fault)
				l.refused("(remove the binding of|bind a wipe to) node n1", "apply", "-auto-approve")
				proxy.Mend()
				l.wants(1, "v1", 1)
				if t.Failed() {
					t.Fatal(name)
				}
			}
			l.Apply()
			l.Empty()
		})
	}
}

// The answer to a write is lost: the write happened. The provider asks again, and the apply ends well.
func TestAccLostAnswer(t *testing.T) {
	l, proxy := broken(t)
	l.bound(image("v1"))
	l.declare(n("n1", image("v2")))
	proxy.Break("PUT", "/v1/bindings/", func(w http.ResponseWriter, r *http.Request) {
		l.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v2", Owner: "terraform"})
		acctest.Cut(w, r)
	})
	l.Apply()
	proxy.Mend()
	l.wants(1, "v2", 2)
	l.Empty()
}

// So does it for the first write. A binding that is not what was sent is somebody else's: the apply fails, the next
// plan does not write over it, and says how to import.
func TestAccLostAnswerToTheFirst(t *testing.T) {
	for name, stored := range map[string]string{"mine": "v1", "other": "v3"} {
		t.Run(name, func(t *testing.T) {
			l, proxy := broken(t)
			l.declare(n("n1", image("v1")))
			proxy.Break("PUT", "/v1/bindings/", func(w http.ResponseWriter, r *http.Request) {
				l.sledd.Bind(api.BindingSpec{Node: "n1", Image: stored, Owner: "terraform"})
				acctest.Cut(w, r)
			})
			if name == "mine" {
				l.Apply()
				proxy.Mend()
				l.Empty()
				l.wants(1, "v1", 1)
				return
			}
			l.refused("sledd is unreachable: could not bind node n1", "apply", "-auto-approve")
			proxy.Mend()
			l.Fails("Node n1 is already bound.*terraform import ADDRESS "+mac1, "plan")
			l.Must("import", n1, mac1)
			l.has(l.plan(2), "n1: disk serial:LAB-0001 is wiped and gets image v1")
		})
	}
}

// sledd is away: the plan ends with one error within seconds, and the state file keeps each of its bytes.
func TestAccOutage(t *testing.T) {
	l := start(t)
	l.declare(five(image("v1")))
	l.Apply()
	l.sledd.Stop()
	l.Fails("sledd is unreachable: could not .*The state is unchanged", "plan")
	l.sledd.Resume()
	l.Empty()
}
