// SPDX-License-Identifier: Apache-2.0

package site

import (
	"context"
	"slices"

	"github.com/sled-fleet/sled/sledd/api"
)

// Leaves reports which machines keep their disks as they are when they are bound, by how the items name them: their
// image runs from memory, and they do not change hands. sledd judges that. What it cannot judge counts as a wipe.
func (s *Site) Leaves(ctx context.Context, items []api.BulkBinding) map[string]bool {
	leaves := map[string]bool{}
	items = slices.DeleteFunc(slices.Clone(items), func(item api.BulkBinding) bool { return !s.InMemory(ctx, item.Image) })
	assume, known := s.assumed(items)
	if !known || len(items) == 0 {
		return leaves
	}
	_ = s.CallBulk(ctx, "", func(ctx context.Context, client *api.Client) error {
		judged, err := client.Bind(ctx, api.BulkBindings{Items: items, Assume: assume}, api.DryRun(), api.TakeOver(),
			api.Reimage())
		for i, one := range judged {
			leaves[items[i].Node] = one.Outlook != nil && one.Outlook.Memory && one.Outlook.Wipes == ""
		}
		return err //nolint:wrapcheck // not shown
	})
	return leaves
}

// InMemory reports whether an image runs from memory. One that does not exist does not.
func (s *Site) InMemory(ctx context.Context, name string) bool {
	s.world.mu.Lock()
	planned, found := s.world.images[name]
	s.world.mu.Unlock()
	if found || name == "" {
		return planned.InMemory()
	}
	image, _ := s.image(ctx, name)
	return image.InMemory()
}
