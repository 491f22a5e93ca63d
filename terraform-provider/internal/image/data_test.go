// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
)

const dataSources = `
data "sled_image" "d" { name = "debian-12-v1" }
data "sled_image" "u" { name = "ubuntu-24-v1" }
data "sled_images" "all" {}
data "sled_images" "debian" { labels = { os = "debian" } }
data "sled_images" "stable" { labels = { os = "debian", track = "stable" } }
data "sled_images" "ubuntu" { name_prefix = "ubuntu-" }
data "sled_images" "none" {
  labels      = { os = "debian" }
  name_prefix = "ubuntu-"
}`

func TestAccDataSources(t *testing.T) {
	s := acctest.Start(t)
	for _, spec := range []api.ImageSpec{
		{Name: "debian-12-v1", Labels: map[string]string{"os": "debian", "track": "stable"}, UsedBytes: 5,
			Statement: statementOf("debian-12-v1"), Signature: signature},
		{Name: "debian-13-v1", Labels: map[string]string{"os": "debian"}, Architecture: "arm64"},
		{Name: "ubuntu-24-v1"},
	} {
		spec.Digest, spec.URLs, spec.Bytes, spec.FileBytes = gapsDigest, []string{"http://10.77.0.1/i"}, 8<<20, 1283
		if _, err := s.Client().PutImage(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	const one, all = "data.sled_image.d", "data.sled_images."
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.ProtoV6ProviderFactories,
		Steps: []resource.TestStep{
			{
				Config: acctest.Header(s.URL) + dataSources,
				Check: resource.ComposeAggregateTestCheckFunc(
					resource.TestCheckResourceAttr(one, "digest", gapsDigest),
					resource.TestCheckResourceAttr(one, "used_bytes", "5"),
					resource.TestCheckResourceAttr(one, "bytes", "8388608"),
					resource.TestCheckResourceAttr(one, "file_bytes", "1283"),
					resource.TestCheckResourceAttr(one, "urls.0", "http://10.77.0.1/i"),
					resource.TestCheckResourceAttr(one, "labels.track", "stable"),
					resource.TestCheckResourceAttr(one, "signature", signature),
					resource.TestCheckResourceAttr(one, "architecture", "x86_64"),
					resource.TestMatchResourceAttr(one, "created", regexp.MustCompile(`^20\d\d-.*Z$`)),
					resource.TestCheckNoResourceAttr("data.sled_image.u", "used_bytes"),
					resource.TestCheckNoResourceAttr("data.sled_image.u", "signature"),
					resource.TestCheckResourceAttr("data.sled_image.u", "labels.%", "0"),
					resource.TestCheckResourceAttr(all+"all", "names.#", "3"),
					resource.TestCheckResourceAttr(all+"all", "names.2", "ubuntu-24-v1"),
					resource.TestCheckResourceAttr(all+"debian", "images.#", "2"),
					resource.TestCheckResourceAttr(all+"debian", "images.1.architecture", "arm64"),
					resource.TestCheckResourceAttr(all+"stable", "names.#", "1"),
					resource.TestCheckResourceAttr(all+"stable", "images.0.name", "debian-12-v1"),
					resource.TestCheckResourceAttr(all+"ubuntu", "names.#", "1"),
					resource.TestCheckResourceAttr(all+"none", "names.#", "0"),
				),
			},
			{
				Config:      acctest.Header(s.URL) + `data "sled_image" "d" { name = "none" }`,
				ExpectError: regexp.MustCompile(`Image none is not registered`),
			},
		},
	})
}

func TestAccDataSourcesOfABrokenSledd(t *testing.T) {
	s := acctest.Start(t)
	s.Register("i")
	proxy := acctest.NewProxy(t, s.URL)
	cli := acctest.NewCLI(t, config(proxy.URL, `data "sled_image" "d" { name = "i" }`))
	for _, fault := range acctest.Faults() {
		proxy.Break(http.MethodGet, "/v1/images", fault)
		cli.Write(config(proxy.URL, `data "sled_image" "d" { name = "i" }`))
		cli.Fails("read image i", "apply", "-auto-approve")
		cli.Write(config(proxy.URL, `data "sled_images" "d" {}`))
		cli.Fails("list images", "apply", "-auto-approve")
	}
}
