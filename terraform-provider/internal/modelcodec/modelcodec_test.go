// SPDX-License-Identifier: Apache-2.0

package modelcodec_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/terraform-provider/internal/modelcodec"
)

type inner struct {
	Keys types.List `tfsdk:"keys"`
	Loud types.Bool `tfsdk:"loud"`
}

type model struct {
	Name types.String `tfsdk:"name"`
	inner
	Count types.Int64 `tfsdk:"count"`
}

var plan = schema.Schema{Attributes: map[string]schema.Attribute{
	"name":  schema.StringAttribute{Required: true},
	"keys":  schema.ListAttribute{Optional: true, ElementType: types.StringType},
	"loud":  schema.BoolAttribute{Optional: true},
	"count": schema.Int64Attribute{Computed: true},
}}

func models() []model {
	keys := types.ListValueMust(types.StringType, []attr.Value{types.StringValue("a")})
	return []model{
		{Name: types.StringValue("n1"), inner: inner{Keys: keys, Loud: types.BoolValue(true)}, Count: types.Int64Value(7)},
		{Name: types.StringUnknown(), inner: inner{Keys: types.ListUnknown(types.StringType)},
			Count: types.Int64Unknown()},
		{inner: inner{Keys: types.ListNull(types.StringType)}},
	}
}

// Both ways must do what the framework's do: known, unknown and null values, and fields of an embedded struct.
func TestAsTheFramework(t *testing.T) {
	ctx, layout := context.Background(), modelcodec.Of[model](plan)
	for _, m := range models() {
		state := tfsdk.State{Schema: plan, Raw: tftypes.NewValue(plan.Type().TerraformType(ctx), nil)}
		if diagnostics := state.Set(ctx, &m); diagnostics.HasError() {
			t.Fatal(diagnostics)
		}
		raw, diagnostics := layout.Write(ctx, &m)
		if diagnostics.HasError() || !raw.Equal(state.Raw) {
			t.Errorf("%v: wrote %v, the framework %v", diagnostics, raw, state.Raw)
		}
		var read model
		if diagnostics := layout.Read(ctx, raw, &read); diagnostics.HasError() || !reflect.DeepEqual(read, m) {
			t.Errorf("%v: read %v, want %v", diagnostics, read, m)
		}
	}
}

func TestNothingToRead(t *testing.T) {
	ctx, layout := context.Background(), modelcodec.Of[model](plan)
	if diagnostics := layout.Read(ctx, tftypes.NewValue(tftypes.String, "x"), &model{}); !diagnostics.HasError() {
		t.Error("a text was read as a resource")
	}
}

func TestLayoutMustFit(t *testing.T) {
	for name, of := range map[string]func(){
		"a field too many": func() { modelcodec.Of[struct{ model }](schema.Schema{}) },
		"a field too few":  func() { modelcodec.Of[inner](plan) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("was accepted")
				}
			}()
			of()
		})
	}
}
