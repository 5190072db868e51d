package compile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakePython is a shell script in Python's place: it finds its job on standard input
// and the pipe of events at 3.
func fakePython(t *testing.T, script string) Options {
	dir := t.TempDir()
	path := filepath.Join(dir, "python")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\njob=$(cat)\ndump=$(printf %s \"$job\" | sed 's/.*\"dump\":\"\\([^\"]*\\)\".*/\\1/')\n"+script), 0o755))
	root := filepath.Join(dir, "root")
	require.NoError(t, os.Mkdir(root, 0o755))
	targets, err := Lookup([]string{"h100"})
	require.NoError(t, err)
	return Options{
		Python: path, Env: os.Environ(), Root: root, Jobs: 2, Timeout: time.Minute, Targets: targets,
		Programs: []Program{{What: "m:f"}},
	}
}

func outcomes(t *testing.T, o Options) map[string]*Outcome {
	all := map[string]*Outcome{}
	o.Done = func(out *Outcome) error {
		all[out.Target] = out
		return nil
	}
	require.NoError(t, Run(context.Background(), o))
	return all
}

const ready = `echo '{"event":"ready","jax":"0.10.2","python":"3.12.1","dropped":["x"]}' >&3
`

func TestOutcomeOfAProcessThatGoesThrough(t *testing.T) {
	o := fakePython(t, ready+`
touch "$dump/module_0001.jit_f.sm_9.0a_gpu_after_optimizations.hlo.pb"
echo '{"event":"start","key":"0/0","name":"f"}' >&3
echo '{"event":"end","key":"0/0","name":"f","modules":[1],"seconds":0.5,"placeholders":["p"],"without":["w"]}' >&3
echo '{"event":"fail","key":"0/1","name":"g","error":"ValueError: no","mend":"do","place":"m.py:3"}' >&3
echo '{"event":"done"}' >&3`)
	var err error
	o.Targets, err = Lookup([]string{"h100", "b200", "h100"})
	require.NoError(t, err)
	all := outcomes(t, o)
	require.Len(t, all, 2)
	for _, out := range all {
		assert.Equal(t, "0.10.2", out.JAX)
		assert.Equal(t, []string{"x"}, out.Dropped)
		assert.Equal(t, []string{"p"}, out.Placeholders)
		assert.Equal(t, []string{"w"}, out.Without)
		require.Len(t, out.Compiled, 1)
		assert.Equal(t, []int{1}, out.Compiled[0].Modules)
		require.Len(t, out.Failures, 1)
		assert.Equal(t, "m.py:3: ValueError: no; mend: do", out.Failures[0].String())
		assert.Nil(t, out.Refused)
	}
	_, err = os.Stat(filepath.Join(o.Root, "site-packages"))
	assert.ErrorIs(t, err, os.ErrNotExist, "the scripts are gone")
}

func TestRefusalIsAllThatIsSaid(t *testing.T) {
	o := fakePython(t, `echo '{"event":"refused","error":"no JAX","mend":"pip install jax"}' >&3`)
	out := outcomes(t, o)["h100"]
	require.NotNil(t, out.Refused)
	assert.Equal(t, "no JAX; mend: pip install jax", out.Refused.String())
	assert.Empty(t, out.Compiled)
}

func TestCrashBeforeAnything(t *testing.T) {
	o := fakePython(t, "echo 'ImportError: libfoo' >&2; exit 3")
	out := outcomes(t, o)["h100"]
	require.NotNil(t, out.Refused)
	assert.Equal(t, "Python ended with exit code 3: ImportError: libfoo", out.Refused.String())
}

// TestCrashOverOneProgram: the process that dies over a program is followed by another
// that leaves it out, and what it left half is removed.
func TestCrashOverOneProgram(t *testing.T) {
	o := fakePython(t, ready+`
case "$job" in *'"skip":["0/0","0/1"]'*) ;; *)
touch "$dump/module_0001.jit_f.sm_9.0a_gpu_after_optimizations.hlo.pb" "$dump/module_0002.jit_g.before_optimizations.hlo.pb"
echo '{"event":"end","key":"0/0","name":"f","modules":[1]}' >&3
echo '{"event":"start","key":"0/1","name":"g"}' >&3
echo 'F0000 check failed' >&2
kill -ABRT $$;; esac
echo '{"event":"end","key":"0/2","name":"h","modules":[1]}' >&3
echo '{"event":"done"}' >&3`)
	out := outcomes(t, o)["h100"]
	require.Len(t, out.Failures, 1)
	assert.Equal(t, "g", out.Failures[0].Program)
	assert.Contains(t, out.Failures[0].Error, "aborted")
	assert.Contains(t, out.Failures[0].Error, "F0000 check failed")
	require.Len(t, out.Dumps, 2)
	require.Len(t, out.Compiled, 2)
	assert.Equal(t, out.Dumps[0], out.Compiled[0].Dump)
	assert.Equal(t, out.Dumps[1], out.Compiled[1].Dump)
	left, err := os.ReadDir(out.Dumps[0])
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Contains(t, left[0].Name(), "module_0001")
}

func TestHangEndsWithItsChildren(t *testing.T) {
	o := fakePython(t, ready+`
case "$job" in *'"skip":["0/0"]'*) echo '{"event":"done"}' >&3; exit;; esac
echo '{"event":"start","key":"0/0","name":"slow"}' >&3
sleep 600 & sleep 600`)
	o.Timeout = 300 * time.Millisecond
	began := time.Now()
	out := outcomes(t, o)["h100"]
	assert.Less(t, time.Since(began), 30*time.Second)
	require.Len(t, out.Failures, 1)
	assert.Equal(t, "slow", out.Failures[0].Program)
	assert.Equal(t, "it took longer than 300ms (--compile-timeout)", out.Failures[0].Error)
}

func TestEndOfTheAuditEndsPython(t *testing.T) {
	o := fakePython(t, ready+"sleep 600")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	o.Done = func(*Outcome) error { return nil }
	began := time.Now()
	assert.ErrorIs(t, Run(ctx, o), context.DeadlineExceeded)
	assert.Less(t, time.Since(began), 30*time.Second)
}

func TestProgramsOfOtherTargetsAreLeftOut(t *testing.T) {
	o := fakePython(t, ready+`printf %s "$job" > "$dump/job"; echo '{"event":"done"}' >&3`)
	o.Programs = []Program{{What: "m:f"}, {What: "m:g", Targets: []string{"b200"}}}
	out := outcomes(t, o)["h100"]
	text, err := os.ReadFile(filepath.Join(out.Dumps[0], "job"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "m:f")
	assert.NotContains(t, string(text), "m:g")
}

// TestTargetConfigurations holds what is written to what XLA's reader needs: one value a
// field, braces that close, and the capability that the Python side looks for.
func TestTargetConfigurations(t *testing.T) {
	assert.True(t, slices.Contains(Names(), "rtx5090"))
	for _, name := range Names() {
		targets, err := Lookup([]string{strings.ToUpper(name)})
		require.NoError(t, err)
		text := targets[0].Config
		assert.Equal(t, strings.Count(text, "{"), strings.Count(text, "}"), name)
		for _, field := range []string{"core_count: ", "l2_cache_size: ", "cuda_compute_capability {", "platform_name: \"CUDA\"", "max_blocks_per_multiprocessor: "} {
			assert.Equal(t, 1, strings.Count(text, field), "%s: %s", name, field)
		}
		assert.Equal(t, strings.Contains(text, "ACCELERATED_FEATURES"), strings.Contains(text, "a with "), name)
	}
	_, err := Lookup([]string{"h1000"})
	assert.ErrorContains(t, err, "rtx4090")
}

func TestTargetFromAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "module_0001.jit_f.gpu_target_config.pbtxt")
	require.NoError(t, os.WriteFile(path, []byte("gpu_device_info { cuda_compute_capability { major: 9 } }"), 0o644))
	target, err := FromFile(path)
	require.NoError(t, err)
	assert.Equal(t, "module_0001", target.Name)
	bad := filepath.Join(dir, "bad.pbtxt")
	require.NoError(t, os.WriteFile(bad, []byte("x: 1"), 0o644))
	_, err = FromFile(bad)
	assert.ErrorContains(t, err, "cuda_compute_capability")
}

func TestFindPython(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "venv", "bin")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "python"), []byte("#!/bin/sh\n"), 0o755))
	path, err := FindPython("", []string{"VIRTUAL_ENV=" + filepath.Join(dir, "venv")})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(bin, "python"), path)
	_, err = FindPython(filepath.Join(dir, "none"), nil)
	assert.ErrorContains(t, err, "--python")
}
