// SPDX-License-Identifier: Apache-2.0

// Package mac is MAC addresses in Terraform: any usual spelling is accepted, and spellings of one address are equal.
package mac

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/api"
)

var (
	_ basetypes.StringTypable                    = Type{}
	_ basetypes.StringValuableWithSemanticEquals = Value{}
	_ xattr.ValidateableAttribute                = Value{}
)

// Type is the type of an attribute that holds a MAC.
type Type struct{ basetypes.StringType }

// String names the type.
func (Type) String() string { return "mac.Type" }

// Equal reports whether two types are the same.
func (t Type) Equal(other attr.Type) bool {
	o, ok := other.(Type)
	return ok && t.StringType.Equal(o.StringType)
}

// ValueType returns a value of the type.
func (Type) ValueType(context.Context) attr.Value { return Value{} }

// ValueFromString makes a MAC of a string as it is.
func (Type) ValueFromString(_ context.Context, text basetypes.StringValue) (basetypes.StringValuable,
	diag.Diagnostics) {
	return Value{text}, nil
}

// ValueFromTerraform makes a MAC of what Terraform sends.
func (t Type) ValueFromTerraform(ctx context.Context, raw tftypes.Value) (attr.Value, error) {
	value, err := t.StringType.ValueFromTerraform(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("MAC: %w", err)
	}
	text, ok := value.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("MAC: got a %T", value)
	}
	return Value{text}, nil
}

// Value is a MAC, spelled as the configuration spells it.
type Value struct{ basetypes.StringValue }

// Of makes a value of a known text.
func Of(text string) Value { return Value{basetypes.NewStringValue(text)} }

// Type returns the type of the value.
func (Value) Type(context.Context) attr.Type { return Type{} }

// Equal reports whether two values are spelled alike.
func (v Value) Equal(other attr.Value) bool {
	o, ok := other.(Value)
	return ok && v.StringValue.Equal(o.StringValue)
}

// StringSemanticEquals reports whether two spellings are the same address.
func (v Value) StringSemanticEquals(_ context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	o, ok := other.(Value)
	return ok && v.Address() == o.Address(), nil
}

// ValidateAttribute refuses what is no MAC.
func (v Value) ValidateAttribute(_ context.Context, request xattr.ValidateAttributeRequest,
	response *xattr.ValidateAttributeResponse) {
	if v.IsNull() || v.IsUnknown() {
		return
	}
	if _, err := api.ParseMAC(v.ValueString()); err != nil {
		response.Diagnostics.AddAttributeError(request.Path, "Not a MAC", err.Error())
	}
}

// Address is the MAC in lower case with colons; what is no MAC stays as it is.
func (v Value) Address() string {
	if address, err := api.ParseMAC(v.ValueString()); err == nil {
		return address
	}
	return v.ValueString()
}
