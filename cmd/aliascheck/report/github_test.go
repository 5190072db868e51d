package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// command is a workflow command as GitHub's runner reads it.
type command struct {
	level      string
	properties map[string]string
	data       string
}

// readCommands reads output as the runner does: line by line, whatever begins with
// :: is a command (actions/runner, ActionCommand.TryParseV2).
func readCommands(t *testing.T, out string) (commands []command, plain []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "::") {
			plain = append(plain, line)
			continue
		}
		head, data, ok := strings.Cut(line[2:], "::")
		require.True(t, ok, line)
		level, list, _ := strings.Cut(head, " ")
		c := command{level: level, properties: map[string]string{}, data: unescape(data)}
		for _, p := range strings.Split(list, ",") {
			key, value, ok := strings.Cut(p, "=")
			require.True(t, ok, "property %q", p)
			c.properties[key] = unescape(value)
		}
		commands = append(commands, c)
	}
	return commands, plain
}

func unescape(s string) string {
	return strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(s)
}

func gitHub(t *testing.T, r *rules.Report, o Options) ([]command, []string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, GitHub(&out, r, o))
	return readCommands(t, out.String())
}

func TestGitHubAnnotatesTheGravestFirst(t *testing.T) {
	commands, plain := gitHub(t, sample(), Options{SrcRoot: "/home/me/project"})
	require.Len(t, commands, 4)
	first := commands[0]
	assert.Equal(t, "error", first.level)
	assert.Equal(t, map[string]string{"file": "tests/test_sort.py", "line": "81", "title": "AC201 unsafe-in-place"}, first.properties)
	assert.Contains(t, first.data, "not safe in place: 30% of it is read late.\nWhy: Elements")
	assert.Contains(t, first.data, "12 equal calls\nTests: tests/test_sort.py::test_grad")
	assert.Equal(t, "warning", commands[1].level)
	assert.Equal(t, "notice", commands[2].level)
	assert.NotContains(t, commands[2].properties, "file")
	assert.Equal(t, "error", commands[3].level, "an input that was not read whole")
	require.Len(t, plain, 1)
	assert.Equal(t, "aliascheck: 1 error, 1 warning, 1 note. 3 modules, 5 custom calls: 3 analysed, 1 library, 1 not analysed. 1 suppressed.", plain[0])
}

func TestGitHubEscapes(t *testing.T) {
	r := many(1)
	r.Findings[0].Source.File = "a,b:c%2C.py"
	r.Findings[0].Rule = "x:y,z%"
	r.Findings[0].Message = "100% of a,b:c"
	var out bytes.Buffer
	require.NoError(t, GitHub(&out, r, Options{}))
	line, _, _ := strings.Cut(out.String(), "\n")
	assert.True(t, strings.HasPrefix(line, "::error file=a%2Cb%3Ac%252C.py,line=1,title=AC201 x%3Ay%2Cz%25::100%25 of a,b:c%0AWhy: "), line)
}

func TestGitHubCountsWhatItDoesNotShow(t *testing.T) {
	commands, plain := gitHub(t, many(30), Options{})
	assert.Len(t, commands, 1+githubPerLevel, "the error, and ten warnings")
	assert.Equal(t, "error", commands[0].level)
	assert.Contains(t, plain[0], "the 11 gravest are annotated")
}

func TestGitHubOfHostileNames(t *testing.T) {
	commands, plain := gitHub(t, hostile(), Options{})
	assert.Len(t, commands, 4, "no name makes another command")
	assert.Len(t, plain, 1)
	for _, c := range commands {
		assert.NotContains(t, c.data, "\x1b")
		assert.NotContains(t, c.data, "\n::")
	}
}

func TestGitHubAppendsToTheJobSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, os.WriteFile(path, []byte("before\n"), 0o600))
	gitHub(t, sample(), Options{StepSummary: path})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "before\n"))
	assert.Contains(t, string(text), "1 error, 1 warning, 1 note")
	assert.Contains(t, string(text), "AC201")

	var out bytes.Buffer
	err = GitHub(&out, sample(), Options{StepSummary: t.TempDir()})
	assert.ErrorContains(t, err, "job summary")
}
