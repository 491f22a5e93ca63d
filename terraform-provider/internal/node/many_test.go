// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// rack is a sledd and a CLI, for sled_nodes.
type rack struct {
	*acctest.CLI
	sledd *sleddtest.Sledd
}

func startRack(t *testing.T) *rack {
	t.Helper()
	s := acctest.Start(t)
	s.Register("v1")
	return &rack{acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), "")), s}
}

func (r *rack) declare(bodies ...string) {
	r.Helper()
	r.Write(acctest.Config(acctest.Header(r.sledd.URL), strings.Join(bodies, "\n")))
}

// nodes is a sled_nodes of machines, as number of MAC to name.
func nodes(names map[int]string, lines ...string) string {
	var pairs string
	for i, name := range names {
		pairs += fmt.Sprintf("    %q = %q\n", sleddtest.MAC(i), name)
	}
	return "resource \"sled_nodes\" \"x\" {\n  names = {\n" + pairs + "  }\n  " + strings.Join(lines, "\n  ") + "\n}\n"
}

// has checks the declaration of a machine, as JSON; empty: none.
func (r *rack) has(i int, want string) {
	r.Helper()
	got := ""
	if node, err := r.sledd.Client().Node(r.Context(), sleddtest.MAC(i)); err == nil && node.Declared {
		text, err := json.Marshal(node.NodeSpec)
		if err != nil {
			r.Fatal(err)
		}
		got = string(text)
	}
	for _, part := range strings.Split(want, " ") {
		if !strings.Contains(got, part) || want == "" && got != "" {
			r.Errorf("machine %d is %s, want %s", i, got, want)
		}
	}
}

func TestAccNodes(t *testing.T) {
	r := startRack(t)
	common := []string{`disk = "smallest"`, `disks = { "52:54:00:77:00:02" = "serial:S2" }`, `labels = { rack = "a" }`,
		`keep_disks = ["model:Backup"]`, `data_disks = [{ name = "a", disk = "size:2000-", mount = "/srv/a" }]`,
		`bmc_driver = "ipmi"`, `bmc_addresses = { "52:54:00:77:00:02" = "10.0.0.2" }`}
	r.declare(nodes(map[int]string{1: "n1", 2: "n2"}, common...))
	r.Apply()
	r.Empty()
	r.has(1, `"n1" "disk":"smallest" {"rack":"a"} ["model:Backup"] "mount":"/srv/a" "driver":"ipmi"`)
	r.has(2, `"n2" "disk":"serial:S2" "address":"10.0.0.2"`)

	common[2] = `labels = { rack = "b" }`
	r.declare(nodes(map[int]string{1: "n1", 2: "web2", 3: "n3"}, common...))
	r.Apply()
	r.Empty()
	r.has(1, `{"rack":"b"}`)
	r.has(2, `"web2" {"rack":"b"}`)
	r.has(3, `"n3"`)

	node := r.sledd.Node(2)
	node.Disk, node.MACs = "only", []string{"52:54:00:77:00:12"}
	if _, err := r.sledd.Client().PutNode(t.Context(), node.NodeSpec); err != nil {
		t.Fatal(err)
	}
	if err := r.sledd.Client().DeleteNode(t.Context(), "n3"); err != nil {
		t.Fatal(err)
	}
	plan := acctest.Flat(r.Must("plan"))
	for _, part := range []string{`- "52:54:00:77:00:02" = "disk"`, `+ "52:54:00:77:00:03" = "n3"`} {
		if !strings.Contains(plan, part) {
			t.Errorf("no %s in %s", part, plan)
		}
	}
	r.Apply()
	r.Empty()
	r.has(2, `"disk":"serial:S2" "macs":["52:54:00:77:00:12"]`) // further MACs are not declared here
	r.has(3, `"n3"`)

	r.declare(nodes(map[int]string{2: "web2"}, common...))
	r.Apply()
	r.has(1, "")
	r.has(3, "")
	r.Must("destroy", "-auto-approve")
	r.has(2, "")
}

// What would fail is refused in the plan, with one error for all machines.
func TestAccNodesRefused(t *testing.T) {
	r := startRack(t)
	for name, test := range map[string]struct {
		body, want string
	}{
		"two names": {nodes(map[int]string{1: "n1", 2: "n1"}), "00:01 and 52:54:00:77:00:02 are both called n1"},
		"a MAC":     {nodes(map[int]string{1: "52-54-00-77-00-09"}), "no MAC"},
		"capitals":  {nodes(map[int]string{1: "Web01.example.com"}), "must have only a-z 0-9 and -.*hostname of the binding"},
		"spelling":  {strings.Replace(nodes(map[int]string{1: "n1"}), "52:54", "52-54", 1), "Keys that are not MACs"},
		"multicast": {strings.Replace(nodes(map[int]string{1: "n1"}), "52:54:00", "01:00:5e", 1), "(?i)multicast|not MACs"},
		"a disk": {nodes(map[int]string{1: "n1", 2: "n2"}, `disk = "/dev/sda"`),
			"Machines cannot be declared.*00:01.*00:02"},
		"lost disks": {nodes(map[int]string{1: "n1"}, `disks = { "52:54:00:77:00:09" = "only" }`), "missing in names.*00:09"},
		"two resources": {nodes(map[int]string{1: "n1"}) + "resource \"sled_node\" \"y\" {\n  mac = \"" + first +
			"\"\n  name = \"n2\"\n}\n", "Two nodes have MAC"},
	} {
		r.declare(test.body)
		out := r.Fails(test.want, "plan")
		if n := strings.Count(out, "Error: "); n != 1 {
			t.Errorf("%s: %d errors:\n%s", name, n, out)
		}
	}
	r.sledd.Declare(1)
	r.declare(nodes(map[int]string{1: "n1"}, `disk = "only"`))
	r.Fails(`declared already, with other values.*node n1 \(52:54:00:77:00:01\): other disk, labels`, "plan")
	r.declare(nodes(map[int]string{1: "n1"}, `disk = "serial:LAB-0001"`, `labels = { rack = "a" }`))
	r.Apply() // the same is taken over
	r.Empty()
	r.sledd.Bind(api.BindingSpec{Node: "n1", Image: "v1", Owner: "x"})
	out := r.Run("destroy", "-auto-approve")
	if out.Code == 0 || !strings.Contains(acctest.Flat(out.Text), "n1 (52:54:00:77:00:01) is bound") {
		t.Errorf("a bound machine: %s", out.Text)
	}
	r.has(1, `"n1"`)
}

// An apply that ends early has what it did in the state, and the next one does the rest.
func TestAccNodesPartly(t *testing.T) {
	r := startRack(t)
	r.declare(nodes(map[int]string{1: "n1", 2: "n2"}))
	r.Apply()
	r.sledd.Bind(api.BindingSpec{Node: "n2", Image: "v1", Disk: "only", Owner: "x"})
	r.declare(nodes(map[int]string{1: "n1", 3: "n3"}, `flavour = "generic"`))
	out := r.Run("apply", "-auto-approve")
	if out.Code == 0 || !strings.Contains(acctest.Flat(out.Text), "n2 (52:54:00:77:00:02) is bound") {
		t.Errorf("a bound machine was removed: %s", out.Text)
	}
	r.has(1, `"flavour":"generic"`)
	r.has(2, `"n2"`)
	r.has(3, `"n3" "flavour":"generic"`)
	if err := r.sledd.Client().DeleteBinding(t.Context(), "n2", api.TakeOver()); err != nil {
		t.Fatal(err)
	}
	r.Apply()
	r.Empty()
	r.has(2, "")
	r.has(3, `"flavour":"generic"`)
}

// bound binds all machines of nodes.
const bound = `resource "sled_bindings" "x" {
  name   = "x"
  images = { for mac, name in sled_nodes.x.names : mac => "v1" }
}
`

// Another MAC under the same name is the same machine, and its binding follows.
func TestAccNodesExchange(t *testing.T) {
	r := startRack(t)
	disk := `disk = "only"`
	r.declare(nodes(map[int]string{1: "n1", 2: "n2"}, disk), bound)
	r.Apply()
	r.Empty()
	r.declare(nodes(map[int]string{1: "n1", 9: "n2"}, disk), bound)
	r.Apply()
	r.Empty()
	r.has(2, "")
	if node := r.sledd.Node(9); node.Name != "n2" || node.Binding == nil || node.Binding.Image != "v1" {
		t.Errorf("%+v", node)
	}
	if b := r.sledd.Node(1).Binding; b.Generation != 1 {
		t.Errorf("n1 has generation %d", b.Generation)
	}
}

// fleet is the number of machines of TestAccNodesMany: SLED_MACHINES, else a few.
func fleet() int {
	if n, err := strconv.Atoi(os.Getenv("SLED_MACHINES")); err == nil {
		return n
	}
	return 300
}

// seconds of processor time of the CLI's and of this process, which has provider and sledd.
func seconds(who int) float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(who, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// TestAccNodesMany declares and binds a fleet by two resources. It measures and asserts no time.
func TestAccNodesMany(t *testing.T) {
	t.Setenv("TF_LOG_SDK_FRAMEWORK", "off") // as main does
	s := acctest.StartAlone(t)
	s.Register("v1")
	r := &rack{acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), "")), s}
	names := map[string]string{}
	for i := range fleet() {
		names[sleddtest.MAC(i)] = fmt.Sprintf("n%d", i)
	}
	text, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	r.declare("resource \"sled_nodes\" \"x\" {\n  names = jsondecode(<<EOT\n"+string(text)+"\nEOT\n)\n"+
		"  disk  = \"only\"\n}\n", bound)
	cli, own := seconds(syscall.RUSAGE_CHILDREN), seconds(syscall.RUSAGE_SELF)
	r.Must("plan", "-out=saved")
	r.Must("apply", "saved")
	t.Logf("%d machines: plan and apply took %.1f s of the CLI, and %.1f s of provider and sledd", fleet(),
		seconds(syscall.RUSAGE_CHILDREN)-cli, seconds(syscall.RUSAGE_SELF)-own)
	r.Empty()
	count := 0
	for node, err := range s.Client().Nodes(t.Context(), api.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if node.Binding != nil && node.Binding.Generation == 1 && names[node.MAC] == node.Name {
			count++
		}
	}
	if count != fleet() {
		t.Errorf("%d of %d are declared and bound", count, fleet())
	}
	r.Must("destroy", "-auto-approve")
}
