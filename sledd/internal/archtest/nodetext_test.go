// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// makers lists who may make text of nodes, by function of package nodetext: what nodes send is checked in one package.
// Claims are checked by package admission, which stores plain text; fleet and events (nodetx) show it. The address of a
// request (intake) is not text of the node, but has the same type.
var makers = map[string][]string{
	"ParseAddress": {"intake", "report"}, "ParseDigest": {"report"}, "ParseHostKey": {"report"},
	"ParseIdentifier": {"report"}, "ParseProse": {"report"}, "CleanIdentifier": {"fleet", "nodetx"},
}

func TestTextOfNodesIsParsedInOnePackage(t *testing.T) {
	calls := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		folder := filepath.Base(filepath.Dir(path))
		if strings.HasPrefix(folder, "nodetext") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, is := node.(*ast.SelectorExpr)
			if !is {
				return true
			}
			packageName, is := selector.X.(*ast.Ident)
			if !is || packageName.Name != "nodetext" {
				return true
			}
			allowed, restricted := makers[selector.Sel.Name]
			if restricted {
				calls++
			}
			if restricted && !slices.Contains(allowed, folder) {
				t.Errorf("%s calls nodetext.%s: text of nodes is parsed in package %v", path, selector.Sel.Name, allowed)
			}
			return true
		})
		return nil
	})
	if err != nil || calls < 5 {
		t.Errorf("%d calls were found: %v", calls, err)
	}
}
