// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/terraform-provider/internal/site"
)

// ModifyPlan plans null for what will not be read because everything is set.
func (i *image) ModifyPlan(ctx context.Context, request resource.ModifyPlanRequest,
	response *resource.ModifyPlanResponse) {
	defer site.Once(&response.Diagnostics)
	if request.Plan.Raw.IsNull() || !request.State.Raw.IsNull() {
		return
	}
	var given model
	if response.Diagnostics.Append(request.Config.Get(ctx, &given)...); response.Diagnostics.HasError() ||
		given.incomplete() {
		return
	}
	response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("partitions"),
		types.ListNull(partitionType))...)
	if given.UsedBytes.IsNull() {
		response.Diagnostics.Append(response.Plan.SetAttribute(ctx, path.Root("used_bytes"), types.Int64Null())...)
	}
}
