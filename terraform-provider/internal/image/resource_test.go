// SPDX-License-Identifier: Apache-2.0

package image_test

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

const address = "sled_image.i"

func at(name string) tfjsonpath.Path { return tfjsonpath.New(name) }

// acts wants one action of the plan.
func acts(action plancheck.ResourceActionType, more ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append(more, plancheck.ExpectResourceAction(address, action))}
}

func unknown(names ...string) []plancheck.PlanCheck {
	checks := make([]plancheck.PlanCheck, len(names))
	for i, name := range names {
		checks[i] = plancheck.ExpectUnknownValue(address, at(name))
	}
	return checks
}

func holds(name string, value knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, at(name), value)
}

func TestAccImageIsMeasured(t *testing.T) {
	s := acctest.Start(t)
	site, asked := publish(t)
	text := acctest.Header(s.URL) + declare("gaps", site+"/ok/gaps.raw.zst")
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{
				Config: text,
				ConfigPlanChecks: acts(plancheck.ResourceActionCreate,
					unknown("digest", "bytes", "file_bytes", "used_bytes", "partitions")...),
				ConfigStateChecks: []statecheck.StateCheck{
					holds("digest", knownvalue.StringExact(gapsDigest)), holds("bytes", knownvalue.Int64Exact(8<<20)),
					holds("file_bytes", knownvalue.Int64Exact(1283)),
					holds("used_bytes", knownvalue.Int64Exact(425984)),
					holds("signature", knownvalue.Null()), holds("architecture", knownvalue.StringExact("x86_64")),
					holds("labels", knownvalue.Null()),
					holds("partitions", knownvalue.ListExact([]knownvalue.Check{
						part(1<<20, 2<<20, 8192, "ext4"), part(4<<20, 3<<20, 409600, "xfs"),
					})),
				},
			},
			{Config: text, PlanOnly: true},
			{
				ResourceName: address, ImportState: true, ImportStateId: "gaps", ImportStateVerify: true,
				ImportStateVerifyIdentifierAttribute: "name", ImportStateVerifyIgnore: []string{"partitions"},
			},
			{ResourceName: address, ImportState: true, ImportStateId: "none",
				ExpectError: regexp.MustCompile(`Cannot import non-existent`)},
		},
	})
	if asked.Load() != 1 {
		t.Errorf("%d requests for the image, want 1", asked.Load())
	}
	isNotRegistered(t, s, "gaps") // the test ends with a destroy
}

func part(start, bytes, used int64, content string) knownvalue.Check {
	return knownvalue.ObjectExact(map[string]knownvalue.Check{
		"start": knownvalue.Int64Exact(start), "bytes": knownvalue.Int64Exact(bytes),
		"used_bytes": knownvalue.Int64Exact(used),
		"content":    knownvalue.StringExact(content),
	})
}

func TestAccImageIsGiven(t *testing.T) {
	s := acctest.Start(t)
	site, asked := publish(t)
	url := site + "/ok/gaps.raw.zst"
	known := func(name string, value knownvalue.Check) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, at(name), value)
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{
				Config: acctest.Header(s.URL) + declare("gaps", url, given...),
				ConfigPlanChecks: acts(plancheck.ResourceActionCreate,
					known("digest", knownvalue.StringExact(gapsDigest)),
					known("partitions", knownvalue.Null()), known("used_bytes", knownvalue.Null())),
				ConfigStateChecks: []statecheck.StateCheck{holds("used_bytes", knownvalue.Null()),
					holds("partitions", knownvalue.Null())},
			},
			{ // what was given is kept when it is not given any more
				Config:   acctest.Header(s.URL) + declare("gaps", url),
				PlanOnly: true,
			},
			{
				Config: acctest.Header(s.URL) + declare("gaps", url,
					append(given, "used_bytes = 0", "labels = {}")...),
				ConfigPlanChecks: acts(plancheck.ResourceActionReplace),
				ConfigStateChecks: []statecheck.StateCheck{
					holds("used_bytes", knownvalue.Int64Exact(0)), holds("labels", knownvalue.MapSizeExact(0)),
					holds("partitions", knownvalue.Null()),
				},
			},
			{
				ResourceName: address, ImportState: true, ImportStateId: "gaps", ImportStateVerify: true,
				ImportStateVerifyIdentifierAttribute: "name", ImportStateVerifyIgnore: []string{"used_bytes", "labels"},
			},
			{
				Config: acctest.Header(s.URL) + declare("gaps", url,
					append(given, "used_bytes = 5", `architecture = "arm64"`, `kind = "root"`,
						`container = { command = ["a", "b"], environment = [], user = "1000:33" }`)...),
				ConfigPlanChecks: acts(plancheck.ResourceActionReplace),
				ConfigStateChecks: []statecheck.StateCheck{holds("architecture", knownvalue.StringExact("arm64")),
					holds("kind", knownvalue.StringExact("root"))},
			},
		},
	})
	if asked.Load() != 0 {
		t.Errorf("%d requests for an image of which all is given", asked.Load())
	}
}

func TestAccImageIsSigned(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	url := site + "/ok/gaps.raw.zst"
	header := acctest.Header(s.URL)
	signed := signedBy("gaps", signature)
	unchanged := func(name string) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, at(name), knownvalue.NotNull())
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{Config: header + declare("gaps", url)},
			{
				Config: header + declare("gaps", url, signed),
				ConfigPlanChecks: acts(plancheck.ResourceActionUpdate, unchanged("digest"),
					unchanged("partitions"), unchanged("used_bytes")),
				ConfigStateChecks: []statecheck.StateCheck{holds("signature", knownvalue.StringExact(signature)),
					holds("partitions", knownvalue.ListSizeExact(2))},
			},
			{Config: header + declare("gaps", url), PlanOnly: true}, // a signature is not taken away
			{ // somebody signs anew, with another key: the declared one is put back
				PreConfig:         func() { sign(t, s, "gaps", another) },
				Config:            header + declare("gaps", url, signed),
				ConfigPlanChecks:  acts(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{holds("signature", knownvalue.StringExact(signature))},
			},
			{ // and where none is declared, theirs is taken over
				PreConfig:         func() { sign(t, s, "gaps", another) },
				Config:            header + declare("gaps", url),
				ConfigPlanChecks:  acts(plancheck.ResourceActionNoop),
				ConfigStateChecks: []statecheck.StateCheck{holds("signature", knownvalue.StringExact(another))},
			},
		},
	})
}

func TestAccImageIsReplaced(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	header, gaps, chunk := acctest.Header(s.URL), site+"/ok/gaps.raw.zst", site+"/ok/one_chunk.raw.zst"
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{Config: header + declare("v1", gaps, `labels = { os = "debian" }`)},
			{
				Config:           header + declare("v2", chunk),
				ConfigPlanChecks: acts(plancheck.ResourceActionReplace, unknown("digest", "bytes", "partitions")...),
				ConfigStateChecks: []statecheck.StateCheck{holds("bytes", knownvalue.Int64Exact(1<<20)),
					holds("partitions", knownvalue.ListSizeExact(0))},
			},
			{ // forgotten by somebody: registered again
				PreConfig:        func() { forget(t, s, "v2") },
				Config:           header + declare("v2", chunk),
				ConfigPlanChecks: acts(plancheck.ResourceActionCreate),
			},
			{ // registered by somebody for another architecture: that is no longer what is declared
				PreConfig: func() {
					forget(t, s, "v2")
					spec := api.ImageSpec{Name: "v2", URLs: []string{chunk}, Digest: gapsDigest, Bytes: 8 << 20,
						FileBytes: 1283, Architecture: "arm64"}
					if _, err := s.Client().PutImage(t.Context(), spec); err != nil {
						t.Fatal(err)
					}
				},
				Config:           header + declare("v2", chunk),
				ConfigPlanChecks: acts(plancheck.ResourceActionReplace),
			},
		},
	})
}

// URLs and labels change while a machine is bound, and nothing is imaged for that. Other content needs another name.
func TestAccImageMoves(t *testing.T) {
	s := acctest.Start(t)
	s.Declare(1)
	site, _ := publish(t)
	mirror, _ := publish(t)
	header, gaps, chunk := acctest.Header(s.URL), site+"/ok/gaps.raw.zst", site+"/ok/one_chunk.raw.zst"
	bound := func(text string) string {
		return header + text + "\nresource \"sled_binding\" \"n1\" {\n  node = \"n1\"\n  image = sled_image.i.name\n}\n"
	}
	moved := declare("gaps", mirror+"/ok/gaps.raw.zst", `labels = { os = "debian" }`)
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{Config: bound(declare("gaps", gaps))},
			{
				Config: bound(moved),
				ConfigPlanChecks: acts(plancheck.ResourceActionUpdate,
					plancheck.ExpectResourceAction("sled_binding.n1", plancheck.ResourceActionNoop)),
				ConfigStateChecks: []statecheck.StateCheck{holds("partitions", knownvalue.ListSizeExact(2))},
				Check: func(*terraform.State) error {
					if script := s.Machine(1).Poll(0); !strings.Contains(script, mirror) || strings.Contains(script, site+"/") {
						return fmt.Errorf("the plan of the machine: %s", script)
					}
					return nil
				},
			},
			{Config: bound(moved), PlanOnly: true},
			{Config: bound(declare("gaps", chunk)), ExpectError: regexp.MustCompile(`other content at its new URLs`)},
			{Config: bound(declare("gaps", site+"/none")), ExpectError: regexp.MustCompile(`cannot be read from its URLs`)},
			{
				Config:            bound(declare("gaps", gaps)),
				ConfigPlanChecks:  acts(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{holds("labels", knownvalue.Null())},
			},
			{ // by somebody else: put back
				PreConfig: func() {
					image, err := s.Client().Image(t.Context(), "gaps")
					image.URLs = []string{"http://elsewhere/gaps"}
					if err == nil {
						_, err = s.Client().PutImage(t.Context(), image.ImageSpec)
					}
					if err != nil {
						t.Fatal(err)
					}
				},
				Config:           bound(declare("gaps", gaps)),
				ConfigPlanChecks: acts(plancheck.ResourceActionUpdate),
			},
		},
	})
}

func TestAccImportOfWhatPlaybooksRegister(t *testing.T) {
	s := acctest.Start(t)
	s.Register("captured") // without an architecture
	text := acctest.Header(s.URL) + declare("captured", "http://10.77.0.1/images/captured", "labels = {}")
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{Config: text, ResourceName: address, ImportState: true, ImportStateId: "captured",
				ImportStatePersist: true},
			{
				Config:            text + "\n# signed\n" + `output "d" { value = sled_image.i.digest }`,
				ConfigPlanChecks:  acts(plancheck.ResourceActionUpdate), // null becomes {}
				ConfigStateChecks: []statecheck.StateCheck{holds("architecture", knownvalue.StringExact("x86_64"))},
			},
			{
				Config: acctest.Header(s.URL) + declare("captured", "http://10.77.0.1/images/captured",
					strings.ReplaceAll(signedBy("captured", signature), gapsDigest, sleddtest.DigestOf("captured"))),
				Check: resource.TestCheckResourceAttr(address, "signature", signature),
			},
		},
	})
}

func TestAccImageHasTheStatementOfItsSignature(t *testing.T) {
	s := acctest.Start(t)
	site, _ := publish(t)
	url, header := site+"/ok/gaps.raw.zst", acctest.Header(s.URL)
	statement, signed := `statement = "`+statementOf("gaps")+`"`, `signature = "`+signature+`"`
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{Config: header + declare("gaps", url, statement), ExpectError: regexp.MustCompile(`signature`)},
			{Config: header + declare("gaps", url, signed), ExpectError: regexp.MustCompile(`statement`)},
			{Config: header + declare("gaps", url),
				ConfigStateChecks: []statecheck.StateCheck{holds("statement", knownvalue.Null())}},
			{Config: header + declare("gaps", url, statement, signed),
				ConfigPlanChecks:  acts(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{holds("statement", knownvalue.StringExact(statementOf("gaps")))}},
			{Config: header + declare("gaps", url), PlanOnly: true},
			{Config: header + declare("gaps", url, `statement = "`+statementOf("gaps")+`0"`, signed),
				ExpectError: regexp.MustCompile(`is not a statement of an image`)},
		},
	})
}
