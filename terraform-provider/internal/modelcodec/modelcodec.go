// SPDX-License-Identifier: Apache-2.0

// Package modelcodec reads and writes all attributes of a resource at once. The framework's Get and Set compile a
// regular expression for each field of the struct, each time: with 500 resources that is a tenth of the provider's CPU
// time.
package modelcodec

import (
	"context"
	"fmt"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Layout is where the attributes of a schema are in the struct M, by its tfsdk tags.
type Layout[M any] struct {
	fields []field
	object tftypes.Object
}

type field struct {
	name  string
	index []int
	typ   attr.Type
}

// Of returns the layout of M. It panics if a field and an attribute have no counterpart: that is an error of the
// provider, which the first use shows.
func Of[M any](s schema.Schema) Layout[M] {
	ctx := context.Background()
	l := Layout[M]{object: tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}}
	for _, one := range reflect.VisibleFields(reflect.TypeFor[M]()) {
		name, tagged := one.Tag.Lookup("tfsdk")
		if !tagged {
			continue
		}
		attribute, found := s.Attributes[name]
		if !found {
			panic("no attribute " + name + " in the schema")
		}
		l.fields = append(l.fields, field{name: name, index: one.Index, typ: attribute.GetType()})
		l.object.AttributeTypes[name] = attribute.GetType().TerraformType(ctx)
	}
	if len(l.fields) != len(s.Attributes) {
		panic(fmt.Sprintf("%d fields for %d attributes", len(l.fields), len(s.Attributes)))
	}
	return l
}

// Read fills m from a plan, state or configuration.
func (l Layout[M]) Read(ctx context.Context, raw tftypes.Value, m *M) diag.Diagnostics {
	var values map[string]tftypes.Value
	if err := raw.As(&values); err != nil {
		return unreadable(err)
	}
	to := reflect.ValueOf(m).Elem()
	for _, one := range l.fields {
		value, err := one.typ.ValueFromTerraform(ctx, values[one.name])
		if err != nil {
			return unreadable(fmt.Errorf("%s: %w", one.name, err))
		}
		to.FieldByIndex(one.index).Set(reflect.ValueOf(value))
	}
	return nil
}

// Write is m as a plan or state.
func (l Layout[M]) Write(ctx context.Context, m *M) (tftypes.Value, diag.Diagnostics) {
	values, from := make(map[string]tftypes.Value, len(l.fields)), reflect.ValueOf(m).Elem()
	for _, one := range l.fields {
		value, _ := from.FieldByIndex(one.index).Interface().(attr.Value)
		raw, err := value.ToTerraformValue(ctx)
		if err != nil {
			return tftypes.Value{}, unreadable(fmt.Errorf("%s: %w", one.name, err))
		}
		values[one.name] = raw
	}
	if err := tftypes.ValidateValue(l.object, values); err != nil {
		return tftypes.Value{}, unreadable(err)
	}
	return tftypes.NewValue(l.object, values), nil
}

func unreadable(err error) diag.Diagnostics {
	return diag.Diagnostics{diag.NewErrorDiagnostic("Internal error of the provider", err.Error()+"; please report this")}
}
