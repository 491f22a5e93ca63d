// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// revisionKey is where private state holds the revision that the state was read at.
const revisionKey = "revision"

// asRead allows a change only to the revision that the plan saw.
func (i *image) asRead(ctx context.Context, private site.Kept, diagnostics *diag.Diagnostics) []api.Option {
	diagnostics.Append(i.site.SameFleet(ctx, private)...)
	text, more := private.GetKey(ctx, revisionKey)
	diagnostics.Append(more...)
	revision, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return nil
	}
	return []api.Option{api.IfRevision(revision)}
}

// read reads an image. Only sledd's own 404 means that it does not exist.
func read(ctx context.Context, site *site.Site, name string) (stored api.Image, found bool,
	diagnostics diag.Diagnostics) {
	diagnostics = site.Call(ctx, "read image "+name, func(ctx context.Context, client *api.Client) error {
		var err error
		if stored, err = client.Image(ctx, name); api.IsNotFound(err) {
			return nil
		}
		found = err == nil
		return err //nolint:wrapcheck // Call explains it
	})
	return stored, found, diagnostics
}

// keep stores what is registered in the state.
func (i *image) keep(ctx context.Context, m *model, stored api.Image, state *tfsdk.State,
	private site.Keeper) diag.Diagnostics {
	declared.Take(ctx, &m.Image, stored.ImageSpec, attribute.Image)
	diagnostics := state.Set(ctx, m)
	diagnostics.Append(private.SetKey(ctx, revisionKey, strconv.AppendInt(nil, stored.Revision, 10))...)
	diagnostics.Append(i.site.KeepFleet(ctx, private)...)
	return diagnostics
}
