package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/man"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func manualPage(t *testing.T) []byte {
	var page bytes.Buffer
	require.NoError(t, man.Write(&page, newRootCommand(&cli.App{}), "v1.2.3", "2026-01-31"))
	return page.Bytes()
}

func TestManNamesEveryCommandAndFlag(t *testing.T) {
	page := strings.NewReplacer(`\-`, "-", `\(ga`, "`").Replace(string(manualPage(t)))
	root := newRootCommand(&cli.App{})
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		assert.Contains(t, page, c.CommandPath())
		for _, line := range strings.Split(c.LocalFlags().FlagUsages(), "\n") {
			if flag, ok := strings.CutPrefix(strings.TrimSpace(line), "--"); ok {
				flag, _, _ = strings.Cut(flag, " ")
				assert.Contains(t, page, "--"+flag)
			}
		}
	}
	assert.NotContains(t, page, "aliascheck man", "it is for packagers")
}

// The page must please the readers that people have: mandoc complains by itself,
// groff about macros and escapes that it does not know.
func TestManIsReadWithoutComplaint(t *testing.T) {
	page := manualPage(t)
	readers := [][]string{{"mandoc", "-Tlint", "-Wwarning"}, {"groff", "-man", "-Tutf8", "-ww", "-z"}}
	for _, reader := range readers {
		t.Run(reader[0], func(t *testing.T) {
			if _, err := exec.LookPath(reader[0]); err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(reader[0], reader[1:]...)
			cmd.Stdin = bytes.NewReader(page)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Empty(t, string(out))
		})
	}
}
