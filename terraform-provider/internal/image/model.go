// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/imagefile"
)

// defaultArchitecture is what an image without one is for.
const defaultArchitecture = "x86_64"

// model is the resource as configuration, plan and state have it.
type model struct {
	Name         types.String `tfsdk:"name"`
	URLs         types.List   `tfsdk:"urls"`
	Digest       types.String `tfsdk:"digest"`
	Bytes        types.Int64  `tfsdk:"bytes"`
	FileBytes    types.Int64  `tfsdk:"file_bytes"`
	UsedBytes    types.Int64  `tfsdk:"used_bytes"`
	Statement    types.String `tfsdk:"statement"`
	Signature    types.String `tfsdk:"signature"`
	Architecture types.String `tfsdk:"architecture"`
	Labels       types.Map    `tfsdk:"labels"`
	Partitions   types.List   `tfsdk:"partitions"`
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
func (m model) incomplete() bool {
	return isOpen(m.Digest) || isOpen(m.Bytes) || isOpen(m.FileBytes)
}

func isOpen(value attr.Value) bool { return value.IsNull() || value.IsUnknown() }

// spec is what is sent to sledd, without unknown values.
func (m model) spec(ctx context.Context) (api.ImageSpec, diag.Diagnostics) {
	spec := api.ImageSpec{
		Name: m.Name.ValueString(), Digest: m.Digest.ValueString(), Bytes: m.Bytes.ValueInt64(),
		FileBytes: m.FileBytes.ValueInt64(),
		UsedBytes: m.UsedBytes.ValueInt64(), Statement: m.Statement.ValueString(), Signature: m.Signature.ValueString(),
		Architecture: m.Architecture.ValueString(),
	}
	diagnostics := m.URLs.ElementsAs(ctx, &spec.URLs, false)
	diagnostics.Append(m.Labels.ElementsAs(ctx, &spec.Labels, false)...)
	return spec, diagnostics
}

// fill copies what is registered. To sledd null and an empty value are the same: then the model stays as it is.
func (m *model) fill(ctx context.Context, stored api.Image) diag.Diagnostics {
	m.Name, m.Digest = types.StringValue(stored.Name), types.StringValue(stored.Digest)
	m.Bytes, m.FileBytes = types.Int64Value(stored.Bytes), types.Int64Value(stored.FileBytes)
	if m.UsedBytes.IsUnknown() || m.UsedBytes.ValueInt64() != stored.UsedBytes {
		m.UsedBytes = knownNumber(stored.UsedBytes)
	}
	m.Statement = knownText(stored.Statement)
	m.Signature, m.Architecture = knownText(stored.Signature),
		types.StringValue(cmp.Or(stored.Architecture, defaultArchitecture))
	urls, diagnostics := types.ListValueFrom(ctx, types.StringType, stored.URLs)
	m.URLs = urls
	if len(stored.Labels) > 0 {
		labels, more := types.MapValueFrom(ctx, types.StringType, stored.Labels)
		diagnostics.Append(more...)
		m.Labels = labels
	} else if len(m.Labels.Elements()) > 0 || m.Labels.IsUnknown() {
		m.Labels = types.MapNull(types.StringType)
	}
	return diagnostics
}

func knownText(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

func knownNumber(number int64) types.Int64 {
	if number == 0 {
		return types.Int64Null()
	}
	return types.Int64Value(number)
}

func partitionList(ctx context.Context, all []imagefile.Partition) (types.List, diag.Diagnostics) {
	list := make([]partition, len(all))
	for i, one := range all {
		list[i] = partition{one.Start, one.Bytes, one.UsedBytes, one.Content}
	}
	return types.ListValueFrom(ctx, partitionType, list)
}
