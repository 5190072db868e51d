package runner

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asRunner, in the environment, makes the test binary run its arguments as
// aliascheck would: signals and terminals need a process of their own.
const asRunner = "ALIASCHECK_TEST_AS_RUNNER"

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) == "" {
		os.Exit(m.Run())
	}
	r, err := Run(context.Background(), options(os.Stdout, os.Args[1:]...), newFakeAuditor())
	fmt.Printf("code %d error %v\n", r.Code, err)
	os.Exit(r.Code)
}

func options(stdout *os.File, command ...string) Options {
	return Options{
		Command: command, Env: os.Environ(), Stdin: os.Stdin, Stdout: stdout, Stderr: os.Stderr,
		Python: true, Jobs: 2, Poll: 10 * time.Millisecond, Grace: time.Minute, Note: func(string) {},
	}
}

// run runs a shell script to its end and returns its output.
func run(t *testing.T, o Options, a Auditor, script string) (Result, string, error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	require.NoError(t, err)
	defer out.Close()
	o.Command, o.Stdout = []string{"sh", "-c", script}, out
	r, runErr := Run(context.Background(), o, a)
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	return r, string(text), runErr
}

const writeModule = `
module() {
	mkdir -p "$ALIASCHECK_DUMPS/$1"
	printf "$3" > "$ALIASCHECK_DUMPS/$1/$2.cpu_after_optimizations.hlo.pb"
	: > "$ALIASCHECK_DUMPS/$1/$2.debug_options"
}
`

func TestRunAuditsAndReturnsTheCommandsCode(t *testing.T) {
	tests := map[string]struct {
		script string
		code   int
	}{
		"success": {"exit 0", 0},
		"failure": {"exit 3", 3},
		"crash":   {"kill -SEGV $$", 139},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newFakeAuditor()
			o := options(nil)
			o.DumpDir = t.TempDir()
			r, _, err := run(t, o, a, writeModule+`module a module_0000.jit_f end; module b module_0000.jit_f 'finding end'; `+test.script)
			require.NoError(t, err)
			assert.Equal(t, test.code, r.Code)
			assert.Equal(t, []string{"module_0000.jit_f.cpu_after_optimizations.hlo.pb", "module_0000.jit_f.cpu_after_optimizations.hlo.pb"}, a.order)
			files, err := filepath.Glob(filepath.Join(r.Dumps, "*", "*"))
			require.NoError(t, err)
			assert.Len(t, files, 2, "the module with a finding is kept: %v", files)
			assert.NoDirExists(t, filepath.Join(r.Dumps, pythonDir))
		})
	}
}

func TestRunLeavesNothingBehind(t *testing.T) {
	for _, keep := range []Keep{KeepAll, KeepFindings, KeepNone} {
		o := options(nil)
		o.DumpDir, o.Keep = t.TempDir(), keep
		r, _, err := run(t, o, newFakeAuditor(), "true")
		require.NoError(t, err)
		assert.Empty(t, r.Dumps)
		left, err := os.ReadDir(o.DumpDir)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

func TestRunSaysWhyACommandDidNotStart(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	for command, code := range map[string]int{"no-such-command-here": 127, "/no/such/file": 127, plain: 126} {
		o := options(os.Stdout, command)
		o.DumpDir = t.TempDir()
		r, err := Run(context.Background(), o, newFakeAuditor())
		assert.Equal(t, code, r.Code)
		assert.ErrorContains(t, err, command)
		left, err := os.ReadDir(o.DumpDir)
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

func TestRunRefusesADirectoryThatPythonCannotFind(t *testing.T) {
	o := options(nil)
	o.DumpDir = filepath.Join(t.TempDir(), "a:b")
	r, _, err := run(t, o, newFakeAuditor(), "echo never")
	assert.Equal(t, 2, r.Code)
	assert.ErrorContains(t, err, "PYTHONPATH cannot hold a directory with ':' in its name")
	left, err := os.ReadDir(o.DumpDir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestRunSetsTheChildsEnvironment(t *testing.T) {
	o := options(nil)
	o.DumpDir = t.TempDir()
	theirs := filepath.Join(o.DumpDir, "their dumps")
	o.Env = []string{"PATH=" + os.Getenv("PATH"), "PYTHONPATH=/mine", "PYTEST_ADDOPTS=-q", "JAX_ENABLE_COMPILATION_CACHE=true",
		"XLA_FLAGS=--xla_x=1 --xla_dump_to='" + theirs + "'"}
	var notes []string
	o.Note = func(s string) { notes = append(notes, s) }
	script := `echo "$XLA_FLAGS|$PYTHONPATH|$PYTEST_ADDOPTS|$JAX_ENABLE_COMPILATION_CACHE|$ALIASCHECK_DUMPS"; ls -A "${PYTHONPATH%%:*}"`
	r, out, err := run(t, o, newFakeAuditor(), script)
	require.NoError(t, err)
	require.Zero(t, r.Code)
	line, files, _ := strings.Cut(out, "\n")
	got := strings.Split(line, "|")
	root := got[4]
	assert.Equal(t, o.DumpDir, filepath.Dir(root), "an explicit directory wins")
	assert.Equal(t, []string{
		`--xla_x=1 --xla_dump_to="` + root + `/shared" --xla_dump_hlo_as_proto`,
		root + "/.python:/mine", "-p aliascheck_pytest -q", "false", root,
	}, got)
	assert.Equal(t, "aliascheck_pytest.py\naliascheck_run.py\naliascheck_targets.py\nsitecustomize.py\n", files)
	assert.Contains(t, strings.Join(notes, "\n"), "XLA_FLAGS has --xla_dump_to="+theirs)
	assert.NotContains(t, strings.Join(notes, "\n"), "persistent compilation cache", "nobody turned it on")

	o.DumpDir, o.Python = "", false
	_, out, err = run(t, o, newFakeAuditor(), writeModule+`echo "$XLA_FLAGS|$PYTHONPATH|$PYTEST_ADDOPTS|$ALIASCHECK_DUMPS"
		ALIASCHECK_DUMPS=${XLA_FLAGS#*dump_to=?}; ALIASCHECK_DUMPS=${ALIASCHECK_DUMPS%/shared*}; module shared module_0000.jit_f end`)
	require.NoError(t, err)
	assert.Regexp(t, `--xla_dump_to="`+theirs+`/aliascheck-run-\d+/shared" --xla_dump_hlo_as_proto\|/mine\|-q\|`, out)
	kept, err := filepath.Glob(theirs + "/aliascheck-run-*/shared/*")
	require.NoError(t, err)
	assert.Len(t, kept, 2, "dumps that the user asked for stay")
}

func TestRunAuditsWhileTheCommandRuns(t *testing.T) {
	a := newFakeAuditor()
	a.seen = make(chan string, 1)
	o := options(nil)
	o.DumpDir = t.TempDir()
	o.Env = append(o.Env, "RELEASE="+filepath.Join(o.DumpDir, "release"))
	go func() {
		<-a.seen
		_ = os.WriteFile(filepath.Join(o.DumpDir, "release"), nil, 0o644)
	}()
	r, out, err := run(t, o, a, writeModule+`module p module_0000.jit_f end
		until [ -e "$RELEASE" ]; do sleep 0.02; done
		until [ -z "$(ls "$ALIASCHECK_DUMPS/p")" ]; do sleep 0.02; done
		echo deleted`)
	require.NoError(t, err)
	assert.Equal(t, Result{}, r)
	assert.Equal(t, "deleted\n", out)
}

func TestRunWaitsForProcessesThatOutliveTheCommand(t *testing.T) {
	a := newFakeAuditor()
	o := options(nil)
	o.DumpDir = t.TempDir()
	_, _, err := run(t, o, a, writeModule+`(sleep 0.3; module p module_0000.jit_f end) &`)
	require.NoError(t, err)
	assert.Len(t, a.order, 1)
}

// TestRunNamesWhatOutlivesIt: a daemon that made itself a session of its own cannot be
// waited for, and what it writes after the audit nobody reads.
func TestRunNamesWhatOutlivesIt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found by their environment, which only Linux shows")
	}
	for name, start := range map[string]string{"daemon": "setsid sleep 60", "in the group": "sleep 60"} {
		t.Run(name, func(t *testing.T) {
			a := newFakeAuditor()
			o := options(nil)
			o.DumpDir, o.Grace = t.TempDir(), 300*time.Millisecond
			_, out, err := run(t, o, a, start+` >/dev/null 2>&1 & echo $!; until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.02; done`)
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(out))
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			assert.Equal(t, map[string]string{"sleep 60": fmt.Sprintf(
				"process %d, which the command started, still runs: what it compiles from here on is not audited", pid)}, a.incomplete)
		})
	}
}

// TestRunNamesModulesUnderOtherNames: XLA gives none of these, and none is passed over.
func TestRunNamesModulesUnderOtherNames(t *testing.T) {
	a := newFakeAuditor()
	o := options(nil)
	o.DumpDir = t.TempDir()
	_, _, err := run(t, o, a, `cd "$ALIASCHECK_DUMPS"; mkdir -p p/sub/deep
		for f in foo_after_optimizations.hlo.pb module_99999999999999999999.jit_f.cpu_after_optimizations.hlo.pb \
			module_0001.jit_g.cpu_after_optimizations.hlo.pb.gz sub/module_0002.jit_h.cpu_after_optimizations.hlo.pb \
			sub/deep/x.hlo.pb ../module_0003.jit_i.cpu_after_optimizations.hlo.pb \
			module_0004.jit_whole.cpu_after_optimizations.hlo.pb module_0004.jit_whole.after_spmd_partitioner.hlo.pb
		do printf end > p/$f; done; ln -s /dev/null p/linked.hlo.pb`)
	require.NoError(t, err)
	assert.Equal(t, []string{"module_0004.jit_whole.cpu_after_optimizations.hlo.pb"}, a.order)
	const why = "XLA gives a module no such name or place: not audited"
	assert.Equal(t, map[string]string{
		"foo_after_optimizations.hlo.pb": why, "module_99999999999999999999.jit_f.cpu_after_optimizations.hlo.pb": why,
		"module_0001.jit_g.cpu_after_optimizations.hlo.pb.gz": why, "module_0002.jit_h.cpu_after_optimizations.hlo.pb": why,
		"x.hlo.pb": why, "module_0003.jit_i.cpu_after_optimizations.hlo.pb": why, "linked.hlo.pb": why,
	}, a.incomplete)
}

func TestSignalsReachEveryProcessOfTheCommandOnce(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1} {
		t.Run(s.String(), func(t *testing.T) {
			name := map[syscall.Signal]string{syscall.SIGINT: "INT", syscall.SIGTERM: "TERM", syscall.SIGHUP: "HUP", syscall.SIGUSR1: "USR1"}[s]
			// The inner shell is a grandchild; both must see the signal, once.
			script := `n=0; trap 'n=$((n+1))' ` + name + `
				sh -c 'm=0; trap "m=\$((m+1))" ` + name + `; echo ready; until [ $m -gt 0 ]; do sleep 0.02; done; sleep 0.2; echo inner $m'
				echo outer $n; exit 7`
			cmd := exec.Command(os.Args[0], "sh", "-c", script)
			cmd.Env = append(os.Environ(), asRunner+"=1")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewReader(out)
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "ready\n", line)
			require.NoError(t, cmd.Process.Signal(s))
			rest, err := io.ReadAll(lines)
			require.NoError(t, err)
			assert.Equal(t, "inner 1\nouter 1\ncode 7 error <nil>\n", string(rest))
			assert.Error(t, cmd.Wait())
			assert.Equal(t, 7, cmd.ProcessState.ExitCode())
		})
	}
}

func TestASignalThatEndsTheCommandGivesTheShellsCode(t *testing.T) {
	cmd := exec.Command(os.Args[0], "sh", "-c", "echo ready; exec sleep 1000")
	cmd.Env = append(os.Environ(), asRunner+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	assert.Equal(t, "code 143 error <nil>\n", string(rest))
	assert.Error(t, cmd.Wait())
	assert.Equal(t, 143, cmd.ProcessState.ExitCode())
}
