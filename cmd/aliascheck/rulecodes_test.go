package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// codeTables are the files that list rules by code for what is shown to people. They
// decide nothing by it.
func codeTables() []string {
	return []string{"cmd/aliascheck/selftest/rules.go", "cudarun/selftest.go"}
}

// TestRuleCodesDecideNothing: what is done with a rule's findings is in fields of the
// rule. No code stands anywhere else as a value: each in its own rule's file,
// where a report says which check was not made, and in tables for people.
func TestRuleCodesDecideNothing(t *testing.T) {
	root := filepath.Join("..", "..")
	code := regexp.MustCompile(`^AC\d{3}$`)
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		require.NoError(t, err)
		if slices.Contains(codeTables(), filepath.ToSlash(rel)) {
			return nil
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		require.NoError(t, err)
		fine := map[ast.Node]bool{}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && (key.Name == "Code" && filepath.Dir(rel) == "rules" || key.Name == "Check") {
					fine[kv.Value] = true
				}
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			if !code.MatchString(text) {
				return true
			}
			if !fine[lit] {
				t.Errorf("%s: %s decides something here: make it a field of the rule", set.Position(lit.Pos()), text)
			}
			seen[text] = true
			return true
		})
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, len(seen), 20, "the rules' own files were seen")
}
