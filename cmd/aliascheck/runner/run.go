// Package runner runs a command so that XLA dumps what it compiles, and hands every
// module to an auditor as soon as it is whole.
//
// In: a command and its environment. Out: how the command ended, and the modules,
// each with the test that compiled it where pytest ran. Every process of the command
// dumps into a directory of its own, since XLA numbers modules anew in each.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// pythonDir is the directory of the embedded Python modules, beside the dumps.
const pythonDir = ".python"

// Options say what to run and how.
type Options struct {
	Command []string
	Env     []string // as os.Environ gives it
	Stdin   *os.File
	Stdout  *os.File
	Stderr  *os.File

	DumpDir string  // where to make the directory of dumps; empty: where XLA_FLAGS says, else the system's
	Keep    Keep    // empty: all where XLA_FLAGS says where, else findings
	Python  bool    // load the embedded modules: a directory for each process, and the pytest plugin
	Target  *Target // compile for this GPU, which need not be there, and run nothing of it; nil: as the command does
	Jobs    int     // audits at a time once the command has ended; one while it runs

	Poll  time.Duration // between two looks at the dumps
	Grace time.Duration // for processes that outlive the command
	Note  func(text string)
	Ended func() // called when the command has ended, before the rest is audited; nil: nobody asks
}

// Result is how the command ended.
type Result struct {
	Code  int    // as a shell has it: 128 + n where signal n ended the command
	Dumps string // the directory of dumps, where some were kept

	Absent Absent // with Options.Target: what was compiled for it
}

// Run runs the command to its end, auditing as it goes, and then audits the rest.
// The command gets the signals that this process receives. The error is about the
// audit or the start of the command; Result.Code holds in both cases.
func Run(ctx context.Context, o Options, auditor Auditor) (Result, error) {
	flags, err := readFlags(environment(o.Env).get("XLA_FLAGS"))
	if err != nil {
		return Result{Code: 2}, err
	}
	root, err := prepare(&o, flags)
	if err != nil {
		return Result{Code: 2}, err
	}
	w := newWatcher(root, auditor, o.Keep)
	python := ""
	if o.Python {
		python = filepath.Join(root, pythonDir)
	}
	env := childEnvironment(o.Env, flags, root, filepath.Join(root, "shared"), python, o.Target)
	result, err := runCommand(ctx, o, env, w)
	if o.Ended != nil {
		o.Ended()
	}
	if err == nil {
		err = finish(ctx, o, w)
	}
	result.Absent = w.absent
	kept, cleanErr := clean(root, w)
	if kept {
		result.Dumps = root
	}
	return result, errors.Join(err, cleanErr)
}

// prepare makes the directory of dumps and says what the run changes.
func prepare(o *Options, flags dumpFlags) (root string, err error) {
	parent := o.DumpDir
	theirs := flags.dumpTo != "" && flags.dumpTo != "-"
	if parent == "" && theirs {
		parent = flags.dumpTo
	}
	if o.Keep == "" {
		o.Keep = KeepFindings
		if theirs {
			o.Keep = KeepAll
		}
	}
	if parent != "" {
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return "", err
		}
		if parent, err = filepath.Abs(parent); err != nil {
			return "", err
		}
	}
	if root, err = os.MkdirTemp(parent, "aliascheck-run-"); err != nil {
		return "", err
	}
	if o.Python {
		if strings.ContainsRune(root, os.PathListSeparator) {
			err := fmt.Errorf("%s: PYTHONPATH cannot hold a directory with %q in its name", root, os.PathListSeparator)
			return "", errors.Join(err, os.RemoveAll(root))
		}
		if err := writePython(filepath.Join(root, pythonDir)); err != nil {
			return "", errors.Join(err, os.RemoveAll(root))
		}
		if o.Target != nil {
			if err := o.Target.write(filepath.Join(root, pythonDir)); err != nil {
				return "", errors.Join(err, os.RemoveAll(root))
			}
		}
	}
	for _, note := range flags.notes {
		o.Note(note)
	}
	if flags.dumpTo != "" {
		o.Note(fmt.Sprintf("XLA_FLAGS has --xla_dump_to=%s: each process dumps into a directory of its own below %s instead", flags.dumpTo, root))
	}
	if dir := environment(o.Env).get("JAX_COMPILATION_CACHE_DIR"); dir != "" {
		o.Note("JAX's persistent compilation cache is off for this run, in spite of JAX_COMPILATION_CACHE_DIR: a program that comes out of it leaves no dump")
	}
	return root, nil
}

// runCommand runs the command and watches its dumps until its last process has ended.
func runCommand(ctx context.Context, o Options, env environment, w *watcher) (Result, error) {
	relay := newRelay()
	defer relay.stop()
	c, err := start(o.Command, env, o.Stdin, o.Stdout, o.Stderr)
	if err != nil {
		var failed *startError
		if errors.As(err, &failed) {
			return Result{Code: failed.code}, err
		}
		return Result{Code: 2}, err
	}
	go relay.to(c)
	watching, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for watching.Err() == nil {
			w.poll(watching)
			select {
			case <-watching.Done():
			case <-time.After(o.Poll):
			}
		}
	}()
	status, err := c.wait()
	left := c.waitForAll(w.dumps, o.Grace)
	stop()
	<-stopped
	for _, s := range left {
		w.auditor.Incomplete(cmp.Or(s.line, "a process"), fmt.Errorf("process %d, which the command started, still runs: what it compiles from here on is not audited", s.pid))
	}
	return Result{Code: exitCode(status)}, err
}

func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// finish audits the rest; now an interrupt is meant for the audit.
func finish(ctx context.Context, o Options, w *watcher) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return w.finish(ctx, o.Jobs)
}

// clean removes what is not to be kept, and reports whether any dump was.
func clean(root string, w *watcher) (kept bool, err error) {
	for _, p := range w.processes {
		for _, m := range p.modules {
			kept = kept || w.keep != KeepNone && !w.drop(m)
		}
	}
	if !kept {
		return false, os.RemoveAll(root)
	}
	return true, os.RemoveAll(filepath.Join(root, pythonDir))
}
