package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func completion(t *testing.T, shell string) string {
	var out bytes.Buffer
	require.Zero(t, run([]string{"completion", shell}, strings.NewReader(""), &out, &out), out.String())
	path := filepath.Join(t.TempDir(), "aliascheck."+shell)
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
	return path
}

// TestCompletionIsRead has each shell read its script; a shell that is not here is skipped.
func TestCompletionIsRead(t *testing.T) {
	for shell, command := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"},
		"powershell": {"pwsh", "-NoProfile", "-File"},
	} {
		t.Run(shell, func(t *testing.T) {
			path := completion(t, shell)
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skip(err)
			}
			out, err := exec.Command(command[0], append(command[1:], path)...).CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Empty(t, string(out))
		})
	}
}

// TestBashCompletes types half a word and presses tab.
func TestBashCompletes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	const helpers = "/usr/share/bash-completion/bash_completion"
	if _, err := os.Stat(helpers); err != nil {
		t.Skip(err) // bash's scripts of completion rest on them
	}
	dir := t.TempDir()
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "aliascheck"), ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	script := completion(t, "bash")
	for typed, want := range map[string]string{
		"aliascheck ru":           "rules run",
		"aliascheck ten":          "tensormap",
		"aliascheck run --dump":   "--dump-dir",
		"aliascheck --fail":       "--fail-on",
		"aliascheck run --keep n": "none",
		"aliascheck --format sa":  "sarif",
		"aliascheck explain AC20": "AC201 AC206",
	} {
		text := `source ` + helpers + `; source "$SCRIPT"
			COMP_LINE="$TYPED" COMP_POINT=${#TYPED} COMP_TYPE=9 COMP_KEY=9
			read -ra COMP_WORDS <<< "$TYPED"
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			__start_aliascheck
			for word in "${COMPREPLY[@]}"; do read -r first _ <<< "$word"; echo "$first"; done | sort`
		cmd := exec.Command("bash", "--noprofile", "--norc", "-c", text)
		cmd.Env = append(os.Environ(), "SCRIPT="+script, "TYPED="+typed, "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		got := strings.Fields(strings.ReplaceAll(string(out), "=", ""))
		for _, word := range strings.Fields(want) {
			assert.Contains(t, got, word, typed)
		}
	}
}
