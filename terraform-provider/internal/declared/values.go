// SPDX-License-Identifier: Apache-2.0

package declared

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/sled-fleet/sled/sledd/attribute"
)

// Values are the values of a model, which is a pointer to a generated struct, by name.
func Values(model any) map[string]attr.Value {
	all, from := map[string]attr.Value{}, reflect.ValueOf(model).Elem()
	for _, field := range reflect.VisibleFields(from.Type()) {
		all[field.Tag.Get("tfsdk")], _ = from.FieldByIndex(field.Index).Interface().(attr.Value)
	}
	return all
}

// Fill copies the values of a model to a declaration, which has its fields under the same names.
func Fill(spec, model any) {
	fields := map[string]any{}
	for name, value := range Values(model) {
		if content := plain(value); content != nil {
			fields[name] = content
		}
	}
	text, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(text, spec)
	}
	if err != nil {
		panic(fmt.Sprintf("%T does not fit %T: %v", model, spec, err)) // both are generated from one table
	}
}

// plain is the content of a value; nil for null and for an unknown one.
func plain(value attr.Value) any {
	if value.IsNull() || value.IsUnknown() {
		return nil
	}
	switch value := value.(type) {
	case types.Bool:
		return value.ValueBool()
	case types.Int64:
		return value.ValueInt64()
	case types.String:
		return value.ValueString()
	case Document:
		return value.canonical()
	case types.List:
		list := []any{}
		for _, one := range value.Elements() {
			list = append(list, plain(one))
		}
		return list
	case types.Map:
		return members(value.Elements())
	case types.Object:
		return members(value.Attributes())
	}
	return nil
}

func members(values map[string]attr.Value) map[string]any {
	all := map[string]any{}
	for name, value := range values {
		all[name] = plain(value)
	}
	return all
}

// Take copies a declaration to a model. sledd leaves out what is empty, so an empty value in the configuration stays.
func Take(ctx context.Context, model, spec any, list []attribute.Attribute) {
	stored := map[string]any{}
	text, err := json.Marshal(spec)
	if err == nil {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		err = decoder.Decode(&stored)
	}
	to, values := reflect.ValueOf(model).Elem(), Values(model)
	for _, a := range list {
		old, found := values[a.Name]
		if !found || stored[a.Name] == nil && isEmpty(old) {
			continue
		}
		if content, document := stored[a.Name].(map[string]any); document && a.Type == "document" {
			stored[a.Name] = string(textOf(content))
		}
		value, fault := typeOf(a).ValueFromTerraform(ctx, raw(ctx, typeOf(a), stored[a.Name]))
		if standard := Standard(a); standard != nil && stored[a.Name] == nil {
			value = standard
		}
		if err == nil && fault != nil {
			err = fault
		}
		for _, field := range reflect.VisibleFields(to.Type()) {
			if field.Tag.Get("tfsdk") == a.Name && err == nil {
				to.FieldByIndex(field.Index).Set(reflect.ValueOf(withEmpty(ctx, value, old)))
			}
		}
	}
	if err != nil {
		panic(fmt.Sprintf("%T does not fit %T: %v", spec, model, err))
	}
}

// textOf is a document as sledd writes it.
func textOf(content map[string]any) []byte {
	text, _ := json.Marshal(content) // it was decoded from one
	return text
}

// withEmpty is a value with what is empty within the old one.
func withEmpty(ctx context.Context, value, old attr.Value) attr.Value {
	now, isObject := value.(types.Object)
	before, wasObject := old.(types.Object)
	if !isObject || !wasObject || now.IsNull() {
		return value
	}
	all := now.Attributes()
	for name, one := range before.Attributes() {
		if all[name].IsNull() && isEmpty(one) {
			all[name] = one
		}
	}
	return types.ObjectValueMust(now.AttributeTypes(ctx), all)
}

func isEmpty(value attr.Value) bool {
	if value.IsNull() || value.IsUnknown() {
		return false
	}
	switch value := value.(type) {
	case types.Bool:
		return !value.ValueBool()
	case types.Int64:
		return value.ValueInt64() == 0
	case types.String:
		return value.ValueString() == ""
	case Document:
		return value.ValueString() == ""
	case types.List:
		return len(value.Elements()) == 0
	case types.Map:
		return len(value.Elements()) == 0
	}
	return false
}

// raw is a JSON value as Terraform has it.
func raw(ctx context.Context, kind attr.Type, content any) tftypes.Value {
	typ := kind.TerraformType(ctx)
	switch content := content.(type) {
	case json.Number:
		number, _ := content.Int64()
		return tftypes.NewValue(typ, number)
	case []any:
		list, _ := kind.(types.ListType)
		values := make([]tftypes.Value, len(content))
		for i, one := range content {
			values[i] = raw(ctx, list.ElemType, one)
		}
		return tftypes.NewValue(typ, values)
	case map[string]any:
		values := map[string]tftypes.Value{}
		switch kind := kind.(type) {
		case types.MapType:
			for name, one := range content {
				values[name] = raw(ctx, kind.ElemType, one)
			}
		case types.ObjectType:
			for name, one := range kind.AttrTypes {
				values[name] = raw(ctx, one, content[name])
			}
		}
		return tftypes.NewValue(typ, values)
	}
	return tftypes.NewValue(typ, content)
}
