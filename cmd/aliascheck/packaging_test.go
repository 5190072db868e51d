package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"aliascheck/cmd/aliascheck/cli"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestScriptsPleaseShellcheck(t *testing.T) {
	need(t, "shellcheck")
	scripts := map[string]string{}
	_, steps := readAction(t)
	for id, s := range steps {
		if s.Run != "" {
			scripts["action.yml "+id] = "#!/usr/bin/env bash\n" + s.Run
		}
	}
	before, after := readGitLab(t)
	scripts["gitlab.yml"] = "#!/bin/sh\n" + before + after
	for _, name := range []string{".ci/release", ".ci/run", "testdata/jaxsuite/build.sh"} {
		text, err := os.ReadFile(filepath.Join(repository(t), name))
		require.NoError(t, err)
		scripts[name] = string(text)
	}
	for name, text := range scripts {
		cmd := exec.Command("shellcheck", "-")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s\n%s", name, out)
	}
}

// readGitLab returns the job's two scripts.
func readGitLab(t *testing.T) (before, script string) {
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "ci", "gitlab.yml"))
	require.NoError(t, err)
	var file map[string]struct {
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		Artifacts    struct {
			When    string
			Paths   []string
			Reports struct{ Junit string }
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	require.NoError(t, d.Decode(&file))
	job := file[".aliascheck"]
	assert.Equal(t, "always", job.Artifacts.When, "findings fail the job, and the reports are wanted all the same")
	assert.Equal(t, "aliascheck.xml", job.Artifacts.Reports.Junit)
	return strings.Join(job.BeforeScript, "\n"), strings.Join(job.Script, "\n")
}

func TestGitLabJob(t *testing.T) {
	need(t, "bash", "curl", "tar", "awk", "sha256sum")
	release, archive := buildRelease(t)
	releases := serve(t, release)
	before, job := readGitLab(t)
	dumps := filepath.Join(repository(t), "testdata", "dumps")
	dir := t.TempDir()
	env := []string{"ALIASCHECK_RELEASE=" + releases + "/download/v1.2.3", "ALIASCHECK_RUN=", "ALIASCHECK_DUMPS=" + dumps + "/sort_inplace_declared",
		"ALIASCHECK_ARGS=--replay=off --fail-on=error", "XDG_CACHE_HOME=" + dir}
	out, code := script(t, dir, before+job, env...)
	assert.Equal(t, 1, code, out)
	for _, name := range []string{"aliascheck.xml", "aliascheck.json", "aliascheck.html"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	// Several dumps, one of them with a space in its name.
	spaced := filepath.Join(t.TempDir(), "a dump")
	require.NoError(t, os.CopyFS(spaced, os.DirFS(dumps+"/scale_inplace")))
	out, code = script(t, dir, before+job, append(env, "ALIASCHECK_DUMPS="+spaced+"\n"+dumps+"/scale_apart\n")...)
	assert.Zero(t, code, out)
	assert.Contains(t, out, "nothing found in 2 custom calls")
	out, code = script(t, dir, before+job, append(env, "ALIASCHECK_RUN=mkdir $ALIASCHECK_DUMPS/p && cp "+dumps+"/scale_inplace/* $ALIASCHECK_DUMPS/p")...)
	assert.Zero(t, code, out)

	python := filepath.Join(dir, "python")
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\ncat >/dev/null; echo '{\"event\":\"refused\",\"error\":\"no JAX here\"}' >&3\n"), 0o755))
	out, code = script(t, dir, before+job, append(env, "ALIASCHECK_COMPILE=--python "+python+" --target h100,b200 k.py:f")...)
	assert.Equal(t, 2, code, out)
	assert.Contains(t, out, "no JAX here")
	assert.FileExists(t, filepath.Join(dir, "aliascheck.sarif"))

	spoil(t, filepath.Join(release, archive))
	out, code = script(t, t.TempDir(), before+job, env...)
	assert.NotZero(t, code)
	assert.Contains(t, out, archive+": FAILED")
}

// TestGitHubWorkflowOfCompile holds the example to the action that it uses.
func TestGitHubWorkflowOfCompile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "ci", "github-compile.yml"))
	require.NoError(t, err)
	var w struct {
		Name string
		On   []string
		Jobs map[string]struct {
			RunsOn      string `yaml:"runs-on"`
			Permissions map[string]string
			Steps       []struct {
				Uses, Run string
				With      map[string]string
			}
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	require.NoError(t, d.Decode(&w))
	job := w.Jobs["aliascheck"]
	assert.Equal(t, "write", job.Permissions["security-events"])
	a, _ := readAction(t)
	used := false
	for _, s := range job.Steps {
		if !strings.Contains(s.Uses, "/aliascheck@") {
			continue
		}
		used = true
		for name := range s.With {
			assert.Contains(t, a.Inputs, name)
		}
		assert.Equal(t, 3, len(strings.Split(regexp.MustCompile(`--target=(\S+)`).FindStringSubmatch(s.With["compile"])[1], ",")))
	}
	assert.True(t, used)
}

func TestMakefileFragment(t *testing.T) {
	need(t, "make", "sh")
	dir := t.TempDir()
	binary := filepath.Join(dir, "aliascheck")
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	dumps := filepath.Join(repository(t), "testdata", "dumps")
	makefile := "ALIASCHECK = " + binary + "\nALIASCHECK_FLAGS = --replay off\n" +
		"ALIASCHECK_TESTS = sh -c 'mkdir $$ALIASCHECK_DUMPS/p && cp " + dumps + "/sort_inplace_declared/* $$ALIASCHECK_DUMPS/p'\n" +
		"include " + filepath.Join(repository(t), "docs", "ci", "aliascheck.mk") + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), []byte(makefile), 0o644))
	target := func(name string) (string, int) {
		return script(t, dir, "make "+name, "TMPDIR="+dir, "XDG_CACHE_HOME="+dir)
	}

	text, code := target("aliascheck")
	assert.NotZero(t, code, "a finding fails the gate")
	assert.Contains(t, text, "AC201")
	for _, ending := range []string{"json", "xml", "html"} {
		assert.FileExists(t, filepath.Join(dir, "build", "aliascheck", "aliascheck."+ending))
	}
	text, code = target("aliascheck-baseline")
	assert.Zero(t, code, text)
	for _, name := range []string{"aliascheck", "aliascheck-nightly"} {
		text, code = target(name)
		assert.Zero(t, code, "what is in the baseline passes\n%s", text)
	}
}

// TestContainerfile looks for what a build would trip over; there may be no engine here.
func TestContainerfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "Containerfile"))
	require.NoError(t, err)
	stages := map[string]bool{}
	var last []string
	for line := range strings.SplitSeq(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		switch words[0] {
		case "FROM":
			assert.Regexp(t, `^[\w.]+/[\w./-]+:[\w.-]+$`, words[1], "a full name with a tag")
			if len(words) == 4 {
				stages[words[3]] = true
			}
			last = nil
		case "COPY":
			from, other := strings.CutPrefix(words[1], "--from=")
			assert.True(t, !other || stages[from], line)
			for _, path := range words[1 : len(words)-1] {
				_, err := os.Stat(filepath.Join(repository(t), path))
				assert.True(t, other || err == nil, line)
			}
		case "RUN", "WORKDIR", "ENV", "USER", "ENTRYPOINT":
		default:
			t.Errorf("unknown instruction: %s", line)
		}
		last = append(last, line)
	}
	final := strings.Join(last, "\n")
	assert.Regexp(t, `(?m)^USER [1-9]`, final, "not root")
	copied := regexp.MustCompile(`(?m)^COPY --from=build \S+ (\S+)$`).FindStringSubmatch(final)
	require.NotNil(t, copied)
	assert.Contains(t, final, `ENTRYPOINT ["`+copied[1]+`"]`)
	module, err := os.ReadFile(filepath.Join(repository(t), "go.mod"))
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(module))
	assert.Contains(t, string(text), "golang:"+version[1]+"-", "the Go that go.mod asks for")
}

// TestPreCommitHook holds the hook to flags that exist.
func TestPreCommitHook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), ".pre-commit-hooks.yaml"))
	require.NoError(t, err)
	var hooks []struct {
		ID, Name, Description, Language, Entry string
		PassFilenames                          bool `yaml:"pass_filenames"`
		AlwaysRun                              bool `yaml:"always_run"`
		Stages                                 []string
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	require.NoError(t, d.Decode(&hooks))
	require.Len(t, hooks, 1)
	assert.Equal(t, "golang", hooks[0].Language, "pre-commit builds what cmd has")
	words := strings.Fields(hooks[0].Entry)
	root := newRootCommand(&cli.App{})
	require.Equal(t, root.Name(), words[0])
	require.NoError(t, root.ParseFlags(words[1:]))
	assert.Equal(t, []string{"dump_dir"}, root.Flags().Args())
}

// TestContainerImage builds the image and audits a dump in it, where an engine is.
func TestContainerImage(t *testing.T) {
	engine := os.Getenv("CONTAINER_ENGINE")
	if engine == "" {
		t.Skip("CONTAINER_ENGINE names none (podman, docker): .ci/run sets it where one answers")
	}
	need(t, engine)
	image := "aliascheck-test"
	build := exec.Command(engine, "build", "-q", "-t", image, ".")
	build.Dir = repository(t)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { _ = exec.Command(engine, "rmi", image).Run() })
	dump := filepath.Join(repository(t), "testdata", "dumps", "sort_inplace_declared")
	run := exec.Command(engine, "run", "--rm", "-v", dump+":/dumps:ro", image, "--replay=off", "/dumps")
	out, _ = run.CombinedOutput()
	assert.Equal(t, 1, run.ProcessState.ExitCode(), "%s", out)
	assert.Contains(t, string(out), "AC201")
}

// TestWheel installs the wheel of this machine from its file, and runs what it installed.
func TestWheel(t *testing.T) {
	need(t, "bash", "tar", "gzip", "python3")
	if out, err := exec.Command("python3", "-c", "import ensurepip").CombinedOutput(); err != nil {
		t.Skipf("no ensurepip: %s", out)
	}
	dist, _ := buildRelease(t)
	wheels, err := filepath.Glob(filepath.Join(dist, "*.whl"))
	require.NoError(t, err)
	require.NotEmpty(t, wheels)
	venv := filepath.Join(t.TempDir(), "venv")
	out, code := script(t, dist, `python3 -m venv "$VENV"
for wheel in *.whl; do
  "$VENV/bin/pip" install -q --no-index "$wheel" 2>/dev/null && echo "installed $wheel"
done
"$VENV/bin/aliascheck" version
test -s "$VENV/share/man/man1/aliascheck.1" && test -s "$VENV/share/bash-completion/completions/aliascheck"
"$VENV/bin/pip" show aliascheck
"$VENV/bin/python" -c 'from importlib.metadata import metadata as m; print(m("aliascheck").get_all("Provides-Extra"))'
"$VENV/bin/aliascheck" --quiet --replay=off "$DUMP"`, "VENV="+venv, "DUMP="+filepath.Join(repository(t), "testdata", "dumps", "scale_inplace"))
	require.Zero(t, code, out)
	assert.Contains(t, out, "installed aliascheck-1.2.3-py3-none-")
	assert.Contains(t, out, "aliascheck v1.2.3 ")
	assert.Contains(t, out, "Version: 1.2.3")
	assert.Contains(t, out, "['compile', 'trace']")
	assert.Contains(t, out, "nothing found in 1 custom call")
}
