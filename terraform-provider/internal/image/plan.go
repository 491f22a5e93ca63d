// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// planTime bounds reading an image for a plan.
const planTime = 8 * time.Second

// ModifyPlan plans what the configuration leaves open, and refuses other URLs of other content.
func (i *image) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	if request.Plan.Raw.IsNull() {
		return
	}
	var given, plan, state model
	var stored map[string]attr.Value // nil: the image is new
	response.Diagnostics.Append(request.Config.Get(ctx, &given)...)
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	if !request.State.Raw.IsNull() {
		response.Diagnostics.Append(request.State.Get(ctx, &state)...)
		stored = declared.Values(&state.Image)
	}
	if response.Diagnostics.HasError() {
		return
	}
	settle(ctx, &given, &plan, stored, response)
	switch {
	case i.site == nil: // the provider is not configured yet
	case stored == nil:
		i.site.PlanImage(plan.spec())
	case given.incomplete():
		i.planURLs(ctx, plan, state, response)
	}
	if stored == nil && !given.incomplete() {
		response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("partitions"),
			types.ListNull(partitionType))...)
	}
}

// settle plans the attributes that the configuration does not have: one with a default has that, one that is registered
// stays, and nothing is measured when all that sledd requires is set. Another value of a fixed one replaces the image.
func settle(ctx context.Context, given, plan *model, stored map[string]attr.Value,
	response *resource.ModifyPlanResponse) {
	configured, planned := declared.Values(&given.Image), declared.Values(&plan.Image)
	for _, one := range attribute.Image {
		at, value, old := path.Root(one.Name), planned[one.Name], stored[one.Name]
		switch standard := declared.Standard(one); {
		case !configured[one.Name].IsNull(): // it stays as it is
		case standard != nil:
			value = standard
		case value.IsUnknown() && old != nil:
			value = old
		case value.IsUnknown() && one.Measured && !given.incomplete():
			value = configured[one.Name]
		}
		response.Diagnostics.Append(response.Plan.SetAttribute(ctx, at, value)...)
		if one.Fixed && old != nil && !value.Equal(old) {
			response.RequiresReplace.Append(at)
		}
	}
}

// planURLs compares the content at other URLs. One that does not answer yet may do so when the plan is applied.
func (i *image) planURLs(ctx context.Context, plan, state model, response *resource.ModifyPlanResponse) {
	if plan.URLs.Equal(state.URLs) || !desired.Known(plan.URLs) || !plan.Name.Equal(state.Name) {
		return
	}
	spec := plan.spec()
	ctx, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	found, _, err := imagefile.Fetcher{Transport: i.site.Client().Transport()}.First(ctx, spec.URLs)
	if err == nil && found.Digest != state.Digest.ValueString() {
		response.Diagnostics.AddAttributeError(path.Root("urls"), "Image "+spec.Name+" has other content at its new URLs",
			fmt.Sprintf("Its digest is %s, that of the content at the new URLs %s. A name always means the same content: "+
				"declare it under another name.", state.Digest.ValueString(), found.Digest))
	}
}
