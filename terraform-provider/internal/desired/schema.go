// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// stringAttribute is a text; an empty one is as good as none.
func stringAttribute(most int, description string) schema.Attribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description,
		Validators: []validator.String{stringvalidator.LengthAtMost(most)}}
}

// patternAttribute is the host name, the only text with a form. It is computed for what an import found.
func patternAttribute(most int, pattern, description string) schema.Attribute {
	return schema.StringAttribute{Optional: true, Computed: true, MarkdownDescription: description,
		Validators: []validator.String{stringvalidator.LengthAtMost(most),
			stringvalidator.RegexMatches(regexp.MustCompile(pattern), "must be labels of a-z 0-9 and -, each at most 63 "+
				"characters and not starting or ending with -, with dots between them, such as web-1.example.com")}}
}

func choiceAttribute(description string, values ...string) schema.Attribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description,
		Validators: []validator.String{stringvalidator.OneOf(values...)}}
}

func boolAttribute(description string) schema.Attribute {
	return schema.BoolAttribute{Optional: true, MarkdownDescription: description}
}

// stringsAttribute is a list of SSH public keys, the only kind of list. It is computed for what an import found.
func stringsAttribute(most int, description string) schema.Attribute {
	return schema.ListAttribute{Optional: true, Computed: true, ElementType: types.StringType,
		MarkdownDescription: description,
		Validators: []validator.List{listvalidator.SizeAtMost(most),
			Keys{}}}
}

// secretAttribute is write-only: it is in no plan and no state.
func secretAttribute(most int, description string) schema.Attribute {
	return schema.StringAttribute{Optional: true, WriteOnly: true, Sensitive: true, MarkdownDescription: description,
		Validators: []validator.String{stringvalidator.LengthAtMost(most)}}
}

// versionedAttribute is write-only too, and sent again only with another version. It is not marked as sensitive: no
// plan and no state has it, and Terraform writes two marks of a state in no fixed order.
func versionedAttribute(most int, instead, description string) schema.Attribute {
	return schema.StringAttribute{Optional: true, WriteOnly: true, MarkdownDescription: description,
		Validators: []validator.String{stringvalidator.LengthBetween(1, most),
			stringvalidator.ConflictsWith(path.MatchRoot(instead)),
			stringvalidator.AlsoRequires(path.MatchRoot(instead + "_wo_version"))}}
}

func versionAttribute(of, description string) schema.Attribute {
	return schema.Int64Attribute{Optional: true, MarkdownDescription: description,
		Validators: []validator.Int64{int64validator.AtLeast(0), int64validator.AlsoRequires(path.MatchRoot(of))}}
}

func sumAttribute(description string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: description}
}
