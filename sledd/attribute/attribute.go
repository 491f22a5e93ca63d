// SPDX-License-Identifier: Apache-2.0

// Package attribute describes what operators declare of nodes and images, for command lines and schemas. The tables are
// generated from contract/words/.
package attribute

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Attribute describes one field of api.NodeSpec or api.ImageSpec. The keys are explained in contract/words/nodes.yml.
type Attribute struct {
	Name, Type      string
	Required        bool
	Fixed, Measured bool // contract/words/images.yml
	ByHand          bool
	Values          []string
	Default         string
	Min, Max        int64 // 0: no limit
	Pattern, Form   string
	Text            string // in Markdown, with what a change does
	Flag            string // empty: none
	Help, Value     string
	Fields          []Attribute
}

// Plain are the attributes of a list that are no more than values.
func Plain(list []Attribute) []Attribute {
	return slices.DeleteFunc(slices.Clone(list), func(one Attribute) bool { return one.ByHand })
}

// Field is the attribute in a declaration, which is a pointer to an api.NodeSpec or api.ImageSpec.
func (a Attribute) Field(spec any) reflect.Value {
	whole := reflect.ValueOf(spec).Elem()
	for _, field := range reflect.VisibleFields(whole.Type()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == a.Name {
			return whole.FieldByIndex(field.Index)
		}
	}
	panic(fmt.Sprintf("%T has no %s", spec, a.Name)) // both are generated from one table
}

// Meant is its value in a declaration, or what an absent one means.
func (a Attribute) Meant(spec any) any {
	field := a.Field(spec)
	if field.IsZero() && len(a.Values) > 0 {
		return a.Default
	}
	return field.Interface()
}

// Title is the name for people.
func (a Attribute) Title() string { return strings.ReplaceAll(a.Name, "_", " ") }
