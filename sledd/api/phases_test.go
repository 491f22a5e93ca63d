// SPDX-License-Identifier: Apache-2.0

package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// declared are the constants of type Phase, as the source has them.
func declared(t *testing.T) []Phase {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "words.gen.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []Phase
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Phase" {
			for _, value := range spec.Values {
				text, err := strconv.Unquote(value.(*ast.BasicLit).Value) //nolint:forcetypeassert // a constant is a literal here
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, Phase(text))
			}
		}
		return false
	})
	return found
}

func TestPhasesAreAllThereAre(t *testing.T) {
	if want := declared(t); !slices.Equal(Phases(), want) {
		t.Errorf("got %v, the constants are %v", Phases(), want)
	}
}
