// SPDX-License-Identifier: Apache-2.0

package bindings_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/sleddtest"
	"github.com/sled-fleet/sled/terraform-provider/internal/acctest"
	"github.com/sled-fleet/sled/terraform-provider/internal/bindings"
)

const many = 2000

// TestAccMany says nothing about time: bench/terraform.py does.
func TestAccMany(t *testing.T) {
	t.Setenv("TF_LOG_SDK_FRAMEWORK", "off") // as main does
	bindings.SetMost(t, 1500)               // two calls
	s := prepare(t, acctest.StartAlone(t))
	s.DeclareMany(many)
	images := map[string]string{}
	for i := range many {
		images[sleddtest.MAC(i)] = "d12"
	}
	apply := func() {
		text, err := json.Marshal(images)
		if err != nil {
			t.Fatal(err)
		}
		s.declare(`resource "sled_bindings" "x" {
  name   = "x"
  images = jsondecode(` + "<<EOT\n" + string(text) + "\nEOT\n)\n}\n")
		out := s.Apply()
		if strings.Count(out, "Warning:") > 1 {
			t.Errorf("want one warning for many:\n%.2000s", out)
		}
	}
	apply()
	s.Empty()
	for i := range many {
		if i%2 == 0 {
			images[sleddtest.MAC(i)] = "d13"
		}
	}
	apply()
	s.Empty()
	count := 0
	for binding, err := range s.Sledd.Client().Bindings(t.Context(), api.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		want := int64(1)
		if images[binding.MAC] == "d13" {
			want = 2
		}
		if count++; binding.Image != images[binding.MAC] || binding.Generation != want ||
			binding.Owner != "terraform:x" {
			t.Fatalf("%+v", binding)
		}
	}
	if count != many {
		t.Errorf("%d of %d are bound", count, many)
	}
	s.Must("destroy", "-auto-approve")
}
