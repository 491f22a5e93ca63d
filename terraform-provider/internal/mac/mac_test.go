// SPDX-License-Identifier: Apache-2.0

package mac_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/terraform-provider/internal/mac"
)

func TestSpellingsAreEqual(t *testing.T) {
	one := mac.Of("52:54:00:77:00:0a")
	for text, want := range map[string]bool{
		"52:54:00:77:00:0a": true, "52-54-00-77-00-0A": true, "52-54-00-77-00-0a": true, "52:54:00:77:00:0b": false,
		"n1": false,
	} {
		if got, diagnostics := one.StringSemanticEquals(t.Context(), mac.Of(text)); got != want ||
			diagnostics.HasError() {
			t.Errorf("%s: %v %v", text, got, diagnostics)
		}
		if one.Equal(mac.Of(text)) != (text == "52:54:00:77:00:0a") {
			t.Errorf("%s: Equal is about the spelling", text)
		}
	}
	if got, _ := one.StringSemanticEquals(t.Context(), types.StringValue("52:54:00:77:00:0a")); got {
		t.Error("a plain string is no MAC")
	}
}

func TestWhatIsNoMACIsRefused(t *testing.T) {
	for text, bad := range map[string]bool{"52:54:00:77:00:0a": false, "52-54-00-77-00-0A": false,
		"52:54:00:77:00": true, "": true, "n1": true} {
		var response xattr.ValidateAttributeResponse
		mac.Of(text).ValidateAttribute(t.Context(), xattr.ValidateAttributeRequest{Path: path.Root("mac")}, &response)
		if response.Diagnostics.HasError() != bad {
			t.Errorf("%q: %v", text, response.Diagnostics)
		}
		if bad && !strings.Contains(response.Diagnostics[0].Detail(), "six hexadecimal pairs") {
			t.Errorf("%q: %v", text, response.Diagnostics)
		}
	}
	for _, value := range []mac.Value{{StringValue: types.StringNull()}, {StringValue: types.StringUnknown()}} {
		var response xattr.ValidateAttributeResponse
		if value.ValidateAttribute(t.Context(), xattr.ValidateAttributeRequest{},
			&response); response.Diagnostics.HasError() {
			t.Errorf("%v: %v", value, response.Diagnostics)
		}
	}
}

func TestTypeKeepsTheSpelling(t *testing.T) {
	for _, raw := range []tftypes.Value{
		tftypes.NewValue(tftypes.String, "52-54-00-77-00-0A"), tftypes.NewValue(tftypes.String, nil),
		tftypes.NewValue(tftypes.String, tftypes.UnknownValue),
	} {
		value, err := mac.Type{}.ValueFromTerraform(t.Context(), raw)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := value.ToTerraformValue(t.Context()); err != nil || !back.Equal(raw) {
			t.Errorf("%v became %v, %v", raw, back, err)
		}
	}
	if _, err := (mac.Type{}).ValueFromTerraform(t.Context(), tftypes.NewValue(tftypes.Bool, true)); err == nil {
		t.Error("a bool was taken for a MAC")
	}
	if !(mac.Type{}).Equal(mac.Of("").Type(t.Context())) || (mac.Type{}).Equal(types.StringType) {
		t.Error("the type is not itself")
	}
}

func TestKeepSpelling(t *testing.T) {
	present := tftypes.NewValue(tftypes.Object{}, map[string]tftypes.Value{})
	absent := tftypes.NewValue(tftypes.Object{}, nil)
	old := types.StringValue("52-54-00-77-00-0A")
	for name, test := range map[string]struct {
		state, plan tftypes.Value
		value, want types.String
	}{
		"made":      {absent, present, old, old},
		"destroyed": {present, absent, old, old},
		"spelled":   {present, present, types.StringValue("52:54:00:77:00:0a"), old},
		"another": {present, present, types.StringValue("52:54:00:77:00:0b"),
			types.StringValue("52:54:00:77:00:0b")},
		"unknown": {present, present, types.StringUnknown(), types.StringUnknown()},
	} {
		request := planmodifier.StringRequest{State: tfsdk.State{Raw: test.state}, Plan: tfsdk.Plan{Raw: test.plan},
			StateValue: old, PlanValue: test.value}
		response := planmodifier.StringResponse{PlanValue: test.value}
		mac.KeepSpelling().PlanModifyString(t.Context(), request, &response)
		if response.RequiresReplace || !response.PlanValue.Equal(test.want) {
			t.Errorf("%s: %+v", name, response)
		}
	}
}

func TestFunction(t *testing.T) {
	for text, want := range map[string]string{"52-54-00-77-00-0A": "52:54:00:77:00:0a", "n1": ""} {
		request := function.RunRequest{Arguments: function.NewArgumentsData([]attr.Value{types.StringValue(text)})}
		response := function.RunResponse{Result: function.NewResultData(types.StringUnknown())}
		mac.NewFunction().Run(t.Context(), request, &response)
		switch {
		case want == "" && (response.Error == nil || !strings.Contains(response.Error.Error(), `"n1" is not a MAC`)):
			t.Errorf("%s: %v", text, response.Error)
		case want != "" && !response.Result.Value().Equal(types.StringValue(want)):
			t.Errorf("%s: %v %v", text, response.Result, response.Error)
		}
	}
}
