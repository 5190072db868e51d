package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers says what each package of the design may import of the others. Packages
// that are not listed here (helpers below one of these) count as their parent.
func layers() map[string][]string {
	return map[string][]string{
		"hlo":                      {"hlo/transcode"},
		"hlo/transcode":            {},
		"hlo/kernel":               {},
		"hlo/kernel/attribute":     {},
		"hlo/kernel/triton":        {"hlo/kernel", "hlo/kernel/attribute"},
		"hlo/kernel/mlir":          {},
		"hlo/kernel/pallas":        {"hlo/kernel", "hlo/kernel/attribute", "hlo/kernel/mlir"},
		"hlo/kernel/mosaic":        {"hlo/kernel", "hlo/kernel/attribute", "hlo/kernel/mlir"},
		"hlo/kernel/sources":       {"hlo/kernel", "hlo/kernel/triton", "hlo/kernel/pallas", "hlo/kernel/mosaic"},
		"hlo/hlotest":              {},
		"rules/ptx/syntax":         {},
		"rules/ptx":                {"rules/ptx/syntax"},
		"rules/tensormap":          {},
		"alias":                    {"hlo", "hlo/kernel"},
		"rules/replay":             {"hlo", "hlo/kernel", "alias", "rules/ptx", "rules/ptx/syntax", "rules/tensormap"},
		"rules/emulate":            {"hlo", "hlo/kernel", "rules/replay", "rules/ptx", "rules/ptx/syntax", "rules/tensormap"},
		"rules/confirm":            {"hlo/kernel", "alias", "rules/replay"},
		"rules/goldens":            {"hlo", "hlo/kernel", "hlo/kernel/sources", "alias"},
		"rules/intern":             {},
		"rules/library":            {"hlo/kernel/pallas", "alias", "rules/replay"},
		"rules/settings":           {"hlo", "rules"},
		"rules":                    {"rules/intern", "rules/library", "hlo", "hlo/kernel", "hlo/kernel/pallas", "hlo/kernel/sources", "alias", "rules/replay", "rules/ptx", "rules/tensormap"},
		"cudarun/internal/process": {},
		"cudarun/driver":           {},
		"cudarun/kernels":          {},
		"cudarun":                  {"hlo/kernel", "alias", "rules/replay", "cudarun/driver", "cudarun/kernels", "cudarun/internal/process"},
		"cudarun/jax":              {"hlo", "hlo/kernel", "alias", "rules/replay", "cudarun/internal/process"},
		"cmd/aliascheck": {"hlo", "hlo/kernel", "hlo/kernel/mosaic", "hlo/kernel/sources", "alias", "rules", "rules/settings", "rules/replay", "rules/confirm", "rules/emulate",
			"rules/ptx", "rules/ptx/syntax", "rules/tensormap", "cudarun", "cudarun/driver", "cudarun/jax", "cmd/aliascheck"},
	}
}

// owner is the listed package that a directory belongs to.
func owner(dir string) string {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, ok := layers()[dir]; ok {
			return dir
		}
	}
	return ""
}

// modulePath is what go.mod calls the module: the one place that says it.
func modulePath(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(first, "module ")
}

// TestImportsPointDownwards holds the packages to the design's arrows: tests may
// import more, code may not.
func TestImportsPointDownwards(t *testing.T) {
	root := filepath.Join("..", "..")
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
		from := owner(path.Dir(filepath.ToSlash(rel)))
		require.NotEmpty(t, from, "%s is in no package of the design", rel)
		seen[from] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range parsed.Imports {
			name, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), modulePath(t)+"/")
			if !ours {
				continue
			}
			to := owner(name)
			if to != from && !slices.Contains(layers()[from], to) {
				t.Errorf("%s imports %s: %s may import %v only", rel, name, from, layers()[from])
			}
		}
		return nil
	})
	require.NoError(t, err)
	for name := range layers() {
		if !seen[name] {
			if _, err := os.Stat(filepath.Join(root, name)); err == nil {
				t.Errorf("no code was seen in %s", name)
			}
		}
	}
}
