package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// jaxSuite runs testdata/jaxsuite under `aliascheck run`, with real pytest on real
// JAX. `make test-jax` builds what it needs and names it in the environment.
type jaxSuite struct {
	binary, python, library string
}

func TestJAX(t *testing.T) {
	venv, library := os.Getenv("ALIASCHECK_VENV"), os.Getenv("JAXSUITE_LIBRARY")
	if venv == "" || library == "" {
		t.Skip("run by `make test-jax`, which makes a virtual environment with JAX")
	}
	s := &jaxSuite{
		binary: filepath.Join(t.TempDir(), "aliascheck"),
		python: filepath.Join(venv, "bin", "python"), library: library,
	}
	out, err := exec.Command("go", "build", "-o", s.binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)

	t.Run("serial", s.serial)
	t.Run("workers", s.workers)
	t.Run("clean", s.clean)
	t.Run("failing test", s.failingTest)
	t.Run("crash", s.crash)
	t.Run("crash of a worker", s.crashOfAWorker)
	t.Run("interrupt", s.interrupt)
	t.Run("ranks", s.ranks)
	t.Run("early backend", s.earlyBackend)
	t.Run("persistent cache", s.persistentCache)
	t.Run("nothing compiled", s.nothingCompiled)
	t.Run("replayed in JAX", s.replayedInJAX)
}

// jaxRun is one run: its own copy of the suite, and its own temporary directory,
// where nothing may be left that was not asked for.
type jaxRun struct {
	t      *testing.T
	suite  *jaxSuite
	dir    string // the suite's copy
	tmp    string
	env    []string
	flags  []string
	code   int
	output string // standard output and error
	report rules.Report
}

func (s *jaxSuite) newRun(t *testing.T, flags ...string) *jaxRun {
	r := &jaxRun{t: t, suite: s, dir: t.TempDir(), tmp: t.TempDir(), flags: flags}
	require.NoError(t, os.CopyFS(r.dir, os.DirFS(filepath.Join("..", "..", "testdata", "jaxsuite"))))
	r.env = append(os.Environ(), "TMPDIR="+r.tmp, "JAXSUITE_LIBRARY="+s.library, "PYTHONDONTWRITEBYTECODE=1",
		"XLA_FLAGS=", "JAX_PLATFORMS=cpu", "COLUMNS=200", "PYTHONPATH=")
	return r
}

func (r *jaxRun) command(args ...string) *exec.Cmd {
	all := append([]string{"run", "--output", "json=report.json", "--output", "junit=report.xml"}, r.flags...)
	cmd := exec.Command(r.suite.binary, append(append(all, "--"), args...)...)
	cmd.Dir, cmd.Env = r.dir, r.env
	return cmd
}

func (r *jaxRun) pytest(args ...string) *exec.Cmd {
	return r.command(append([]string{r.suite.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"}, args...)...)
}

// run runs a command to its end and reads the report.
func (r *jaxRun) run(cmd *exec.Cmd) *jaxRun {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	r.ended(cmd.Run(), &out)
	return r
}

func (r *jaxRun) ended(err error, out *bytes.Buffer) {
	r.output = out.String()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(r.t, err)
	}
	if exit != nil {
		r.code = exit.ExitCode()
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "report.json"))
	require.NoError(r.t, err, r.output)
	require.NoError(r.t, json.Unmarshal(text, &r.report))
}

// found is what a run must agree on with another: no module numbers, no paths.
type found struct {
	Code, Severity, Target string
	Calls                  int
	Tests                  []string
}

func (r *jaxRun) found() []found {
	var out []found
	for _, f := range r.report.Findings {
		out = append(out, found{f.Code, string(f.Severity), f.Target, f.Calls, f.Tests})
		at := f.Source.File
		if f.Source.Wrapper != nil { // the finding's line is the caller's then
			at = f.Source.Wrapper.File
		}
		assert.Equal(r.t, "calls.py", filepath.Base(at))
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Compare(a.Code, b.Code) })
	return out
}

func (r *jaxRun) incomplete() map[string]string {
	out := map[string]string{}
	for _, i := range r.report.Summary.Incomplete {
		out[filepath.Base(i.Path)] = i.Error
	}
	return out
}

// left lists the modules whose dumps are left.
func (r *jaxRun) left() []string {
	files, err := filepath.Glob(filepath.Join(r.tmp, "aliascheck-run-*", "*", "*.hlo.pb"))
	require.NoError(r.t, err)
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

func (r *jaxRun) leftNothing() {
	entries, err := os.ReadDir(r.tmp)
	require.NoError(r.t, err)
	for _, e := range entries {
		assert.False(r.t, strings.HasPrefix(e.Name(), "aliascheck-run-"), "%s was left", e.Name())
	}
}

// expected is what test_calls.py and test_process.py have to give, however they are run.
func expected() []found {
	return []found{
		{"AC201", "error", "SuiteReverse", 5, []string{
			"test_calls.py::test_reverse_in_place",
			"test_calls.py::test_reverse_in_place_sizes[2048]",
			"test_calls.py::test_reverse_in_place_sizes[512]",
			"test_process.py::test_two_processes",
		}},
		{"AC202", "warning", "SuiteReverse", 1, []string{"test_calls.py::test_reverse_unclaimed"}},
	}
}

func (s *jaxSuite) serial(t *testing.T) {
	r := s.newRun(t, "--keep", "none")
	r.run(r.pytest("test_calls.py", "test_process.py"))
	assert.Equal(t, 1, r.code, r.output)
	assert.Equal(t, expected(), r.found())
	assert.Empty(t, r.incomplete())
	assert.GreaterOrEqual(t, r.report.Summary.Library, 2, "LAPACK's calls are library calls")
	assert.Contains(t, r.output, "10 passed")
	for _, f := range expected() {
		for _, test := range f.Tests {
			assert.Contains(t, r.output, test, "the text report names the tests")
		}
	}
	r.leftNothing()
	r.namesTestsInJUnit("test_calls.py::test_reverse_in_place_sizes[2048]")
}

// namesTestsInJUnit reads the JUnit report as a CI does, and looks for a test in a failure.
func (r *jaxRun) namesTestsInJUnit(test string) {
	text, err := os.ReadFile(filepath.Join(r.dir, "report.xml"))
	require.NoError(r.t, err)
	failures, inFailure := "", false
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(r.t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inFailure = token.Name.Local == "failure"
		case xml.CharData:
			if inFailure {
				failures += string(token)
			}
		}
	}
	assert.Contains(r.t, failures, test)
}

func (s *jaxSuite) workers(t *testing.T) {
	r := s.newRun(t, "--keep", "none")
	r.run(r.pytest("-n", "2", "test_calls.py", "test_process.py"))
	assert.Equal(t, 1, r.code, r.output)
	assert.Equal(t, expected(), r.found(), "the same as in one process")
	assert.Empty(t, r.incomplete())
	r.leftNothing()
}

func (s *jaxSuite) clean(t *testing.T) {
	r := s.newRun(t)
	r.run(r.pytest("test_calls.py", "-k", "scale or lapack"))
	assert.Equal(t, 0, r.code, r.output)
	assert.Empty(t, r.report.Findings)
	assert.Positive(t, r.report.Summary.CustomCalls)
	r.leftNothing()
}

func (s *jaxSuite) failingTest(t *testing.T) {
	r := s.newRun(t, "--fail-on", "never")
	r.run(r.pytest("failing_test.py"))
	assert.Equal(t, 1, r.code, "pytest's code: the audit would not fail")
	assert.Contains(t, r.output, "1 failed")
	assert.Contains(t, r.output, "ended with exit code 1, which is passed on")
	assert.Equal(t, []found{{"AC201", "error", "SuiteReverse", 1, []string{"failing_test.py::test_wrong_numbers"}}}, r.found())
	assert.NotEmpty(t, r.left(), "the dump with the finding is kept")
	for _, name := range r.left() {
		assert.Contains(t, name, "lambda", "and no other")
	}
}

// crashed is what the audit owes about crash_test.py.
func (r *jaxRun) crashed() {
	assert.Equal(r.t, []found{{"AC201", "error", "SuiteReverse", 1, []string{"crash_test.py::test_crash"}}}, r.found())
	incomplete := r.incomplete()
	assert.Len(r.t, incomplete, 2)
	for name, why := range map[string]string{
		"module_9998.jit_half.cpu_after_optimizations.hlo.pb": "",
		"module_9999.jit_begun":                               "its compilation did not end",
	} {
		assert.Contains(r.t, incomplete[name], why)
		assert.Contains(r.t, incomplete[name], "(during crash_test.py::test_crash)", name)
	}
	assert.Contains(r.t, r.left(), "module_9998.jit_half.cpu_after_optimizations.hlo.pb")
}

func (s *jaxSuite) crash(t *testing.T) {
	r := s.newRun(t)
	r.run(r.pytest("crash_test.py"))
	assert.Equal(t, 128+int(syscall.SIGSEGV), r.code, r.output)
	r.crashed()
}

func (s *jaxSuite) crashOfAWorker(t *testing.T) {
	r := s.newRun(t)
	r.run(r.pytest("-n", "1", "crash_test.py"))
	assert.Equal(t, 1, r.code, r.output)
	assert.Contains(t, r.output, "1 failed, 2 passed")
	r.crashed()
}

func (s *jaxSuite) interrupt(t *testing.T) {
	r := s.newRun(t, "--keep", "none")
	ready := filepath.Join(r.dir, "ready")
	r.env = append(r.env, "JAXSUITE_READY="+ready)
	cmd := r.pytest("interrupt_test.py")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before it could be interrupted: %v\n%s", err, out.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	r.ended(<-ended, &out)
	assert.Equal(t, 2, r.code, "pytest's code for an interrupted run")
	assert.Contains(t, r.output, "KeyboardInterrupt")
	assert.Equal(t, []found{{"AC201", "error", "SuiteReverse", 1, []string{"interrupt_test.py::test_waits"}}}, r.found())
	assert.Empty(t, r.incomplete())
	r.leftNothing()
}

func (s *jaxSuite) ranks(t *testing.T) {
	r := s.newRun(t)
	script := `for rank in 0 1 2; do OMPI_COMM_WORLD_RANK=$rank "$0" rank_program.py & done; wait`
	r.run(r.command("sh", "-c", script, s.python))
	assert.Equal(t, 1, r.code, r.output)
	assert.Equal(t, []found{{"AC201", "error", "SuiteReverse", 3, []string{}}}, r.found(), "one call a rank")
	assert.Empty(t, r.incomplete())
	directories, err := filepath.Glob(filepath.Join(r.tmp, "aliascheck-run-*", "rank[012]-*"))
	require.NoError(t, err)
	directories = slices.DeleteFunc(directories, func(path string) bool { return strings.HasSuffix(path, ".targets.jsonl") })
	assert.Len(t, directories, 3)
}

// earlyBackend runs a suite whose conftest overwrites XLA_FLAGS and starts JAX.
func (s *jaxSuite) earlyBackend(t *testing.T) {
	for _, args := range [][]string{{"early/early_test.py"}, {"-n", "2", "early/early_test.py"}} {
		r := s.newRun(t, "--keep", "none")
		r.run(r.pytest(args...))
		assert.Equal(t, 1, r.code, r.output)
		assert.Equal(t, []found{{"AC201", "error", "SuiteReverse", 1, []string{"early/early_test.py::test_early"}}}, r.found())
		assert.Empty(t, r.incomplete())
	}
}

// persistentCache runs a program that overwrites XLA_FLAGS and turns JAX's cache on.
func (s *jaxSuite) persistentCache(t *testing.T) {
	cache := t.TempDir()
	first := s.newRun(t)
	first.env = append(first.env, "JAXSUITE_CACHE="+cache)
	first.run(first.pytest("early_backend_test.py"))
	assert.Equal(t, 0, first.code, first.output)
	assert.GreaterOrEqual(t, first.report.Summary.Modules, 2)

	second := s.newRun(t)
	second.env = first.env
	second.run(second.pytest("early_backend_test.py"))
	assert.Equal(t, 2, second.code, "the hit left no dump: not whole\n%s", second.output)
	assert.Contains(t, second.output, "came out of JAX's persistent cache")
}

func (s *jaxSuite) nothingCompiled(t *testing.T) {
	r := s.newRun(t)
	r.run(r.pytest("test_calls.py", "-k", "without_jax"))
	assert.Equal(t, 2, r.code, "a gate must not call that clean")
	assert.Contains(t, r.output, "left no dump of any module")
	r.leftNothing()
}

// Without the configuration that lists SuiteReverse as not safe in place, the user's own
// JAX shows it; what to import for that, the run found out by itself.
func (s *jaxSuite) replayedInJAX(t *testing.T) {
	r := s.newRun(t, "--keep", "none", "--replay", "jax", "--python", s.python)
	require.NoError(t, os.Remove(filepath.Join(r.dir, ".aliascheck.yaml")))
	r.run(r.pytest("test_calls.py"))
	assert.Equal(t, 1, r.code, r.output)
	var codes []string
	for _, f := range r.report.Findings {
		codes = append(codes, f.Code+" "+f.Target)
		assert.Equal(t, "confirmed", string(f.Confirmation), f.ConfirmationReason)
		assert.Contains(t, f.ConfirmationReason, "in the user's JAX")
	}
	assert.Equal(t, []string{"AC201 SuiteReverse"}, codes, r.output)
	for c := range r.report.Calls.All() {
		for _, p := range c.Pairs {
			if c.Target == "SuiteScale" && p.Declared {
				assert.Equal(t, "unknown", p.Verdict, "equal bits prove nothing")
			}
		}
	}
	r.leftNothing()
}
