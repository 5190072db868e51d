package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pythonRun runs Python programs as `run` does, with a jaxlib that only says which
// flags XLA would read.
type pythonRun struct {
	t      *testing.T
	python string
	root   string
	env    environment
}

func newPythonRun(t *testing.T) *pythonRun {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	r := &pythonRun{t: t, python: python, root: t.TempDir()}
	require.NoError(t, writePython(filepath.Join(r.root, pythonDir)))
	theirs := filepath.Join(r.root, "theirs")
	r.file("theirs/jaxlib/__init__.py", "import os; print(os.environ['XLA_FLAGS'])")
	env := environment(os.Environ()).set("PYTHONPATH", theirs).set("PYTHONDONTWRITEBYTECODE", "1").
		set("PYTEST_ADDOPTS", "").set("PYTEST_CURRENT_TEST", "")
	r.env = childEnvironment(env, dumpFlags{}, r.root, filepath.Join(r.root, "shared"), filepath.Join(r.root, pythonDir), nil)
	return r
}

func (r *pythonRun) file(name, text string) {
	path := filepath.Join(r.root, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.WriteFile(path, []byte(text), 0o644))
}

// run returns the lines that a program writes.
func (r *pythonRun) run(program string, env ...string) []string {
	cmd := exec.Command(r.python, "-c", program)
	cmd.Env = append(r.env, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%s", out)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// dir is the directory that XLA would dump into: the last one wins.
func (r *pythonRun) dir(flags string) string {
	parsed, rest := splitFlags(flags)
	require.Empty(r.t, rest)
	dir := ""
	for _, f := range parsed {
		if f.name == "xla_dump_to" {
			dir = f.value
		}
	}
	require.Equal(r.t, r.root, filepath.Dir(dir))
	return filepath.Base(dir)
}

func TestEachPythonProcessGetsADirectory(t *testing.T) {
	r := newPythonRun(t)
	spawn := `import jaxlib, subprocess, sys; sys.stdout.flush(); subprocess.run([sys.executable, "-c", "import jaxlib"])`
	lines := r.run(spawn)
	require.Len(t, lines, 2)
	assert.NotEqual(t, r.dir(lines[0]), r.dir(lines[1]), "a process that Python starts")

	lines = r.run(`import jaxlib, os, sys; sys.stdout.flush()
if os.fork() == 0:
    print(os.environ["XLA_FLAGS"])
else:
    os.wait()`)
	require.Len(t, lines, 2)
	assert.NotEqual(t, r.dir(lines[0]), r.dir(lines[1]), "a forked process")
}

func TestADirectoryIsNamedAfterTheProcess(t *testing.T) {
	r := newPythonRun(t)
	for env, want := range map[string]string{
		"NONE=1":                  "process-",
		"OMPI_COMM_WORLD_RANK=3":  "rank3-",
		"SLURM_PROCID=12":         "rank12-",
		"PMI_RANK=0":              "rank0-",
		"PYTEST_XDIST_WORKER=gw1": "gw1-",
		"RANK=../../etc":          "process-",
	} {
		assert.True(t, strings.HasPrefix(r.dir(r.run("import jaxlib", env)[0]), want), env)
	}
}

func TestAProgramThatOverwritesXLAFlagsIsDumpedAllTheSame(t *testing.T) {
	r := newPythonRun(t)
	r.file("flags.txt", "--xla_from_file=1\n")
	for program, kept := range map[string]string{
		`import os; os.environ["XLA_FLAGS"] = "--xla_theirs=1"; import jaxlib`:                             "--xla_theirs=1 ",
		`import os; del os.environ["XLA_FLAGS"]; import jaxlib`:                                            "",
		`import os; os.environ["XLA_FLAGS"] = "` + filepath.Join(r.root, "flags.txt") + `"; import jaxlib`: "--xla_from_file=1 ",
	} {
		flags := r.run(program)[0]
		assert.True(t, strings.HasPrefix(flags, kept), flags)
		r.dir(flags)
	}
}

func TestTheUsersSitecustomizeRuns(t *testing.T) {
	r := newPythonRun(t)
	r.file("theirs/sitecustomize.py", "import sys; print('theirs'); sys.path.append('/added')")
	lines := r.run("import sys, jaxlib; print('/added' in sys.path, sys.modules['sitecustomize'].__file__)")
	require.Len(t, lines, 3)
	assert.Equal(t, "theirs", lines[0])
	r.dir(lines[1])
	assert.Equal(t, "True "+filepath.Join(r.root, "theirs", "sitecustomize.py"), lines[2])
}

func TestPythonOutsideARunIsLeftAlone(t *testing.T) {
	r := newPythonRun(t)
	assert.Equal(t, []string{"--xla_mine"}, r.run("import jaxlib", "ALIASCHECK_DUMPS=", "XLA_FLAGS=--xla_mine"))
}

func TestAProcessThatATestStartedSaysSo(t *testing.T) {
	r := newPythonRun(t)
	dir := r.dir(r.run("import jaxlib", "PYTEST_CURRENT_TEST=tests/t.py::a[x (y)] (call)")[0])
	got := &record{path: filepath.Join(r.root, dir+recordSuffix)}
	require.NoError(t, got.update())
	test, known := got.of(17)
	assert.True(t, known)
	assert.Equal(t, "tests/t.py::a[x (y)]", test)
}

// A module that registers targets is noted, JAX's own ones are not.
func TestTargetsAreNoted(t *testing.T) {
	r := newPythonRun(t)
	r.file("theirs/jaxlib/__init__.py", "")
	r.file("theirs/jaxlib/xla_client.py", "def register_custom_call_target(name, fn, platform='cpu', *rest): return (name, platform)\nregister_custom_call_target('own', 1)\n")
	r.file("theirs/jax/__init__.py", "from jaxlib import xla_client\ndef ffi(name, fn, platform): return xla_client.register_custom_call_target(name, fn, platform)\nffi('builtin', 1, 'cpu')\n")
	r.file("theirs/team/kernels.py", "import jax\nassert jax.ffi('TeamReverse', 1, 'CUDA') == ('TeamReverse', 'CUDA')\njax.ffi('TeamReverse', 1, 'CUDA')\n")
	r.run("import team.kernels")
	files, err := filepath.Glob(filepath.Join(r.root, "*.targets.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(text), "\n"), "%s", text)
	assert.Contains(t, string(text), `"target": "TeamReverse", "platform": "CUDA", "module": "team.kernels"`)
}
