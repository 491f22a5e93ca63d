// SPDX-License-Identifier: Apache-2.0

package binding_test

import (
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
)

// What sledd would refuse is refused by the plan, and nothing is written.
func TestAccPlanIsChecked(t *testing.T) {
	l := start(t)
	kernel := api.ImageSpec{Name: "k", Digest: sleddtest.DigestOf("k"), URLs: []string{"http://10.77.0.1/k"},
		Bytes: 4096, FileBytes: 1, Kind: "kernel"}
	if _, err := l.sledd.Client().PutImage(t.Context(), kernel); err != nil {
		t.Fatal(err)
	}
	node := func(lines ...string) string {
		return "resource \"sled_node\" \"n\" {\n  mac = \"52:54:00:77:00:0a\"\n  name = \"r1\"\n  " +
			strings.Join(lines, "\n  ") + "\n}\n"
	}
	another := strings.ReplaceAll(node(), `"n"`, `"m"`)
	for says, config := range map[string]string{
		"declare node r1 .*/dev/sda":                          node(`disk = "/dev/sda"`),
		"labels.*name of label .a b. must have only":          node(`labels = { "a b" = "x" }`),
		"value of label a must be one line":                   node(`labels = { a = "x\ny" }`),
		"declare node r1 .*bogus":                             node(`keep_disks = ["bogus:1"]`),
		"bind node n1.*/dev/sda":                              n("n1", image("v1"), `disk = "/dev/sda"`),
		"bind node n1.*image none does not exist":             n("n1", image("none")),
		"bind node n1.*image k is a kernel for the Sled":      n("n1", image("k")),
		"hostname must be labels of a-z":                      n("n1", image("v1"), `hostname = "Big_Host"`),
		"Two nodes have MAC 52:54:00:77:00:0a.*r\\d and r\\d": node() + strings.ReplaceAll(another, "r1", "r2"),
		"Two nodes are called r1":                             node() + strings.ReplaceAll(another, "0a", "0b"),
		"Two resources bind the machine with MAC 52:54:00:77:00:01": n("n1", image("v1")) +
			strings.ReplaceAll(n("n1", image("v2")), `"sled_binding" "n1"`, `"sled_binding" "other"`),
		"Two resources bind the machine with MAC 52:54:00:77:00:02": n("n2", image("v1")) +
			"resource \"sled_bindings\" \"x\" {\n  name = \"x\"\n  images = { \"52:54:00:77:00:02\" = \"v1\" }\n}\n",
	} {
		l.declare(config)
		l.Fails(says, "plan")
	}
	l.bound(image("v1"))
	l.declare(n("n1", image("none")))
	l.Fails("image none does not exist", "plan")
	l.wants(1, "v1", 1)
}

// What the same apply makes is no reason to refuse: an image, a disk of the node, a replacement.
func TestAccPlanKnowsTheRun(t *testing.T) {
	l := start(t)
	const all = `
resource "sled_image" "i" {
  name       = "fresh"
  urls       = ["http://10.77.0.1/images/fresh"]
  digest     = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
  bytes      = 1024
  file_bytes = 9
}
resource "sled_node" "n" {
  mac  = "52:54:00:77:00:0a"
  name = "r1"
  %
}
resource "sled_binding" "b" {
  node  = sled_node.n.name
  image = sled_image.i.name
}`
	l.declare(strings.ReplaceAll(strings.Split(all, "resource \"sled_binding\"")[0], "%", ""))
	l.Apply()
	l.declare(strings.ReplaceAll(all, "%", `disk = "only"`))
	l.Apply()
	l.Empty()
	l.Must("apply", "-auto-approve", "-replace=sled_node.n", "-replace=sled_binding.b")
	l.Empty()
	l.Must("apply", "-auto-approve", "-replace=sled_image.i", "-replace=sled_binding.b")
	l.Empty()
}

// r1 is a node that the plan declares, and what follows it.
func r1(lines ...string) string {
	return "resource \"sled_node\" \"n\" {\n  mac = \"52:54:00:77:00:0a\"\n  name = \"r1\"\n  " +
		"disk = \"only\"\n}\n" + strings.Join(lines, "\n")
}

// on is a binding of r1.
func on(resource, reference string, lines ...string) string {
	return "resource \"sled_binding\" \"" + resource + "\" {\n  node = sled_node.n." + reference + "\n  " +
		strings.Join(lines, "\n  ") + "\n}\n"
}

// A first apply is checked like a later one: what it declares counts as declared, and the rest is refused by the plan.
func TestAccFirstApplyIsChecked(t *testing.T) {
	l := start(t)
	const fresh = `
resource "sled_image" "i" {
  name         = "fresh"
  urls         = ["http://10.77.0.1/images/fresh"]
  architecture = "arm64"
  digest       = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
  bytes        = 1024
  file_bytes   = 9
}
`
	for says, config := range map[string]string{
		"bind node r1.*image none does not exist": r1(on("b", "name", image("none"))),
		"bind node r1.*/dev/sda":                  r1(on("b", "mac", image("v1"), `disk = "/dev/sda"`)),
		"bind node r1.*wipe purge or clear": r1(on("b", "name", `wipe = "signatures"`,
			`wipe_method = "nvme-format-crypto"`)),
		"image fresh is for arm64, node r1 is x86_64": fresh + r1(on("b", "name", "image = sled_image.i.name")),
		"neither the binding nor node r1 names one": strings.ReplaceAll(r1(on("b", "name", image("v1"))),
			`disk = "only"`, ""),
		"Two resources bind the machine with MAC 52:54:00:77:00:0a": r1(on("b", "name", image("v1")),
			on("c", "mac", image("v1"))),
		"Node typo is not declared": n("typo", image("v1")),
		"Node 52:54:00:77:00:99 is not declared": strings.Replace(n("m", image("v1")), `node = "m"`,
			`node = "52:54:00:77:00:99"`, 1),
		"name n1 belongs to node 52:54:00:77:00:01 already": strings.ReplaceAll(r1(), `"r1"`, `"n1"`),
		"MAC 52:54:00:77:00:02 belongs to node": strings.ReplaceAll(r1(), "disk",
			"macs = [\"52:54:00:77:00:02\"]\n  disk"),
		"node n1 .52:54:00:77:00:01. is already declared": strings.NewReplacer("00:0a", "00:01", `"r1"`, `"n1"`).Replace(
			r1()),
	} {
		l.declare(config)
		l.Fails(says, "plan")
	}
	l.bound(image("v1"))
	l.declare(n("typo", image("v1")), "moved {\n  from = sled_binding.n1\n  to = sled_binding.typo\n}")
	l.Fails("Node typo is not declared", "plan")
	l.wants(1, "v1", 1)
}

// A name that the same plan makes free is no reason to refuse, and neither is a node whose labels are known later.
func TestAccFirstApplyKnowsTheRun(t *testing.T) {
	l := start(t)
	a := "resource \"sled_node\" \"a\" {\n  mac = \"52:54:00:77:00:0b\"\n  name = \"r1\"\n}\n"
	l.declare(a)
	l.Apply()
	l.declare(strings.Replace(a, "r1", "r2", 1), strings.Replace(r1(), "disk", "depends_on = [sled_node.a]\n  disk", 1))
	l.Apply()
	l.Empty()
	l.declare(r1())
	l.Apply()
	l.declare("resource \"terraform_data\" \"t\" {\n  input = \"x\"\n}\n",
		strings.NewReplacer("00:0a", "00:0c", "r1", "r3", "disk", "labels = { a = terraform_data.t.output }\n  disk").
			Replace(r1(on("b", "name", image("v1")))))
	l.Must("apply", "-auto-approve")
	l.Empty()
}
