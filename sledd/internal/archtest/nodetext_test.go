// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sled-fleet/sled/sledd/api"
)

// inspect calls a function for every node of the syntax of sledd, without tests, with the file.
func inspect(t *testing.T, visit func(path string, node ast.Node)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			visit(path, node)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// makers lists who may make text of nodes, by function of package nodetext: what nodes send is checked in one package.
// Claims are checked by package admission, which stores plain text; fleet and events (nodetx) show it. The address of a
// request (intake) is not text of the node, but has the same type. The sender of multicast hears nodes.
var makers = map[string][]string{
	"ParseAddress": {"intake", "report"}, "ParseDigest": {"multicast", "report"}, "ParseHostKey": {"report"},
	"ParseIdentifier": {"multicast", "report"}, "ParseProse": {"report"}, "CleanIdentifier": {"fleet", "nodetx"},
}

func TestTextOfNodesIsParsedInOnePackage(t *testing.T) {
	calls := 0
	inspect(t, func(path string, node ast.Node) {
		folder := filepath.Base(filepath.Dir(path))
		selector, is := node.(*ast.SelectorExpr)
		if !is || strings.HasPrefix(folder, "nodetext") {
			return
		}
		packageName, is := selector.X.(*ast.Ident)
		if !is || packageName.Name != "nodetext" {
			return
		}
		allowed, restricted := makers[selector.Sel.Name]
		if restricted {
			calls++
		}
		if restricted && !slices.Contains(allowed, folder) {
			t.Errorf("%s calls nodetext.%s: text of nodes is parsed in package %v", path, selector.Sel.Name, allowed)
		}
	})
	if calls < 5 {
		t.Errorf("%d calls were found", calls)
	}
}

// What the sender of multicast reports has no plain text.
func TestTextOfTheSenderHasATypeOfNodetext(t *testing.T) {
	session := reflect.TypeFor[api.MulticastSession]()
	for i := range session.NumField() {
		if field := session.Field(i); field.Type.Kind() == reflect.String {
			t.Errorf("api.MulticastSession.%s is a plain %s", field.Name, field.Type)
		}
	}
}
