// SPDX-License-Identifier: Apache-2.0

package desired_test

import (
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sled-fleet/sled/sledd/api"
	"github.com/sled-fleet/sled/terraform-provider/internal/desired"
)

// undeclared are the fields of a binding that no attribute of Terraform declares.
var undeclared = map[string]bool{"Node": true, "Capture": true, "UserData": true, "Owner": true}

// stateWith has one field that is not empty.
func stateWith(t *testing.T, name string) desired.State {
	t.Helper()
	var state desired.State
	switch field := reflect.ValueOf(&state).Elem().FieldByName(name); field.Interface().(type) {
	case string:
		field.SetString("x")
	case bool:
		field.SetBool(true)
	case []string:
		field.Set(reflect.ValueOf([]string{"x", "y"}))
	default:
		t.Fatalf("%s has type %s", name, field.Type())
	}
	return state
}

func fields() []string {
	names := []string{"UserDataSHA256"}
	for field := range reflect.TypeFor[api.BindingSpec]().Fields() {
		if !undeclared[field.Name] {
			names = append(names, field.Name)
		}
	}
	return names
}

// Each field of a binding survives the way into a model and back, and is compared.
func TestAttributesCopyEveryField(t *testing.T) {
	for _, name := range fields() {
		state := stateWith(t, name)
		var attributes desired.Attributes
		attributes.Take(state)
		if got := attributes.State(); !reflect.DeepEqual(got, state) {
			t.Errorf("%s: got %+v, want %+v", name, got, state)
		}
		bound, other := state, desired.State{}
		if name != "Image" { // without one, the method of a wipe is part of the desired state too
			bound.Image, other.Image = "v1", "v1"
		}
		// what is requested is without it: to declare a handover is an act as well, to drop it is a matter of method
		if other.Same(bound) == other.SameMethod(bound) {
			t.Errorf("%s: it is part of the desired state or of the method, and of one only", name)
		}
		attributes.Take(desired.State{})
		if got := attributes.State(); !reflect.DeepEqual(got, desired.State{}) {
			t.Errorf("%s: not cleared: %+v", name, got)
		}
	}
}

// An unknown value is seen, whichever it is.
func TestKnownReadsEveryAttribute(t *testing.T) {
	attributes := desired.Attributes{}
	if !attributes.DesiredKnown() || !attributes.MethodKnown() {
		t.Error("null counts as unknown")
	}
	unknown := map[reflect.Type]reflect.Value{}
	for _, value := range []any{types.StringUnknown(), types.BoolUnknown(), types.ListUnknown(types.StringType)} {
		unknown[reflect.TypeOf(value)] = reflect.ValueOf(value)
	}
	for _, name := range fields() {
		attributes := desired.Attributes{}
		field := reflect.ValueOf(&attributes).Elem().FieldByName(name)
		field.Set(unknown[field.Type()])
		if attributes.DesiredKnown() && attributes.MethodKnown() {
			t.Errorf("%s: unknown and not seen", name)
		}
		if attributes.MethodKnown() == attributes.SameMethod(&desired.Shared{}) {
			continue
		}
		t.Errorf("%s: an unknown method is never the same", name)
	}
}

// The schemas have the attributes of the models, and no others.
func TestSchemaMatchesModel(t *testing.T) {
	tags := map[string]bool{}
	for _, part := range []reflect.Type{reflect.TypeFor[desired.Shared](), reflect.TypeFor[desired.Attributes]()} {
		for field := range part.Fields() {
			if tag := field.Tag.Get("tfsdk"); tag != "" {
				tags[tag] = true
			}
		}
	}
	schema := desired.SharedSchema()
	for name, attribute := range desired.OwnSchema() {
		schema[name] = attribute
	}
	for name := range schema {
		if !tags[name] {
			t.Errorf("no field for attribute %s", name)
		}
		delete(tags, name)
	}
	for name := range tags {
		t.Errorf("no attribute for field %s", name)
	}
}

func TestSumOf(t *testing.T) {
	for _, c := range []struct{ data, want types.String }{
		{types.StringNull(), types.StringNull()}, {types.StringValue(""), types.StringNull()},
		{types.StringUnknown(), types.StringUnknown()},
		{types.StringValue("x"), types.StringValue(api.UserDataHash("1", "x"))},
	} {
		if got, _ := desired.SumOf(c.data, "1"); !got.Equal(c.want) {
			t.Errorf("%s: got %s, want %s", c.data, got, c.want)
		}
		_, diagnostics := desired.SumOf(c.data, "")
		if secret := c.data.ValueString() != ""; diagnostics.HasError() != secret {
			t.Errorf("%s without the key: %v", c.data, diagnostics)
		}
	}
}
