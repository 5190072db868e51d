package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files anew")
	flag.Parse()
	os.Exit(m.Run())
}

// golden holds a text to a file, which -update writes.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "text", name)
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// lines are source files by name and line.
type lines map[string]string

func (l lines) Line(file string, line int, _ string) (text, path string, ok bool) {
	text, ok = l[file]
	return text, "/here" + file, ok
}

func TestText(t *testing.T) {
	sources := lines{
		"/home/me/project/tests/test_sort.py": "out = sort_inplace(x)",
		"/home/me/project/kernels/sort.py":    "v = tl.load(source + row * columns + lane, mask=keep)\t# a long line that is cut somewhere",
	}
	replay := func(*rules.Finding) string { return "aliascheck replay --finding f" }
	for _, c := range []struct {
		name    string
		write   Writer
		options Options
	}{
		{"short.txt", Text, Options{Sources: sources, Replay: replay, SrcRoot: "/home/me/project"}},
		{"verbose.txt", Text, Options{Sources: sources, Replay: replay, SrcRoot: "/home/me/project", Verbose: true}},
		{"narrow.txt", Text, Options{Sources: sources, Width: 50}},
		{"concise.txt", Concise, Options{SrcRoot: "/home/me/project"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, c.write(&out, sample(), c.options))
			golden(t, c.name, out.String())
			for line := range strings.SplitSeq(out.String(), "\n") {
				assert.Equal(t, strings.TrimRight(line, " "), line)
			}
		})
	}
}

// The gravest finding is the last, where a terminal stands.
func TestErrorsAreLast(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Text(&out, sample(), Options{}))
	note, warning, grave := strings.Index(out.String(), "note AC202"), strings.Index(out.String(), "warning AC301"), strings.Index(out.String(), "error AC201")
	assert.True(t, 0 <= note && note < warning && warning < grave)
}

// Links are for terminals, and lead to files that are here.
func TestLinks(t *testing.T) {
	var out bytes.Buffer
	o := Options{Links: true, Sources: lines{"/home/me/project/tests/test_sort.py": "x"}}
	require.NoError(t, Text(&out, sample(), o))
	assert.Regexp(t, `\x1b\]8;;file://[^/]*/here/home/me/project/tests/test_sort.py#L81\x1b\\/home/me/project/tests/test_sort.py:81 in sort_inplace\x1b\]8;;\x1b\\`, out.String())
	assert.NotContains(t, out.String(), "sort.py#L40", "the kernel's file is not here")
	out.Reset()
	require.NoError(t, Text(&out, hostile(), Options{}))
	assert.NotContains(t, out.String(), "\x1b")
	out.Reset()
	require.NoError(t, Concise(&out, hostile(), Options{}))
	assert.NotContains(t, out.String(), "\x1b")
}

func TestNothingFound(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Text(&out, &rules.Report{Summary: rules.Summary{Modules: 1, CustomCalls: 3, Library: 3}}, Options{}))
	assert.Contains(t, out.String(), "nothing found in 3 custom calls\n")
}
