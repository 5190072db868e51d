package ptx

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// parseFile reads a module of testdata.
func parseFile(t testing.TB, name string) *syntax.Module {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	m, err := syntax.Parse(name, text)
	require.NoError(t, err)
	return m
}
