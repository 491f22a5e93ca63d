// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"go/ast"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// kindConstants are packages whose constants of type Kind are kinds of events; of report, all but progress.
var kindConstants = []string{"admission", "report"}

// enum lists the kinds in the API's description of a type.
func enum[T any]() []string {
	field, _ := reflect.TypeFor[T]().FieldByName("Kind")
	return strings.Split(field.Tag.Get("enum"), ",")
}

// literal is the text of a string literal; empty for another expression.
func literal(expression ast.Expr) string {
	basic, is := expression.(*ast.BasicLit)
	if !is {
		return ""
	}
	text, _ := strconv.Unquote(basic.Value)
	return text
}

// kindOf is the kind of an event that a composite literal makes; nil: it makes none, or one without a kind.
func kindOf(made *ast.CompositeLit) ast.Expr {
	name := ""
	switch written := made.Type.(type) {
	case *ast.SelectorExpr:
		name = written.Sel.Name
	case *ast.Ident:
		name = written.Name
	}
	if name != "Event" && name != "NodeEvent" {
		return nil
	}
	for _, element := range made.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		if key, is := pair.Key.(*ast.Ident); is && key.Name == "Kind" {
			return pair.Value
		}
	}
	return nil
}

// The API validates no response, so a kind that its description lacks is noticed here only.
func TestTheAPIDescribesEveryKindOfEvent(t *testing.T) {
	found := map[string]bool{}
	for _, kind := range enum[api.NodeEvent]() {
		found[kind] = true
	}
	inspect(t, func(path string, node ast.Node) {
		folder := filepath.Base(filepath.Dir(path))
		switch node := node.(type) {
		case *ast.CompositeLit:
			found[literal(kindOf(node))] = true
		case *ast.ValueSpec:
			if name, is := node.Type.(*ast.Ident); is && name.Name == "Kind" && slices.Contains(kindConstants, folder) {
				for _, value := range node.Values {
					found[literal(value)] = true
				}
			}
		}
	})
	delete(found, "")
	delete(found, "progress")
	got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(slices.Values(enum[api.Event]()))
	if !slices.Equal(got, want) {
		t.Errorf("sledd makes events of the kinds\n%v, api.Event describes\n%v", got, want)
	}
}
