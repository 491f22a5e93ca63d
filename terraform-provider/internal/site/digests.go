// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// images are those that were read, by name. An image never changes, so each is read once in a run.
type images struct {
	mu    sync.Mutex
	known map[string]api.ImageSpec
}

// Digests returns the digests of images, as far as they exist. They are read only if another name than that of the
// stored binding is there: one content under two names is the same content, and one name is one content anyway.
func (s *Site) Digests(ctx context.Context, stored desired.State, names ...string) (map[string]string,
	diag.Diagnostics) {
	digests := map[string]string{}
	if stored.Digest != "" {
		digests[stored.Image] = stored.Digest
	}
	others := func(name string) bool { return name != "" && name != stored.Image }
	if stored.Image == "" || !slices.ContainsFunc(names, others) {
		return digests, nil
	}
	for _, name := range append(names, stored.Image) {
		if _, known := digests[name]; known || name == "" {
			continue
		}
		image, diagnostics := s.image(ctx, name)
		if diagnostics.HasError() {
			return nil, diagnostics
		}
		digests[name] = image.Digest
	}
	return digests, nil
}

// image reads an image; an empty one: it does not exist.
func (s *Site) image(ctx context.Context, name string) (api.ImageSpec, diag.Diagnostics) {
	s.images.mu.Lock()
	defer s.images.mu.Unlock()
	if image, known := s.images.known[name]; known {
		return image, nil
	}
	var found api.ImageSpec
	diagnostics := s.Call(ctx, "read image "+name, func(ctx context.Context, client *api.Client) error {
		image, err := client.Image(ctx, name)
		if api.IsNotFound(err) {
			return nil
		}
		found = image.ImageSpec
		return err //nolint:wrapcheck // Call explains it
	})
	if found.Name != "" {
		if s.images.known == nil {
			s.images.known = map[string]api.ImageSpec{}
		}
		s.images.known[name] = found
	}
	return found, diagnostics
}

// AllDigests returns the digests of all images.
func (s *Site) AllDigests(ctx context.Context) (map[string]string, diag.Diagnostics) {
	digests := map[string]string{}
	diagnostics := s.CallBulk(ctx, "list the images", func(ctx context.Context, client *api.Client) error {
		images, err := client.Images(ctx)
		for _, image := range images {
			digests[image.Name] = image.Digest
		}
		return err //nolint:wrapcheck // Call explains it
	})
	return digests, diagnostics
}
