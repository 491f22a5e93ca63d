// SPDX-License-Identifier: Apache-2.0

package listing_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const erasures = `
data "sled_erasures" "all" {}
data "sled_erasures" "n1" {
  node = "52-54-00-77-00-01"
}
data "sled_erasures" "b" {
  serial = "B"
}
data "sled_erasures" "none" {
  node = "n2"
}
`

// Records of erased disks, by node, by MAC and by disk.
func TestAccErasures(t *testing.T) {
	s := acctest.Start(t)
	s.Declare(1)
	s.Bind(api.BindingSpec{Node: "n1"})
	m := s.Machine(1)
	m.Poll(0)
	const line = " wwn= path= model=PM9A3 bytes=4096 sector=512"
	m.Report("begin step=1 of=2 verb=wipe",
		"erasure result=good disk=sda serial=A"+line+" level=empty method=discard verify=full read=4096 seconds=1",
		"erasure result=left disk=sdb serial=B"+line+" reason=on%20the%20keep%20list",
		"end step=1 verb=wipe code=0 seconds=1")
	record := func(number int64, serial, result, reason string) knownvalue.Check {
		return knownvalue.ObjectPartial(map[string]knownvalue.Check{"number": knownvalue.Int64Exact(number),
			"serial": knownvalue.StringExact(serial), "result": knownvalue.StringExact(result),
			"node":   knownvalue.StringExact("n1"),
			"reason": knownvalue.StringExact(reason), "model": knownvalue.StringExact("PM9A3"),
			"bytes": knownvalue.Int64Exact(4096), "generation": knownvalue.Int64Exact(1)})
	}
	first, second := record(1, "A", "good", ""), record(2, "B", "left", "on the keep list")
	list := func(checks ...knownvalue.Check) knownvalue.Check { return knownvalue.ListExact(checks) }
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{{Config: acctest.Header(s.URL) + erasures, ConfigStateChecks: []statecheck.StateCheck{
			check("sled_erasures.all", "records", list(first, second)),
			check("sled_erasures.n1", "records", list(first, second)),
			check("sled_erasures.b", "records", list(second)),
			check("sled_erasures.none", "records", list()),
			check("sled_erasures.none", "length", knownvalue.Int64Exact(2)),
		}}}})
}
