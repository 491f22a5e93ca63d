// SPDX-License-Identifier: Apache-2.0

// Package declared is the attributes that are no more than values, from the tables of package attribute: their schemas,
// and their values in a model and in a declaration.
package declared

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/attribute"
)

// Schema is the schema of attributes in a resource.
func Schema(list []attribute.Attribute) map[string]schema.Attribute {
	all := map[string]schema.Attribute{}
	for _, a := range list {
		all[a.Name] = inResource(a)
	}
	return all
}

func inResource(a attribute.Attribute) schema.Attribute {
	required, computed := a.Required && !a.Measured, a.Measured || Standard(a) != nil
	optional, text, most := !required, declaredText(a), int(a.Max)
	switch a.Type {
	case "bool":
		return schema.BoolAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: text}
	case "int":
		return schema.Int64Attribute{Required: required, Optional: optional, Computed: computed,
			MarkdownDescription: text, Validators: []validator.Int64{limits(a)}}
	case "map":
		return schema.MapAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: text,
			ElementType: types.StringType,
			Validators:  []validator.Map{mapvalidator.SizeAtMost(most), mapvalidator.NoNullValues(), Labels{}}}
	case "strings":
		return schema.ListAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: text,
			ElementType: types.StringType,
			Validators:  []validator.List{listvalidator.SizeAtMost(most), listvalidator.NoNullValues()}}
	case "objects":
		return schema.ListNestedAttribute{Required: required, Optional: optional, Computed: computed,
			MarkdownDescription: text, NestedObject: schema.NestedAttributeObject{Attributes: Schema(a.Fields)},
			Validators: []validator.List{listvalidator.SizeAtMost(most), listvalidator.NoNullValues()}}
	case "document":
		return schema.StringAttribute{Required: required, Optional: optional, Computed: computed,
			MarkdownDescription: text, CustomType: DocumentType{}, PlanModifiers: []planmodifier.String{meaning{}}}
	case "object":
		return schema.SingleNestedAttribute{Required: required, Optional: optional, Computed: computed,
			MarkdownDescription: text, Attributes: Schema(a.Fields)}
	}
	return schema.StringAttribute{Required: required, Optional: optional, Computed: computed, MarkdownDescription: text,
		Validators: rules(a)}
}

func limits(a attribute.Attribute) validator.Int64 {
	if a.Max == 0 {
		return int64validator.AtLeast(a.Min)
	}
	return int64validator.Between(a.Min, a.Max)
}

func rules(a attribute.Attribute) []validator.String {
	var all []validator.String
	if len(a.Values) > 0 {
		all = append(all, stringvalidator.OneOf(a.Values...))
	}
	if a.Pattern != "" {
		all = append(all, stringvalidator.RegexMatches(regexp.MustCompile(a.Pattern), "must be "+a.Form))
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
		text := limited(a)
		if a.Default != "" && Standard(a) == nil {
			text += " Null: " + a.Default + "."
		}
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
		case "document":
			all[a.Name] = data.StringAttribute{Computed: true, MarkdownDescription: text, CustomType: DocumentType{}}
		case "object":
			all[a.Name] = data.SingleNestedAttribute{Computed: true, MarkdownDescription: text, Attributes: Known(a.Fields)}
		default:
			all[a.Name] = data.StringAttribute{Computed: true, MarkdownDescription: text, Validators: rules(a)}
		}
	}
	return all
}

// Standard is the value of a fixed attribute that is absent: to set it is no change. nil: none, or its default is not a
// value.
func Standard(a attribute.Attribute) attr.Value {
	if !a.Fixed || a.Measured {
		return nil
	}
	if number, err := strconv.ParseInt(a.Default, 10, 64); err == nil && a.Type == "int" {
		return types.Int64Value(number)
	}
	if truth, err := strconv.ParseBool(a.Default); err == nil && a.Type == "bool" {
		return types.BoolValue(truth)
	}
	if slices.Contains(a.Values, a.Default) {
		return types.StringValue(a.Default)
	}
	return nil
}

// declaredText is the text of an attribute in a resource.
func declaredText(a attribute.Attribute) string {
	text := limited(a)
	switch {
	case a.Measured && a.Required:
		text += " Default: read from the image."
	case a.Measured:
		text += " Default: read from the image; null when nothing is read."
	case a.Default != "":
		text += " Default: " + a.Default + "."
	}
	if a.Fixed {
		text += " A change replaces the resource."
	}
	return text
}

// limited is the text of an attribute with its values.
func limited(a attribute.Attribute) string {
	text := a.Text
	if a.Type == "document" {
		text += " A mapping is written by jsonencode."
	} else if len(a.Values) > 0 {
		text += " One of `" + strings.Join(a.Values, "`, `") + "`."
	}
	if a.Type == "strings" || a.Type == "objects" || a.Type == "map" {
		text += " At most " + strconv.FormatInt(a.Max, 10) + "."
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
	case "document":
		return DocumentType{}
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
