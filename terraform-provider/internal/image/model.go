// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/attribute"
	"github.com/sled-fleet/sled/sledd/imagefile"
	"github.com/sled-fleet/sled/terraform-provider/internal/declared"
)

// model is the resource as configuration, plan and state have it.
type model struct {
	declared.Image
	Partitions types.List `tfsdk:"partitions"`
}

// partition is one element of partitions.
type partition struct {
	Start     int64  `tfsdk:"start"`
	Bytes     int64  `tfsdk:"bytes"`
	UsedBytes int64  `tfsdk:"used_bytes"`
	Content   string `tfsdk:"content"`
}

var partitionType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"start": types.Int64Type, "bytes": types.Int64Type, "used_bytes": types.Int64Type, "content": types.StringType,
}}

// incomplete reports whether something that sledd requires is not set, so the image must be read.
func (m *model) incomplete() bool {
	values := declared.Values(&m.Image)
	return slices.ContainsFunc(attribute.Image, func(a attribute.Attribute) bool {
		return a.Measured && a.Required && isOpen(values[a.Name])
	})
}

func isOpen(value attr.Value) bool { return value.IsNull() || value.IsUnknown() }

// spec is what is sent to sledd, without unknown values.
func (m *model) spec() (spec api.ImageSpec) {
	declared.Fill(&spec, &m.Image)
	return spec
}

func partitionList(ctx context.Context, all []imagefile.Partition) (types.List, diag.Diagnostics) {
	list := make([]partition, len(all))
	for i, one := range all {
		list[i] = partition{one.Start, one.Bytes, one.UsedBytes, one.Content}
	}
	return types.ListValueFrom(ctx, partitionType, list)
}
