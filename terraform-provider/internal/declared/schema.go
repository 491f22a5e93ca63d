// SPDX-License-Identifier: Apache-2.0

// Package declared is the attributes that are no more than values, from the tables of package attribute: their schemas,
// and their values in a model and in a declaration.
package declared

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/attribute"
)

// Schema is the schema of attributes in a resource, without those that are written by hand.
func Schema(list []attribute.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	for _, a := range list {
		if !a.ByHand {
			all[a.Name] = inResource(a, described(a, "Default: ", "."))
		}
	}
	return all
}

func inResource(a attribute.Attribute, text string) schema.Attribute {
	optional, most := !a.Required, int(a.Max)
	switch a.Type {
	case "bool":
		return schema.BoolAttribute{Required: a.Required, Optional: optional, MarkdownDescription: text}
	case "int":
		return schema.Int64Attribute{Required: a.Required, Optional: optional, MarkdownDescription: text,
			Validators: []validator.Int64{int64validator.Between(a.Min, a.Max)}}
	case "map":
		return schema.MapAttribute{Required: a.Required, Optional: optional, MarkdownDescription: text,
			ElementType: types.StringType,
			Validators:  []validator.Map{mapvalidator.SizeAtMost(most), mapvalidator.NoNullValues()}}
	case "strings":
		return schema.ListAttribute{Required: a.Required, Optional: optional, MarkdownDescription: text,
			ElementType: types.StringType,
			Validators:  []validator.List{listvalidator.SizeAtMost(most), listvalidator.NoNullValues()}}
	case "objects":
		return schema.ListNestedAttribute{Required: a.Required, Optional: optional, MarkdownDescription: text,
			NestedObject: schema.NestedAttributeObject{Attributes: Schema(a.Fields)},
			Validators:   []validator.List{listvalidator.SizeAtMost(most), listvalidator.NoNullValues()}}
	case "object":
		return schema.SingleNestedAttribute{Required: a.Required, Optional: optional, MarkdownDescription: text,
			Attributes: Schema(a.Fields)}
	}
	return schema.StringAttribute{Required: a.Required, Optional: optional, MarkdownDescription: text,
		Validators: rules(a)}
}

func rules(a attribute.Attribute) []validator.String {
	var all []validator.String
	if len(a.Values) > 0 {
		all = append(all, stringvalidator.OneOf(a.Values...))
	}
	if a.Pattern != "" {
		all = append(all, stringvalidator.RegexMatches(regexp.MustCompile(a.Pattern), "want "+a.Form))
	}
	if a.Max > 0 {
		all = append(all, stringvalidator.LengthBetween(int(max(a.Min, 1)), int(a.Max)))
	}
	return all
}

// Known is the schema of attributes in a data source.
func Known(list []attribute.Attribute) map[string]data.Attribute {
	all := map[string]data.Attribute{}
	for _, a := range list {
		if a.ByHand {
			continue
		}
		text := described(a, "Null: ", ".")
		switch a.Type {
		case "bool":
			all[a.Name] = data.BoolAttribute{Computed: true, MarkdownDescription: text}
		case "int":
			all[a.Name] = data.Int64Attribute{Computed: true, MarkdownDescription: text}
		case "map":
			all[a.Name] = data.MapAttribute{Computed: true, MarkdownDescription: text, ElementType: types.StringType}
		case "strings":
			all[a.Name] = data.ListAttribute{Computed: true, MarkdownDescription: text, ElementType: types.StringType}
		case "objects":
			all[a.Name] = data.ListNestedAttribute{Computed: true, MarkdownDescription: text,
				NestedObject: data.NestedAttributeObject{Attributes: Known(a.Fields)}}
		case "object":
			all[a.Name] = data.SingleNestedAttribute{Computed: true, MarkdownDescription: text, Attributes: Known(a.Fields)}
		default:
			all[a.Name] = data.StringAttribute{Computed: true, MarkdownDescription: text}
		}
	}
	return all
}

// described is the text of an attribute with its values and its default.
func described(a attribute.Attribute, before, after string) string {
	text := a.Text
	if len(a.Values) > 0 {
		text += " One of `" + strings.Join(a.Values, "`, `") + "`."
	}
	if a.Type == "strings" || a.Type == "objects" {
		text += " At most " + strconv.FormatInt(a.Max, 10) + "."
	}
	if a.Default != "" {
		text += " " + before + a.Default + after
	}
	return text
}

// typeOf is the type of the values of an attribute.
func typeOf(a attribute.Attribute) attr.Type {
	switch a.Type {
	case "bool":
		return types.BoolType
	case "int":
		return types.Int64Type
	case "map":
		return types.MapType{ElemType: types.StringType}
	case "strings":
		return types.ListType{ElemType: types.StringType}
	case "object", "objects":
		object := types.ObjectType{AttrTypes: map[string]attr.Type{}}
		for _, field := range a.Fields {
			object.AttrTypes[field.Name] = typeOf(field)
		}
		if a.Type == "objects" {
			return types.ListType{ElemType: object}
		}
		return object
	}
	return types.StringType
}
