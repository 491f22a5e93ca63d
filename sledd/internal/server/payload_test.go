// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"net/http"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

func TestImagesWithAPayload(t *testing.T) {
	s := fresh(t)
	spec := s.Register("d12")
	for _, one := range []struct {
		name  string
		want  int
		image api.ImageSpec
	}{
		{"multiboot", http.StatusOK, api.ImageSpec{Kind: api.KernelImage, Payload: &api.Payload{Format: "multiboot",
			Confirm: "console", Console: "up"}}},
		{"linux", http.StatusOK, api.ImageSpec{Kind: api.KernelImage, Payload: &api.Payload{Format: "linux",
			RealMode: true, Confirm: "http", Timeout: 10}}},
		{"format", http.StatusUnprocessableEntity, api.ImageSpec{Kind: api.KernelImage, Payload: &api.Payload{}}},
		{"disk", http.StatusUnprocessableEntity, api.ImageSpec{Payload: &api.Payload{Format: "linux"}}},
		{"both", http.StatusUnprocessableEntity, api.ImageSpec{Kind: api.KernelImage,
			Kernel: &api.Kernel{Release: "6.1"}, Payload: &api.Payload{Format: "linux"}}},
		{"real-mode", http.StatusUnprocessableEntity, api.ImageSpec{Kind: api.KernelImage,
			Payload: &api.Payload{Format: "multiboot", RealMode: true}}},
		{"arm", http.StatusUnprocessableEntity, api.ImageSpec{Kind: api.KernelImage, Architecture: "arm64",
			Payload: &api.Payload{Format: "multiboot"}}},
		{"silent", http.StatusUnprocessableEntity, api.ImageSpec{Kind: api.KernelImage,
			Payload: &api.Payload{Format: "linux", Confirm: "console"}}},
		{"text", http.StatusUnprocessableEntity, api.ImageSpec{Kind: api.KernelImage,
			Payload: &api.Payload{Format: "linux", Confirm: "http", Console: "up"}}},
	} {
		image := one.image
		image.Name, image.Digest, image.URLs, image.Bytes, image.FileBytes = one.name, spec.Digest, spec.URLs, spec.Bytes,
			spec.FileBytes
		if got := s.admin(one.want, "PUT", "/v1/images/"+one.name, image); t.Failed() {
			t.Fatalf("%s: %v", one.name, got)
		}
	}
}
