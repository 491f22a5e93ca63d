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

// images are the digests of images, by name. An image never changes, so each is read once in a run.
type images struct {
	mu    sync.Mutex
	known map[string]string
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
		digest, diagnostics := s.digest(ctx, name)
		if diagnostics.HasError() {
			return nil, diagnostics
		}
		digests[name] = digest
	}
	return digests, nil
}

func (s *Site) digest(ctx context.Context, name string) (string, diag.Diagnostics) {
	s.images.mu.Lock()
	defer s.images.mu.Unlock()
	if digest, known := s.images.known[name]; known {
		return digest, nil
	}
	digest := ""
	diagnostics := s.Call(ctx, "read image "+name, func(ctx context.Context, client *api.Client) error {
		image, err := client.Image(ctx, name)
		if api.IsNotFound(err) {
			return nil
		}
		digest = image.Digest
		return err //nolint:wrapcheck // Call explains it
	})
	if digest != "" {
		if s.images.known == nil {
			s.images.known = map[string]string{}
		}
		s.images.known[name] = digest
	}
	return digest, diagnostics
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
