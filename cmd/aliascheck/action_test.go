package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// action is an action.yml, with every key that GitHub knows and this file may use.
type action struct {
	Name        string
	Description string
	Branding    struct{ Icon, Color string }
	Inputs      map[string]struct{ Description, Default string }
	Outputs     map[string]struct{ Description, Value string }
	Runs        struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	ID    string
	Name  string
	If    string
	Shell string
	Run   string
	Uses  string
	With  map[string]string
	Env   map[string]string
}

func readAction(t *testing.T) (action, map[string]actionStep) {
	text, err := os.ReadFile(filepath.Join(repository(t), "action.yml"))
	require.NoError(t, err)
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var a action
	require.NoError(t, d.Decode(&a))
	steps := map[string]actionStep{}
	for _, s := range a.Runs.Steps {
		steps[s.ID] = s
	}
	return a, steps
}

func TestActionIsWhatGitHubTakes(t *testing.T) {
	a, steps := readAction(t)
	assert.Equal(t, "composite", a.Runs.Using)
	assert.NotEmpty(t, a.Name)
	assert.LessOrEqual(t, len(a.Description), 125, "the marketplace's limit")
	var uses []string
	for _, s := range a.Runs.Steps {
		assert.NotEqual(t, s.Run == "", s.Uses == "", "%s: either run or uses", s.Name)
		assert.Equal(t, s.Run == "", s.Shell == "", "%s: a composite action's run needs a shell", s.Name)
		assert.NotContains(t, s.Run, "${{", "%s: inputs come through the environment, never into the script's text", s.Name)
		if s.Uses != "" {
			assert.Regexp(t, `^[\w-]+/[\w/-]+@\S+$`, s.Uses)
		}
		uses = append(uses, s.If)
		for _, m := range []map[string]string{s.Env, s.With} {
			for _, v := range m {
				uses = append(uses, v)
			}
		}
	}
	for name, o := range a.Outputs {
		assert.NotEmpty(t, o.Description, name)
		uses = append(uses, o.Value)
	}
	all := strings.Join(uses, "\n")
	for name, in := range a.Inputs {
		assert.NotEmpty(t, in.Description, name)
		assert.Contains(t, all, "inputs."+name, "an input that nothing uses")
	}
	for _, m := range regexp.MustCompile(`inputs\.([\w-]+)`).FindAllStringSubmatch(all, -1) {
		assert.Contains(t, a.Inputs, m[1])
	}
	for _, m := range regexp.MustCompile(`steps\.([\w-]+)\.outputs\.([\w-]+)`).FindAllStringSubmatch(all, -1) {
		require.Contains(t, steps, m[1])
		key := strings.TrimPrefix(m[2], "exit-code")
		assert.True(t, key == "" || strings.HasSuffix(key, "-file"), m[0])
	}
}

// actionRun is a job on GitHub, as far as the action sees one.
type actionRun struct {
	t     *testing.T
	steps map[string]actionStep
	dir   string
	env   []string
}

func newActionRun(t *testing.T, releases string) *actionRun {
	dir := t.TempDir()
	arch := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	system := map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS]
	_, steps := readAction(t)
	r := &actionRun{t: t, steps: steps, dir: dir, env: []string{
		"RUNNER_TEMP=" + dir, "RUNNER_OS=" + system, "RUNNER_ARCH=" + arch, "RELEASES=" + releases, "SOURCE=" + repository(t),
		"GITHUB_PATH=" + filepath.Join(dir, "path"), "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary"), "TMPDIR=" + dir,
		"PATH=" + filepath.Join(dir, "aliascheck-bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"XDG_CACHE_HOME=" + dir,
	}}
	return r
}

func (r *actionRun) step(id string, env ...string) (string, int) {
	return script(r.t, r.dir, r.steps[id].Run, append(append([]string{}, r.env...), env...)...)
}

func (r *actionRun) outputs() map[string]string {
	text, err := os.ReadFile(filepath.Join(r.dir, "output"))
	require.NoError(r.t, err)
	require.NoError(r.t, os.Remove(filepath.Join(r.dir, "output")))
	out := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		k, v, _ := strings.Cut(line, "=")
		out[k] = v
	}
	return out
}

func TestActionInstallsAReleaseAndAudits(t *testing.T) {
	need(t, "bash", "curl", "tar", "awk")
	release, archive := buildRelease(t)
	releases := serve(t, release)
	r := newActionRun(t, releases)
	for _, version := range []string{"v1.2.3", "latest"} {
		out, code := r.step("install", "VERSION="+version)
		require.Zero(t, code, out)
		assert.Contains(t, out, archive+": OK")
		assert.Contains(t, out, runtime.GOOS+"/"+runtime.GOARCH, "it says its version")
	}

	python := filepath.Join(t.TempDir(), "python")
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\ncat >/dev/null; echo '{\"event\":\"refused\",\"error\":\"no JAX here\"}' >&3\n"), 0o755))
	// Where no version is named, the action's own ref decides.
	out, code := newActionRun(t, releases).step("install", "VERSION=", "REF=v1.2.3")
	require.Zero(t, code, out)
	assert.Contains(t, out, archive+": OK")
	at := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(at, "CHANGELOG.md"), []byte("# Changes\n\n## v1.2.3 (2026-01-31)\n\n## v1.2.2\n"), 0o644))
	out, code = newActionRun(t, releases).step("install", "VERSION=", "REF=v1", "SOURCE="+at)
	require.Zero(t, code, out)
	assert.Contains(t, out, archive+": OK")
	out, code = newActionRun(t, releases).step("install", "VERSION=", "REF=main")
	require.Zero(t, code, out)
	assert.NotContains(t, out, archive, "it was built from source")

	dumps := filepath.Join(repository(t), "testdata", "dumps")
	audits := []struct {
		env     []string
		code    int
		says    string
		reports bool
	}{
		{[]string{"DUMPS=" + dumps + "/scale_inplace\n  " + dumps + "/scale_apart\n", "COMMAND=", "EXTRA=--replay=off"}, 0, "0 errors", true},
		{[]string{"DUMPS=" + dumps + "/sort_inplace_declared", "COMMAND=", "EXTRA=--replay=off"}, 1, "::error ", true},
		{[]string{"DUMPS=" + dumps + "/sort_inplace_declared", "COMMAND=", "EXTRA=--replay=off\n--fail-on\nnever\n"}, 0, "::error ", true},
		{[]string{"DUMPS=no such dump", "COMMAND=", "EXTRA="}, 2, "no such dump", true},
		{[]string{"DUMPS=", "COMMAND=mkdir $ALIASCHECK_DUMPS/p && cp " + dumps + "/sort_inplace_declared/* $ALIASCHECK_DUMPS/p", "EXTRA=--replay=off"}, 1, "::error ", true},
		{[]string{"DUMPS=", "COMMAND=exit 42", "EXTRA="}, 42, "42", true},
		{[]string{"DUMPS=", "COMMAND=", "EXTRA="}, 2, "::error::", false},
		{[]string{"DUMPS=a", "COMMAND=b", "EXTRA="}, 2, "::error::", false},
		{[]string{"DUMPS=a", "COMMAND=", "COMPILE=k.py:f", "EXTRA="}, 2, "::error::", false},
		{[]string{"DUMPS=", "COMMAND=", "COMPILE=--target=h100,b200\n  --python=" + python + "\n k.py:f\n", "EXTRA=--fail-on\nnever"}, 2, "no JAX here", true},
	}
	for n, a := range audits {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			out, code := r.step("audit", a.env...)
			assert.Equal(t, a.code, code, out)
			assert.Contains(t, out, a.says)
			if a.reports {
				got := r.outputs()
				assert.Equal(t, fmt.Sprint(a.code), got["exit-code"])
				assert.FileExists(t, got["sarif-file"])
				assert.FileExists(t, got["json-file"])
			}
		})
	}
}

func TestActionRefusesWhatIsNotTheRelease(t *testing.T) {
	need(t, "bash", "curl", "tar", "awk")
	release, archive := buildRelease(t)
	releases := serve(t, release)

	out, code := newActionRun(t, releases).step("install", "VERSION=v9.9.9")
	assert.NotZero(t, code, out)
	assert.Contains(t, out, "404")

	out, code = newActionRun(t, releases).step("install", "VERSION=latest", "RUNNER_OS=Windows")
	assert.NotZero(t, code)
	assert.Contains(t, out, "no release for Windows")

	sums := filepath.Join(release, "SHA256SUMS")
	good, err := os.ReadFile(sums)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sums, bytes.ReplaceAll(good, []byte("aliascheck-"), []byte("other-")), 0o644))
	r := newActionRun(t, releases)
	out, code = r.step("install", "VERSION=latest")
	assert.NotZero(t, code, "an archive that no checksum vouches for")
	assert.Contains(t, out, "does not list "+archive)
	assert.NoFileExists(t, filepath.Join(r.dir, "aliascheck-bin", "aliascheck"))

	require.NoError(t, os.WriteFile(sums, good, 0o644))
	spoil(t, filepath.Join(release, archive))
	r = newActionRun(t, releases)
	out, code = r.step("install", "VERSION=latest")
	assert.NotZero(t, code, "an archive that was changed")
	assert.Contains(t, out, archive+": FAILED")
	assert.NoFileExists(t, filepath.Join(r.dir, "aliascheck-bin", "aliascheck"))
}
