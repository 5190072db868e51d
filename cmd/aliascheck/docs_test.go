package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"
	"aliascheck/rules/settings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestGuideHasARowForEachCode holds the guide to the rules, and to nothing else.
func TestGuideHasARowForEachCode(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "guide.md"))
	require.NoError(t, err)
	var want, got []string
	for _, r := range rules.All() {
		want = append(want, r.Code)
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (AC\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	assert.Equal(t, want, got)
	for _, format := range report.Formats() {
		assert.Contains(t, string(text), "| "+format+" |")
	}
}

// TestReadmeShowsWhatIsPrinted audits the dump that the first screen of the README shows,
// in a project with the programs that made it and without a configuration.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	root := repository(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)```\n\\$ aliascheck dump_dir/\n(.*?)```\n").FindSubmatch(text)
	require.NotNil(t, shown)
	project := t.TempDir()
	for _, name := range []string{"sort_inplace_declared", "sort_unclaimed_ffi", "softmax_inplace"} {
		from := os.DirFS(filepath.Join(root, "testdata", "dumps", name))
		require.NoError(t, os.CopyFS(filepath.Join(project, "dump_dir", name), from))
	}
	for _, name := range []string{"programs.py", "kernels.py", "tcall.py"} {
		code, err := os.ReadFile(filepath.Join(root, "testdata", "lab", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(project, name), code, 0o644))
	}
	t.Setenv("COLUMNS", "80")
	t.Chdir(project)
	var stdout, stderr bytes.Buffer
	code := run([]string{"--no-cache", "--replay", "emulate", "dump_dir/"}, nil, &stdout, &stderr)
	assert.Equal(t, cli.ExitFindings, code)
	assert.Equal(t, string(shown[1]), stdout.String())
	assert.Empty(t, stderr.String())
	if testing.Verbose() {
		t.Log("\n" + stdout.String())
	}
}

// TestReadmeShowsATrainingStep audits the dump of the training step that the README shows.
func TestReadmeShowsATrainingStep(t *testing.T) {
	root := repository(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)```\n\\$ aliascheck train_dump/\n(.*?)```\n").FindSubmatch(text)
	require.NotNil(t, shown)
	t.Setenv("COLUMNS", "80")
	var stdout, stderr bytes.Buffer
	dump := filepath.Join(root, "testdata", "assignment", "optax_adamw")
	code := run([]string{"--no-cache", "--replay", "emulate", dump}, nil, &stdout, &stderr)
	assert.Equal(t, cli.ExitFindings, code)
	assert.Equal(t, string(shown[1]), strings.ReplaceAll(stdout.String(), dump, "train_dump"))
	assert.Empty(t, stderr.String())
}

// TestDocumentsNameRealFlags looks up every flag of ours that the documents name.
func TestDocumentsNameRealFlags(t *testing.T) {
	known := map[string]bool{"help": true}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, line := range strings.Split(c.Flags().FlagUsages(), "\n") {
			for _, word := range strings.Fields(line) {
				if name, ok := strings.CutPrefix(word, "--"); ok {
					known[strings.TrimRight(name, ",")] = true
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand(&cli.App{}))
	root := repository(t)
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, name := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "SECURITY.md"), filepath.Join(root, "docs", "ci", "aliascheck.mk")) {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("(?:^|[\\s`\"])--([a-z][a-z0-9_-]*)").FindAllStringSubmatch(string(text), -1) {
			// XLA's, podman's and the tools' own.
			if strings.HasPrefix(m[1], "xla_") || m[1] == "rm" {
				continue
			}
			assert.True(t, known[m[1]], "%s: no flag --%s", filepath.Base(name), m[1])
		}
	}
}

// TestLinksLeadSomewhere follows the documents' links into the repository.
func TestLinksLeadSomewhere(t *testing.T) {
	root := repository(t)
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, name := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "SECURITY.md"), filepath.Join(root, "CHANGELOG.md")) {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(m[1], "://") {
				assert.FileExists(t, filepath.Join(filepath.Dir(name), m[1]), filepath.Base(name))
			}
		}
	}
}

// TestSchemaOfTheConfiguration holds the published schema to the reader of the file: what
// one takes the other takes, and both refuse the same.
func TestSchemaOfTheConfiguration(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(repository(t), "docs", "aliascheck.schema.json"))
	require.NoError(t, err)
	takes := func(text string) (bySchema, byReader error) {
		var value any
		require.NoError(t, yaml.Unmarshal([]byte(text), &value))
		b, err := json.Marshal(value) // the schema speaks of JSON: a date is text there
		require.NoError(t, err)
		value, err = jsonschema.UnmarshalJSON(bytes.NewReader(b))
		require.NoError(t, err)
		_, byReader = settings.ParseConfig("c.yaml", []byte(text))
		return schema.Validate(value), byReader
	}
	ours, err := os.ReadFile(filepath.Join(repository(t), "testdata", "dumps", audit.DefaultConfig))
	require.NoError(t, err)
	for _, good := range []string{
		string(ours), firstConfig(&rules.Report{}), "version: 1\n", "select: [AC2, unsafe-in-place]\nignore: [AC210]\nseverity: {AC202: warning}\n",
		"suppress: [{code: AC201, kernel: k, operand: 0, result: \"{1}\", reason: r, expires: \"2027-01-31\"}]\n",
		"kernels: [{name: k, unsafe: [{operand: 0, result: 1}], reason: r}]\nlibrary-targets: [x*]\nlibrary-code: [a.py]\n",
		"replay: {imports: [my_kernels]}\n",
		"programs: [{function: \"k.py:f\", args: \"f32[2]\", donate: 0, static: [1], mesh: \"2\", targets: [h100]}]\n",
	} {
		bySchema, byReader := takes(good)
		assert.NoError(t, bySchema, good)
		assert.NoError(t, byReader, good)
	}
	for _, bad := range []string{
		"version: 2\n", "supress: []\n", "severity: {AC202: fatal}\n", "select: AC2\n", "suppress: [{code: AC201, reason: r}]\n",
		"suppress: [{code: AC201, kernel: k}]\n", "replay: {import: [a]}\n", "kernels: [{name: k}]\n", "kernels: [{name: k, unsafe: [{operand: -1, result: 0}]}]\n",
		"suppress: [{code: AC201, kernel: k, result: one, reason: r}]\n", "programs: [{name: x}]\n",
	} {
		bySchema, byReader := takes(bad)
		assert.Error(t, bySchema, bad)
		assert.Error(t, byReader, bad)
	}
	// Every key that the reader knows is one of the schema.
	_, err = settings.ParseConfig("c.yaml", []byte("no-such-key: 1\n"))
	require.Error(t, err)
	known := regexp.MustCompile(`one of (.*) was expected`).FindStringSubmatch(err.Error())
	require.NotNil(t, known)
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "aliascheck.schema.json"))
	require.NoError(t, err)
	var published struct{ Properties map[string]any }
	require.NoError(t, json.Unmarshal(text, &published))
	for key := range strings.SplitSeq(known[1], ", ") {
		assert.Contains(t, published.Properties, key)
	}
}
