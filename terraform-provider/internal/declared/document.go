// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/sledd/network"
)

var (
	_ basetypes.StringTypable                    = DocumentType{}
	_ basetypes.StringValuableWithSemanticEquals = Document{}
	_ xattr.ValidateableAttribute                = Document{}
)

// DocumentType is the type of an attribute that holds a word, or a document as jsonencode writes it.
type DocumentType struct{ basetypes.StringType }

// String names the type.
func (DocumentType) String() string { return "declared.DocumentType" }

// Equal reports whether two types are the same.
func (t DocumentType) Equal(other attr.Type) bool {
	o, ok := other.(DocumentType)
	return ok && t.StringType.Equal(o.StringType)
}

// ValueType returns a value of the type.
func (DocumentType) ValueType(context.Context) attr.Value { return Document{} }

// ValueFromString makes a document of a string as it is.
func (DocumentType) ValueFromString(_ context.Context, text basetypes.StringValue) (basetypes.StringValuable,
	diag.Diagnostics) {
	return Document{text}, nil
}

// ValueFromTerraform makes a document of what Terraform sends.
func (t DocumentType) ValueFromTerraform(ctx context.Context, raw tftypes.Value) (attr.Value, error) {
	value, err := t.StringType.ValueFromTerraform(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	text, ok := value.(basetypes.StringValue)
	if !ok {
		return nil, fmt.Errorf("document: got a %T", value)
	}
	return Document{text}, nil
}

// Document is a network, spelled as the configuration spells it.
type Document struct{ basetypes.StringValue }

// Type returns the type of the value.
func (Document) Type(context.Context) attr.Type { return DocumentType{} }

// Equal reports whether two values are spelled alike.
func (v Document) Equal(other attr.Value) bool {
	o, ok := other.(Document)
	return ok && v.StringValue.Equal(o.StringValue)
}

// StringSemanticEquals reports whether two documents mean the same.
func (v Document) StringSemanticEquals(_ context.Context, other basetypes.StringValuable) (bool, diag.Diagnostics) {
	o, ok := other.(Document)
	return ok && v.canonical() == o.canonical(), nil
}

// ValidateAttribute refuses what is neither a word nor a document that sledd takes.
func (v Document) ValidateAttribute(_ context.Context, request xattr.ValidateAttributeRequest,
	response *xattr.ValidateAttributeResponse) {
	if v.IsNull() || v.IsUnknown() {
		return
	}
	if _, err := network.Canonical(api.Network(v.ValueString())); err != nil {
		response.Diagnostics.AddAttributeError(request.Path, "Not a network", err.Error())
	}
}

// canonical is the form that sledd stores; what is no network stays as it is.
func (v Document) canonical() api.Network {
	found, err := network.Canonical(api.Network(v.ValueString()))
	if err != nil {
		return api.Network(v.ValueString())
	}
	return found
}

// meaning plans no change where a document is spelled in another way. Terraform accepts the previous spelling of a
// configured value in a plan.
type meaning struct{}

// Description states what the modifier does.
func (meaning) Description(context.Context) string {
	return "Documents of one meaning are the same."
}

// MarkdownDescription is the same text.
func (m meaning) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyString plans the spelling that the state has, if it means the same.
func (meaning) PlanModifyString(_ context.Context, request planmodifier.StringRequest,
	response *planmodifier.StringResponse) {
	before, after := request.StateValue, request.PlanValue
	if before.IsNull() || after.IsNull() || after.IsUnknown() {
		return
	}
	if (Document{before}).canonical() == (Document{after}).canonical() {
		response.PlanValue = before
	}
}
