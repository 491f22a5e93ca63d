// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// planTime bounds reading an image for a plan.
const planTime = 8 * time.Second

// ModifyPlan plans null for what will not be read because everything is set, and refuses other URLs of other content.
func (i *image) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.DropRepeated(&response.Diagnostics)
	if request.Plan.Raw.IsNull() {
		return
	}
	var given model
	if response.Diagnostics.Append(request.Config.Get(ctx, &given)...); response.Diagnostics.HasError() {
		return
	}
	if request.State.Raw.IsNull() && i.site != nil {
		i.site.PlanImage(given.Name.ValueString())
	}
	if !request.State.Raw.IsNull() {
		if i.site != nil && given.incomplete() {
			i.planURLs(ctx, request, response)
		}
		return
	}
	if given.incomplete() {
		return
	}
	response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("partitions"),
		types.ListNull(partitionType))...)
	if given.UsedBytes.IsNull() {
		response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("used_bytes"), types.Int64Null())...)
	}
}

// planURLs compares the content at other URLs. One that does not answer yet may do so when the plan is applied.
func (i *image) planURLs(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	var plan, state model
	response.Diagnostics.Append(request.Plan.Get(ctx, &plan)...)
	response.Diagnostics.Append(request.State.Get(ctx, &state)...)
	if response.Diagnostics.HasError() || plan.URLs.Equal(state.URLs) || !desired.Known(plan.URLs) ||
		!plan.Name.Equal(state.Name) {
		return
	}
	spec, diagnostics := plan.spec(ctx)
	response.Diagnostics.Append(diagnostics...)
	ctx, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	found, _, err := imagefile.Fetcher{Transport: i.site.Client().Transport()}.First(ctx, spec.URLs)
	if err == nil && found.Digest != state.Digest.ValueString() {
		response.Diagnostics.AddAttributeError(path.Root("urls"), "Image "+spec.Name+" has other content at its new URLs",
			fmt.Sprintf("Its digest is %s, that of the content at the new URLs %s. A name always means the same content: "+
				"declare it under another name.", state.Digest.ValueString(), found.Digest))
	}
}
