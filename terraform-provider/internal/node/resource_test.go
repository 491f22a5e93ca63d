// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const (
	address = "sled_node.n"
	first   = "52:54:00:77:00:01"
)

// small is node n1 with more lines in it.
func small(lines ...string) string { return named("n1", lines...) }

func named(name string, lines ...string) string {
	return fmt.Sprintf("resource \"sled_node\" \"n\" {\n  mac  = %q\n  name = %q\n  %s\n}\n", first, name,
		strings.Join(lines, "\n  "))
}

const whole = `
resource "sled_node" "n" {
  mac          = "52-54-00-77-00-01"
  macs         = ["52:54:00:77:00:11", "52:54:00:77:00:12"]
  name         = "n1"
  labels       = { rack = "a", role = "web" }
  architecture = "arm64"
  flavour      = "generic"
  disk         = "serial:LAB-0001"
  keep_disks   = ["model:Backup", "size:1-2"]
  data_disks   = [{ name = "logs", disk = "serial:DATA-1", filesystem = "xfs", mount = "/srv/logs" },
                  { name = "b", disk = "serial:DATA-2", mount = "/srv/b" }]
  boot_order   = "disk"
  network      = "dhcp"
  admission    = "proven"
  bmc          = { driver = "ipmi", address = "10.0.0.1", port = 6230 }
}
`

// test runs steps, and wants node n1 forgotten at the end.
func test(t *testing.T, s *sleddtest.Sledd, steps ...resource.TestStep) {
	t.Helper()
	look(t, s, steps...)
	if node, err := s.Client().Node(t.Context(), first); err == nil && node.Declared {
		t.Errorf("it is still declared: %+v", node)
	}
}

// look runs steps, each with the provider's configuration before its own.
func look(t *testing.T, s *sleddtest.Sledd, steps ...resource.TestStep) {
	t.Helper()
	for i := range steps {
		if steps[i].Config != "" {
			steps[i].Config = acctest.Header(s.URL) + steps[i].Config
		}
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories, Steps: steps})
}

// planned wants one action for the node.
func planned(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}}
}

func stored(t *testing.T, s *sleddtest.Sledd) api.Node {
	t.Helper()
	node, err := s.Client().Node(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func TestAccNodeLives(t *testing.T) {
	s := acctest.Start(t)
	importBy := func(id string) resource.TestStep {
		return resource.TestStep{ResourceName: address, ImportState: true, ImportStateId: id,
			ImportStateVerify: true, ImportStateVerifyIdentifierAttribute: "name",
			ImportStateVerifyIgnore: []string{"mac"}} // the spelling is the configuration's
	}
	test(t, s,
		resource.TestStep{Config: whole, ConfigPlanChecks: planned(plancheck.ResourceActionCreate),
			Check: func(*terraform.State) error {
				got := stored(t, s)
				want := api.NodeSpec{MAC: first, MACs: []string{"52:54:00:77:00:11", "52:54:00:77:00:12"},
					Name: "n1", Labels: map[string]string{"rack": "a", "role": "web"},
					Architecture: "arm64", Flavour: "generic",
					Disk: "serial:LAB-0001", KeepDisks: []string{"model:Backup", "size:1-2"},
					DataDisks: []api.DataDisk{{Name: "logs", Disk: "serial:DATA-1", Filesystem: "xfs", Mount: "/srv/logs"},
						{Name: "b", Disk: "serial:DATA-2", Mount: "/srv/b"}}, BootOrder: "disk",
					Network: "dhcp", Admission: "proven",
					BMC: &api.BMC{Driver: "ipmi", Address: "10.0.0.1", Port: 6230}}
				if fmt.Sprintf("%+v %+v", got.NodeSpec, *got.BMC) != fmt.Sprintf("%+v %+v", withBMC(want, got.BMC),
					*want.BMC) {
					return fmt.Errorf("got %+v, want %+v", got.NodeSpec, want)
				}
				return nil
			}},
		resource.TestStep{Config: strings.Replace(whole, "52-54-00-77-00-01", "52:54:00:77:00:01", 1), PlanOnly: true},
		importBy(first), importBy("52-54-00-77-00-01"), importBy("n1"),
		resource.TestStep{Config: strings.Replace(whole, `"n1"`, `"web1"`, 1),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
			Check: func(*terraform.State) error {
				if _, err := s.Client().Node(t.Context(), "n1"); !api.IsNotFound(err) {
					return fmt.Errorf("the old name: %v", err)
				}
				_, err := s.Client().Node(t.Context(), "web1")
				return err
			}},
		importBy("web1"),
		resource.TestStep{Config: small("labels = {}", "keep_disks = []", "data_disks = []"),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate)},
		resource.TestStep{Config: small("labels = {}", "keep_disks = []", "data_disks = []"), PlanOnly: true},
		resource.TestStep{Config: small(), ConfigPlanChecks: planned(plancheck.ResourceActionUpdate)},
		resource.TestStep{Config: strings.Replace(small(), "00:01", "00:02", 1),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate)},
		resource.TestStep{Config: strings.Replace(named("n3"), "00:01", "00:03", 1),
			ConfigPlanChecks: planned(plancheck.ResourceActionReplace)},
	)
}

// withBMC lets two declarations be compared as text, which shows pointers.
func withBMC(spec api.NodeSpec, bmc *api.BMC) api.NodeSpec {
	spec.BMC = bmc
	return spec
}

func TestAccNodeDiscoveredIsAccepted(t *testing.T) {
	s := acctest.Start(t)
	s.Machine(1).Facts()
	if node := stored(t, s); node.Declared || node.Status.Phase != api.Discovered {
		t.Fatalf("%+v", node)
	}
	test(t, s, resource.TestStep{Config: small(), ConfigPlanChecks: planned(plancheck.ResourceActionCreate),
		Check: func(*terraform.State) error {
			if node := stored(t, s); !node.Declared || node.Status.Phase != api.Idle {
				return fmt.Errorf("%+v", node)
			}
			return nil
		}})
}

func TestAccNodeDiscoveredIsImported(t *testing.T) {
	s := acctest.Start(t)
	s.Machine(1).Facts()
	test(t, s,
		resource.TestStep{Config: small(), ResourceName: address, ImportState: true, ImportStateId: first,
			ImportStatePersist: true},
		resource.TestStep{Config: small(), ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
			Check: func(*terraform.State) error {
				if node := stored(t, s); !node.Declared || node.Name != "n1" {
					return fmt.Errorf("%+v", node)
				}
				return nil
			}},
	)
}

func TestAccNodeThatExists(t *testing.T) {
	s := acctest.Start(t)
	before := s.Declare(1)
	s.Declare(2)
	test(t, s,
		resource.TestStep{Config: small(), ExpectError: regexp.MustCompile(`node n1 \(52:54:00:77:00:01\) is ` +
			`already declared(.|\n)*terraform import sled_node.NAME 52:54:00:77:00:01`)},
		resource.TestStep{Config: strings.Replace(named("n2"), "00:01", "00:03", 1),
			ExpectError: regexp.MustCompile(`name n2 belongs to node\s52:54:00:77:00:02 already`)},
		resource.TestStep{Config: small(`disk = "serial:LAB-0001"`, `labels = { rack = "a" }`),
			ResourceName: address, ImportState: true, ImportStateId: "n1", ImportStatePersist: true},
		resource.TestStep{Config: small(`disk = "serial:LAB-0001"`, `labels = { rack = "a" }`), PlanOnly: true},
		resource.TestStep{Config: named("n2"), ExpectError: regexp.MustCompile(`name n2 belongs to node`)},
		resource.TestStep{Config: small(`disk = "serial:LAB-0001"`, `labels = { rack = "a" }`), PlanOnly: true,
			Check: func(*terraform.State) error {
				if now := stored(t, s); fmt.Sprint(now.NodeSpec) != fmt.Sprint(before) {
					return fmt.Errorf("%+v", now)
				}
				return nil
			}},
	)
}

// A MAC that became a further one of another node must not make Terraform replace that node.
func TestAccNodeFurtherMACs(t *testing.T) {
	s := acctest.Start(t)
	taken := func() {
		err := s.Client().DeleteNode(t.Context(), first)
		if err == nil {
			_, err = s.Client().PutNode(t.Context(), api.NodeSpec{MAC: sleddtest.MAC(2), Name: "n2", MACs: []string{first}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	look(t, s,
		resource.TestStep{Config: small(`macs = ["52-54-00-77-00-11"]`),
			ExpectError: regexp.MustCompile(`want a MAC in\s+lower case with colons`)},
		resource.TestStep{Config: small(`macs = ["52:54:00:77:00:01"]`),
			ExpectError: regexp.MustCompile(`is the\s+mac of node n1`)},
		resource.TestStep{Config: small()},
		resource.TestStep{PreConfig: taken, Config: small(), ExpectError: regexp.MustCompile(
			`further(\s|│)+interface(\s|│)+of(\s|│)+node(\s|│)+n2`)},
		resource.TestStep{PreConfig: func() {
			if err := s.Client().DeleteNode(t.Context(), "n2"); err != nil {
				t.Fatal(err)
			}
		}, Config: small()},
	)
}

func TestAccNodeImportOfNothing(t *testing.T) {
	s := acctest.Start(t)
	importBy := func(id, want string) resource.TestStep {
		return resource.TestStep{Config: small(), ResourceName: address, ImportState: true, ImportStateId: id,
			ExpectError: regexp.MustCompile(want)}
	}
	test(t, s, importBy(first, "Node 52:54:00:77:00:01 does not exist"), importBy("n1", "Node n1 does not exist"),
		importBy("no such/node", "sledd refused to read node no such/node"))
}

func TestAccNodeChangedByOthers(t *testing.T) {
	s := acctest.Start(t)
	change := func(label string) func() {
		return func() {
			spec := stored(t, s).NodeSpec
			spec.Labels = map[string]string{"rack": label}
			if _, err := s.Client().PutNode(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func() {
		if err := s.Client().DeleteNode(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	labelled := small(`labels = { rack = "a" }`)
	test(t, s,
		resource.TestStep{Config: labelled},
		resource.TestStep{PreConfig: change("b"), Config: labelled,
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate), ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("labels").AtMapKey("rack"),
					knownvalue.StringExact("a"))}},
		resource.TestStep{PreConfig: remove, Config: labelled,
			ConfigPlanChecks: planned(plancheck.ResourceActionCreate)},
		resource.TestStep{PreConfig: func() { remove(); s.Machine(1).Facts() }, Config: labelled,
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
			Check: func(*terraform.State) error {
				if node := stored(t, s); node.Name != "n1" || node.Labels["rack"] != "a" {
					return fmt.Errorf("%+v", node)
				}
				return nil
			}},
		resource.TestStep{PreConfig: remove, Config: labelled, Destroy: true},
	)
}

func TestAccNodeWrongValues(t *testing.T) {
	s := acctest.Start(t)
	for config, want := range map[string]string{
		strings.Replace(small(), first, "52:54", 1): `"52:54" is not a MAC`,
		named("N1"):                       `must have only a-z 0-9 and -`,
		named("web01.example.com"):        `hostname of the binding takes a name with dots`,
		named("52-54-00-77-00-02"):        `would be read as a MAC`,
		small(`disk = "/dev/sda"`):        `"/dev/sda" is not one of`,
		small(`disk = "size:9-1"`):        `the first is larger`,
		small(`disk = ""`):                `must be between 1 and 512`,
		small(`keep_disks = ["serial:"]`): `has no value`,
		small(`data_disks = [{ name = "A", disk = "serial:D", mount = "/srv/a" }]`): `must be a-z 0-9 -`,
		small(`data_disks = [{ name = "a", disk = "sdb", mount = "/srv/a" }]`):      `is not one of`,
		small(`data_disks = [{ name = "a", disk = "serial:D", mount = "/usr" }]`):   `part of the installed\s+system`,
		small(`architecture = "sparc"`):                                             `"x86_64" "arm64"`,
		small(`flavour = "vanilla"`):                                                `"cloud" "generic"`,
		small(`labels = { rack = null }`):                                           `[Nn]ull`,
		small(`bmc = { driver = "Telnet" }`):                                        `a name of a-z, 0-9 and _`,
		small(`bmc = { driver = "ipmi", port = 0 }`):                                `between 1 and 65535`,
		strings.Replace(small(), "name =", "hostname = \"n1\"#", 1):                 `"?hostname"?`,
	} {
		cli := acctest.NewCLI(t, acctest.Config(acctest.Header(s.URL), config))
		cli.Fails(want, "apply", "-auto-approve")
	}
	if nodes, err := api.Collect(s.Client().Nodes(t.Context(), api.Filter{})); err != nil || len(nodes) > 0 {
		t.Errorf("%v %v", nodes, err)
	}
}
