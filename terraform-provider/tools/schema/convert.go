// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// object is a JSON object; encoding sorts its keys.
type object map[string]any

func each[T any](all map[string]T, convert func(T) object) object {
	converted := object{}
	for name, one := range all {
		converted[name] = convert(one)
	}
	return converted
}

func schema(s *tfprotov6.Schema) object {
	return object{"version": s.Version, "block": block(s.Block)}
}

func action(s *tfprotov6.ActionSchema) object {
	return object{"block": block(s.Schema.Block)}
}

func block(b *tfprotov6.SchemaBlock) object {
	blocks := object{}
	for _, nested := range b.BlockTypes {
		blocks[nested.TypeName] = object{"nesting_mode": strings.ToLower(nested.Nesting.String()),
			"block":     block(nested.Block),
			"min_items": nested.MinItems, "max_items": nested.MaxItems}
	}
	return object{"attributes": attributes(b.Attributes), "block_types": blocks, "deprecated": b.Deprecated,
		"description": b.Description, "description_kind": kind(b.DescriptionKind)}
}

func attributes(all []*tfprotov6.SchemaAttribute) object {
	converted := object{}
	for _, a := range all {
		one := object{"required": a.Required, "optional": a.Optional, "computed": a.Computed,
			"sensitive": a.Sensitive, "write_only": a.WriteOnly,
			"deprecated": a.Deprecated, "description": a.Description, "description_kind": kind(a.DescriptionKind)}
		if a.NestedType != nil {
			one["nested_type"] = object{"nesting_mode": strings.ToLower(a.NestedType.Nesting.String()),
				"attributes": attributes(a.NestedType.Attributes)}
		} else {
			one["type"] = a.Type
		}
		converted[a.Name] = one
	}
	return converted
}

func kind(k tfprotov6.StringKind) string {
	if k == tfprotov6.StringKindMarkdown {
		return "markdown"
	}
	return "plain"
}

func identity(s *tfprotov6.ResourceIdentitySchema) object {
	converted := object{}
	for _, a := range s.IdentityAttributes {
		converted[a.Name] = object{"type": a.Type, "description": a.Description,
			"required_for_import": a.RequiredForImport, "optional_for_import": a.OptionalForImport}
	}
	return object{"version": s.Version, "attributes": converted}
}

func function(f *tfprotov6.Function) object {
	converted := object{"description": f.Description, "summary": f.Summary,
		"deprecation_message": f.DeprecationMessage, "return_type": f.Return.Type}
	parameters := make([]object, len(f.Parameters))
	for i, p := range f.Parameters {
		parameters[i] = parameter(p)
	}
	converted["parameters"] = parameters
	if f.VariadicParameter != nil {
		converted["variadic_parameter"] = parameter(f.VariadicParameter)
	}
	return converted
}

func parameter(p *tfprotov6.FunctionParameter) object {
	return object{"name": p.Name, "type": p.Type, "description": p.Description, "is_nullable": p.AllowNullValue}
}
