package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliascheck/rules"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compileSuite runs `aliascheck compile` on testdata/kernels with real JAX, on a machine
// without a GPU. `make test-compile` makes the virtual environments and names them.
type compileSuite struct {
	binary string
	pkg    string            // a copy of testdata/kernels
	venvs  map[string]string // by release: jax-0.10.2
	python string            // of the release that all programs are for
	cache  string
}

func TestCompileJAX(t *testing.T) {
	s := newCompileSuite(t)
	t.Run("every program for two targets", s.everyProgram)
	t.Run("readme", s.readme)
	t.Run("function with arguments", s.function)
	t.Run("configuration", s.configuration)
	t.Run("files", s.files)
	t.Run("mesh", s.mesh)
	t.Run("mistakes", s.mistakes)
	t.Run("hang and crash", s.hangAndCrash)
	t.Run("missing packages", s.missing)
	t.Run("other releases", s.releases)
	t.Run("test suite", s.testSuite)
}

func newCompileSuite(t *testing.T) *compileSuite {
	list := os.Getenv("ALIASCHECK_COMPILE_VENVS")
	if list == "" {
		t.Skip("run by `make test-compile`, which makes virtual environments with JAX")
	}
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	s := &compileSuite{binary: filepath.Join(t.TempDir(), "aliascheck"), pkg: t.TempDir(), cache: t.TempDir(), venvs: map[string]string{}}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, dir, _ := strings.Cut(line, " ")
		s.venvs[name] = dir
	}
	require.Contains(t, s.venvs, "jax-0.10.2")
	s.python = filepath.Join(s.venvs["jax-0.10.2"], "bin", "python")
	require.NoError(t, os.CopyFS(s.pkg, os.DirFS(filepath.Join("..", "..", "testdata", "kernels"))))
	out, err := exec.Command("go", "build", "-o", s.binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return s
}

// compiled is one run of `aliascheck compile`.
type compiled struct {
	t              *testing.T
	code           int
	stdout, stderr string
	report         rules.Report
}

func (s *compileSuite) run(t *testing.T, args ...string) *compiled {
	return s.runIn(t, s.pkg, nil, append([]string{"--python", s.python}, args...)...)
}

func (s *compileSuite) runIn(t *testing.T, dir string, env []string, args ...string) *compiled {
	return s.command(t, dir, env, append([]string{"compile"}, args...)...)
}

func (s *compileSuite) command(t *testing.T, dir string, env []string, args ...string) *compiled {
	r := &compiled{t: t}
	report := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.Command(s.binary, append([]string{args[0], "--keep", "none", "--cache-dir", s.cache, "--output", "json=" + report}, args[1:]...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "XLA_FLAGS=", "JAX_PLATFORMS=", "COLUMNS=100", "VIRTUAL_ENV=", "PYTHONDONTWRITEBYTECODE=1", "TMPDIR="+t.TempDir()), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	r.code, r.stdout, r.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	text, err := os.ReadFile(report)
	require.NoError(t, err, r.stderr)
	require.NoError(t, json.Unmarshal(text, &r.report))
	return r
}

// unread are the reasons of what could not be compiled or read, by their paths.
func (r *compiled) unread() map[string]string {
	out := map[string]string{}
	for _, x := range r.report.Summary.Incomplete {
		out[x.Path] = x.Error
	}
	return out
}

// verdicts are what was found of declared pairs, by program: the gravest of its calls.
func (r *compiled) verdicts(gpu string) map[string]string {
	rank := []string{"", "safe", "unknown", "unsafe"}
	out := map[string]string{}
	for c := range r.report.Calls.All() {
		if !strings.Contains(c.Path, string(filepath.Separator)+gpu) {
			continue
		}
		name := strings.TrimPrefix(c.Module, "jit_")
		for _, p := range c.Pairs {
			if p.Declared && slices.Index(rank, p.Verdict) > slices.Index(rank, out[name]) {
				out[name] = p.Verdict
			}
		}
	}
	return out
}

// truth is testdata/kernels/truth.txt.
func truth(t *testing.T) map[string]string {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "kernels", "truth.txt"))
	require.NoError(t, err)
	out := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if words := strings.Fields(line); len(words) == 2 && words[0] != "#" {
			out[words[0]] = words[1]
		}
	}
	require.GreaterOrEqual(t, len(out), 30)
	return out
}

func (s *compileSuite) everyProgram(t *testing.T) {
	r := s.run(t, "--target", "a100,h100", "kernels.programs:programs")
	assert.Equal(t, 2, r.code, "Mosaic GPU refuses the A100: not whole\n%s", r.stdout)
	want := truth(t)
	unread := r.unread()
	assert.Len(t, unread, 4)
	for name := range want {
		if strings.HasPrefix(name, "mosaic_") {
			assert.Equal(t, "a100 (sm_80) refuses it: Mosaic GPU needs compute capability 9.0 or more; mend: leave a100 out of its targets", unread[name+" for a100"])
		}
	}
	require.Len(t, r.report.Summary.Compiled, 2)
	a100, h100 := r.report.Summary.Compiled[0], r.report.Summary.Compiled[1]
	assert.Equal(t, rules.Compiled{GPU: "a100", JAX: "0.10.2", Programs: len(want) - 4, Failed: 4, Placeholders: []string{"kernels_fused_norm"}}, a100)
	assert.Equal(t, rules.Compiled{GPU: "h100", JAX: "0.10.2", Programs: len(want), Placeholders: []string{"kernels_fused_norm"}}, h100)
	for _, gpu := range []string{"a100", "h100"} {
		got := r.verdicts(gpu)
		for name, verdict := range want {
			if verdict == "safe" || verdict == "unsafe" {
				if gpu == "a100" && strings.HasPrefix(name, "mosaic_") {
					verdict = "" // refused
				}
				assert.Equal(t, verdict, got[name], "%s for %s", name, gpu)
			}
		}
	}
	for _, f := range r.report.Findings {
		if f.Target == "triton_kernel_call" || f.Target == "triton_kernel_call_ffi" {
			assert.Equal(t, []string{"a100", "h100"}, f.CompiledFor, f.Kernel)
			assert.Empty(t, f.NotFor)
			assert.Equal(t, rules.Confirmed, f.Confirmation)
			assert.Equal(t, "with_jax_triton.py", filepath.Base(f.Source.File))
			assert.NotEqual(t, "call", f.Source.Function, "the configuration calls that library code")
			for _, frame := range f.Source.Stack {
				assert.NotContains(t, frame.File, "aliascheck_", "stacks are the program's")
			}
		}
	}
	assert.Contains(t, r.stdout, "GPUs     a100, h100")
	assert.Contains(t, r.stdout, "placeholders for FFI targets that nobody registered")
}

// readme runs the second line of README: the first made this virtual environment.
func (s *compileSuite) readme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\npython3 -m venv .venv && .venv/bin/pip install -r testdata/kernels/requirements/jax-0.10.2.txt\ngo run ./cmd/aliascheck compile ")
	_, line, _ := strings.Cut(string(text), "\ngo run ./cmd/aliascheck compile ")
	line, _, _ = strings.Cut(line, "\n")
	var args []string
	for _, word := range strings.Fields(line) {
		args = append(args, strings.Trim(word, "'"))
	}
	r := s.runIn(t, repository(t), []string{"VIRTUAL_ENV=" + s.venvs["jax-0.10.2"]}, args...)
	assert.Equal(t, 1, r.code, r.stdout+r.stderr)
	require.Len(t, r.report.Findings, 1)
	f := r.report.Findings[0]
	assert.Equal(t, []string{"a100", "h100"}, f.CompiledFor)
	assert.Equal(t, rules.Confirmed, f.Confirmation)
}

func (s *compileSuite) function(t *testing.T) {
	r := s.run(t, "--target", "h100,b200", "kernels/with_jax_triton.py:reverse", "--args", "f32[65536]", "--donate", "0")
	assert.Equal(t, 1, r.code, r.stdout+r.stderr)
	require.Len(t, r.report.Findings, 1)
	f := r.report.Findings[0]
	assert.Equal(t, "AC201", f.Code)
	assert.Equal(t, []string{"b200", "h100"}, f.CompiledFor)
	assert.Equal(t, rules.Confirmed, f.Confirmation)
	assert.Equal(t, "reverse", f.Source.Function)
	assert.NotContains(t, r.stderr, "Traceback")

	// One GPU whose kernel is safe there, another that it was not compiled for at all.
	r = s.run(t, "--target", "rtx4090", "kernels.with_jax_triton:scale", "--args", "f32[65536]", "--donate", "0")
	assert.Equal(t, 0, r.code, r.stdout+r.stderr)
	assert.Equal(t, map[string]string{"scale": "safe"}, r.verdicts("rtx4090"))
}

func (s *compileSuite) configuration(t *testing.T) {
	r := s.run(t)
	assert.Equal(t, 1, r.code, r.stdout+r.stderr)
	require.Len(t, r.report.Summary.Compiled, 2)
	assert.Equal(t, 12, r.report.Summary.Compiled[0].Programs)
	assert.Equal(t, 14, r.report.Summary.Compiled[1].Programs)
	assert.Equal(t, "unsafe", r.verdicts("h100")["transpose_of_a_file"])
	assert.Empty(t, r.unread())
}

func (s *compileSuite) files(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(s.python, "files.py", dir)
	cmd.Dir = s.pkg
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	in := func(name string) string { return filepath.Join(dir, name) }
	r := s.run(t, in("reverse.jaxexport"), in("portable.mlirbc"), in("module.mlir"), in("bytecode.mlirbc"), in("two_platforms.jaxexport"))
	assert.Equal(t, 1, r.code, r.stdout+r.stderr)
	assert.Empty(t, r.unread())
	assert.Equal(t, 5, r.report.Summary.Modules)
	unsafe := 0
	for c := range r.report.Calls.All() {
		for _, p := range c.Pairs {
			if p.Declared && p.Shared && p.Verdict == "unsafe" {
				unsafe++
			}
		}
	}
	assert.Equal(t, 4, unsafe, "the reverse in place, in every form, donated")

	r = s.run(t, "--args", "f32[64]", in("symbolic.jaxexport"))
	assert.Equal(t, 0, r.code, r.stdout+r.stderr)

	r = s.run(t, in("cpu.jaxexport"), in("noise.bin"), in("symbolic.jaxexport"), in("none.jaxexport"))
	assert.Equal(t, 2, r.code)
	unread := r.unread()
	assert.Contains(t, unread[in("cpu.jaxexport")+" for h100"], "was exported for cpu, not for CUDA; mend: jax.export.export(")
	assert.Contains(t, unread[in("noise.bin")+" for h100"], "is neither StableHLO nor what jax.export serialized")
	assert.Contains(t, unread[in("none.jaxexport")+" for h100"], "there is no file")
	assert.Contains(t, unread[in("symbolic.jaxexport")+" for h100"], "--args")
}

func (s *compileSuite) mesh(t *testing.T) {
	r := s.run(t, "--mesh", "2x2", "kernels.over_a_mesh:programs")
	assert.Equal(t, 0, r.code, r.stdout+r.stderr)
	assert.Equal(t, 2, r.report.Summary.Modules)
	assert.Equal(t, map[string]string{"mesh_scale": "safe"}, r.verdicts("h100"))
	r = s.run(t, "--mesh", "x=2,y=4", "kernels.over_a_mesh:layer", "--args", "bf16[1024,512]@x,- bf16[512,256]@-,y")
	assert.Equal(t, 0, r.code, r.stdout+r.stderr)
}

func (s *compileSuite) mistakes(t *testing.T) {
	r := s.run(t, "mistakes/syntax.py:f", "mistakes/imports.py:f", "mistakes/functions.py:raise", "mistakes.nothing:f", "mistakes/none.py:f",
		"mistakes/listing.py:programs", "mistakes/listing.py:needs", "mistakes/listing.py:odd", "mistakes/listing.py:empty")
	assert.Equal(t, 2, r.code, r.stdout)
	unread := r.unread()
	assert.Len(t, unread, 9)
	assert.NotContains(t, r.stdout+r.stderr, "Traceback")
	for what, why := range map[string]string{
		"mistakes/syntax.py:f":         "syntax.py:2: SyntaxError: invalid syntax",
		"mistakes/imports.py:f":        "imports.py:1: ModuleNotFoundError: No module named 'a_package_that_is_not_there'; mend: install what has",
		"mistakes/functions.py:raise":  "mistakes/functions.py has no raise; mend: did you mean mistakes/functions.py:raises?",
		"mistakes.nothing:f":           "there is no Python module mistakes.nothing; mend:",
		"mistakes/none.py:f":           "there is no file mistakes/none.py",
		"mistakes/listing.py:programs": "returns int: without --args, programs were expected, as (name, function, args, options)",
		"mistakes/listing.py:needs":    "takes a, b: say of what shapes; mend: --args 'f32[4096,1024] i32[4096]'",
		"mistakes/listing.py:odd":      "(name, function, args, options) was expected",
		"mistakes/listing.py:empty":    "yields no program",
	} {
		assert.Contains(t, unread[what+" for h100"], why, what)
	}
	for args, why := range map[string]string{
		"f32[1024]":       "functions.py:13: ValueError: the kernel wants rows of 128, not of 1024",
		"f33[1024]":       "this JAX has no type f33; mend: did you mean f3",
		"f32[1024]@x":     "is sharded, and there is no mesh; mend: --mesh 2x4",
		"f32[1024] other": "a shape like f32[4096,1024] was expected",
	} {
		r := s.run(t, "mistakes/functions.py:raises", "--args", args)
		assert.Equal(t, 2, r.code, args)
		require.Len(t, r.report.Summary.Incomplete, 1)
		assert.Contains(t, r.report.Summary.Incomplete[0].Error, why, args)
	}
}

// hangAndCrash: the programs before and after one that hangs, or ends Python, are compiled.
func (s *compileSuite) hangAndCrash(t *testing.T) {
	began := time.Now()
	r := s.run(t, "--compile-timeout", "25s", "mistakes/functions.py:programs")
	assert.Less(t, time.Since(began), 3*time.Minute)
	assert.Equal(t, 2, r.code, r.stdout)
	assert.Equal(t, 2, r.report.Summary.Modules, "fine and after")
	unread := r.unread()
	assert.Len(t, unread, 2)
	assert.Equal(t, "it took longer than 25s (--compile-timeout)", unread["hangs for h100"])
	assert.Contains(t, unread["ends_python for h100"], "Python was ended by signal 6 (aborted)")
	assert.Equal(t, 2, r.report.Summary.Compiled[0].Programs)
}

// missing takes packages away from a working Python, one after the other.
func (s *compileSuite) missing(t *testing.T) {
	for _, m := range []struct{ name, gone, version, what, why string }{
		{"plugin", "jax_cuda|jax_plugins", "", "", "JAX 0.10.2 has no CUDA plugin in this Python"},
		{"ptxas", "nvidia", "", "", "there is no ptxas"},
		{"jax", "jax", "", "", "has no JAX"},
		{"old jax", "jax-", "0.4.30", "", "JAX 0.4.30 is too old: compiling for a GPU that is not there needs 0.5 or newer; mend:"},
	} {
		t.Run(m.name, func(t *testing.T) {
			python := s.without(t, strings.Split(m.gone, "|"), m.version)
			r := s.runIn(t, s.pkg, []string{"PATH=/usr/bin:/bin", "CUDA_ROOT=", "CUDA_HOME=", "CUDA_PATH="},
				"--python", python, "--target", "h100,b200", "kernels.without_kernels:ordered", "--args", "f32[1024]")
			assert.Equal(t, 2, r.code)
			unread := r.unread()["compile for b200, h100"]
			assert.Contains(t, unread, m.why)
			assert.Contains(t, unread, "pip install")
			assert.NotContains(t, r.stdout+r.stderr, "Traceback")
		})
	}
}

// without is the suite's Python with its packages less those whose names begin so.
func (s *compileSuite) without(t *testing.T, gone []string, version string) string {
	found, err := filepath.Glob(filepath.Join(filepath.Dir(s.python), "..", "lib", "python3*", "site-packages", "*"))
	require.NoError(t, err)
	dir := t.TempDir()
	for _, path := range found {
		name := filepath.Base(path)
		if !slices.ContainsFunc(gone, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			require.NoError(t, os.Symlink(path, filepath.Join(dir, name)))
		}
	}
	if version != "" {
		old := filepath.Join(dir, "jax-"+version+".dist-info")
		require.NoError(t, os.Mkdir(old, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(old, "METADATA"), []byte("Metadata-Version: 2.1\nName: jax\nVersion: "+version+"\n"), 0o644))
	}
	base, err := filepath.EvalSymlinks(s.python)
	require.NoError(t, err)
	script := filepath.Join(t.TempDir(), "python")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nPYTHONPATH="+dir+" exec "+base+" -S \"$@\"\n"), 0o755))
	return script
}

// releases compiles with the oldest and the newest JAX that this machine's Pythons allow.
func (s *compileSuite) releases(t *testing.T) {
	for name, dir := range s.venvs {
		if name == "jax-0.10.2" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			what := []string{"kernels.without_kernels:programs"}
			if name == "jax-0.11.2" {
				what = append(what, "kernels.with_pallas:programs", "kernels.with_mosaic:programs")
			}
			r := s.runIn(t, s.pkg, nil, append([]string{"--python", filepath.Join(dir, "bin", "python"), "--target", "h100", "--verbose"}, what...)...)
			assert.Empty(t, r.unread())
			require.Len(t, r.report.Summary.Compiled, 1)
			want := 0
			for program := range truth(t) {
				if !strings.HasPrefix(program, "triton_") && (len(what) > 1 || !strings.HasPrefix(program, "pallas_") && !strings.HasPrefix(program, "mosaic_")) {
					want++
				}
			}
			assert.Equal(t, want, r.report.Summary.Compiled[0].Programs)
			assert.Equal(t, strings.TrimPrefix(name, "jax-"), r.report.Summary.Compiled[0].JAX)
			if name == "jax-0.5.3" {
				assert.Contains(t, r.stderr, "fields of the target configuration that this JAX does not know, left out: ")
				assert.Contains(t, r.stderr, "XLA's own autotuning is off")
			}
		})
	}
}

// testSuite: real pytest, compiling for an H100 that is not there what it would have run.
func (s *compileSuite) testSuite(t *testing.T) {
	pytest := func(name string, env ...string) *compiled {
		python := filepath.Join(s.venvs[name], "bin", "python")
		return s.command(t, s.pkg, env, "run", "--target", "h100", "--", python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "suite")
	}
	r := pytest("jax-0.10.2")
	assert.Equal(t, 1, r.code, "the audit's; pytest failed with the same, and does not count\n%s%s", r.stdout, r.stderr)
	assert.Empty(t, r.unread())
	assert.Contains(t, r.stdout, "1 failed, 8 passed, 1 skipped")
	require.Len(t, r.report.Summary.Compiled, 1)
	got := r.report.Summary.Compiled[0]
	assert.Equal(t, &rules.CompiledTests{Ended: 8, Failed: 1, CompiledNothing: 1}, got.Tests)
	assert.Equal(t, 9, got.Programs)
	assert.Contains(t, r.stdout, "of 9 tests 8 ran to their end, 1")
	found := map[string][]string{}
	for _, f := range r.report.Findings {
		assert.Equal(t, []string{"h100"}, f.CompiledFor)
		assert.Equal(t, "AC201", f.Code)
		found[f.Kernel] = f.Tests
	}
	assert.Equal(t, map[string][]string{
		"reverse_kernel":   {"suite/test_kernels.py::test_reverse_in_place_is_right"},
		"transpose_kernel": {"suite/test_kernels.py::test_transpose[128]", "suite/test_kernels.py::test_transpose[256]"},
	}, found)

	r = pytest("jax-0.10.2", "XLA_FLAGS=--xla_force_host_platform_device_count=2")
	assert.Equal(t, 2, r.code, r.stdout)
	require.Len(t, r.report.Summary.Incomplete, 1)
	assert.Contains(t, r.report.Summary.Incomplete[0].Error, "it runs over 2 devices, and here it could be compiled for one")
	assert.Contains(t, r.report.Summary.Incomplete[0].Error, "(during suite/test_kernels.py::test_on_two_devices)")
}
