// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

// lan is a network with one interface, of these attributes.
func lan(attributes string) string {
	return `network = jsonencode({ ethernets = { lan = { match = { macaddress = "52:54:00:77:00:01" }, ` +
		attributes + ` } } })`
}

func TestAccNetworkIsComparedByItsMeaning(t *testing.T) {
	s := acctest.Start(t)
	test(t, s,
		resource.TestStep{Config: small(lan(`adresses = []`)),
			ExpectError: regexp.MustCompile(`adresses:\s+unknown\s+key`)},
		resource.TestStep{Config: small(lan(`addresses = ["10.0.0.5/24"], gateway4 = "10.0.0.1"`)),
			ConfigPlanChecks: planned(plancheck.ResourceActionCreate)},
		resource.TestStep{
			Config: small(lan(`dhcp4 = false, addresses = ["10.0.0.5/24"],
				routes = [{ to = "default", via = "10.0.0.1" }]`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		resource.TestStep{Config: small(lan(`addresses = ["10.0.0.6/24"], gateway4 = "10.0.0.1"`)),
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate)},
		resource.TestStep{Config: small(`network = "dhcp"`), ConfigPlanChecks: planned(plancheck.ResourceActionUpdate)},
	)
}
