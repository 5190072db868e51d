package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/compile"
	"aliascheck/cmd/aliascheck/runner"
	"aliascheck/rules"

	"github.com/spf13/cobra"
)

// runOptions are the flags of `aliascheck run`, beside those of every audit.
type runOptions struct {
	audit   audit.Options
	dumpDir string
	keep    string
	target  string
	plain   bool
}

func newRunCommand(a *cli.App) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] -- CMD...",
		Short: "Run a command with the dump flags set, then audit what it left",
		Long: `run starts any command so that XLA dumps every program that it compiles,
audits the dumps while the command runs, and reports when it has ended.

With --target h200, what the command would have compiled for a GPU is compiled
for an H200 that need not be there, and none of it is run: jitted functions
return zeros of the right shapes, so that a test gets as far as it can. Its
assertions do not count; the report says how many tests ran to their end.

The dump flags stand beside your own XLA_FLAGS. Every Python process gets a
dump directory of its own, workers of pytest-xdist and ranks of mpirun or srun
included, because XLA numbers modules anew in each process. JAX's persistent
compilation cache is turned off for the run: a program that comes out of it
leaves no dump. Under pytest, findings name the tests that compiled them;
nothing has to be installed.

Output and signals pass through. The report comes after the command's own
output: where the command writes to standard output as well, use --output
FORMAT=FILE for reports that a program reads.

Exit code: the command's own where it failed (128 + n where signal n ended it,
127 where it was not found), else the audit's: 0, 1 on findings (or what
--findings-exit-code says, to tell them from failed tests), 2 where the audit
is not whole.`,
		Example: `  aliascheck run -- pytest tests/jax
  aliascheck run --output junit=alias.xml -- pytest -n 8 tests/jax
  aliascheck run --keep none --fail-on warning -- python train.py
  aliascheck run --dump-dir /shared/dumps -- mpirun -np 4 python train.py`,
		Args: cli.AtLeastOne("no command was named: `aliascheck run -- pytest tests/jax` runs one and audits what it compiled"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.audit.AddFlags(cmd)
	o.audit.JAX.Add(cmd)
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVar(&o.dumpDir, "dump-dir", "", "`DIR` to put the dumps in (default: where XLA_FLAGS says, else a temporary one)")
	f.StringVar(&o.keep, "keep", "", "`WHICH` dumps to leave: all, findings or none (default findings; all where XLA_FLAGS has --xla_dump_to)")
	f.StringVar(&o.target, "target", "", "compile for this `GPU`, which need not be there, instead of running anything on one: "+strings.Join(compile.Names(), ", "))
	f.BoolVar(&o.plain, "plain", false, "set the flags only: no directory for each process, no pytest plugin")
	return cmd
}

func (o *runOptions) check() error {
	if o.target != "" && o.plain {
		return errors.New("--target needs what --plain leaves out")
	}
	if o.audit.Shard != "" {
		return errors.New("--shard is for the audit of a dump; give each machine its part of the tests, and join the reports with `aliascheck merge`")
	}
	switch runner.Keep(o.keep) {
	case "", runner.KeepAll, runner.KeepFindings, runner.KeepNone:
		return nil
	}
	return fmt.Errorf("--keep %q: one of all, findings, none was expected", o.keep)
}

// Dumps runs the command, audits, reports, and says how it all ended.
func (o *runOptions) run(ctx context.Context, a *cli.App, command []string) error {
	if err := o.check(); err != nil {
		return err
	}
	o.audit.DumpsGo = runner.Keep(o.keep) == runner.KeepNone
	job, err := o.audit.Prepare(a)
	if err != nil {
		return err
	}
	job.GPU = o.target
	settings, err := o.settings(a, command)
	if err != nil {
		return err
	}
	mode := o.audit.Replay
	if mode == "auto" {
		mode = "emulate" // the card is the command's, unless the user says gpu
	}
	endGPU, err := o.audit.GPU.Around(context.WithoutCancel(ctx), mode, job, nil)
	if err != nil {
		return err
	}
	defer endGPU()
	endJAX, err := o.audit.JAX.Around(mode, job, true)
	if err != nil {
		return err
	}
	defer endJAX()
	live := &audit.Live{Job: job}
	// A Ctrl-C is the command's while it runs; the runner sees to the audit.
	job.Timed.Pause(true)
	settings.Ended = func() { job.Timed.Pause(false) }
	result, err := runner.Run(context.WithoutCancel(ctx), settings, live)
	live.Close()
	if err == nil {
		live.CheckAny(command)
		if o.target != "" {
			job.Collector.Compiled(absent(o.target, result.Absent))
		}
		err = job.Finish(a)
	}
	if result.Dumps != "" {
		settings.Note("dumps are kept in " + result.Dumps)
	}
	if result.Code == 0 || o.target != "" && result.Code == 1 { // assertions about zeros do not count
		return err
	}
	if err != nil && !errors.As(err, new(cli.ExitError)) {
		fmt.Fprintf(a.Stderr, "aliascheck: %v\n", err)
		return cli.ExitError(result.Code) // of a command that did not start, or was not audited
	}
	settings.Note(fmt.Sprintf("%s ended with exit code %d, which is passed on", command[0], result.Code))
	return cli.ExitError(result.Code)
}

// absent is what came of a run for a GPU that was not there.
func absent(gpu string, a runner.Absent) rules.Compiled {
	return rules.Compiled{
		GPU: gpu, JAX: a.JAX, Programs: a.Compiled, Failed: a.Failed, Placeholders: a.Placeholders,
		Tests: &rules.CompiledTests{Ended: a.Tests.Ended, Failed: a.Tests.Failed, CompiledNothing: a.Tests.Nothing},
	}
}

// settings says what to run and where it reads and writes.
func (o *runOptions) settings(a *cli.App, command []string) (runner.Options, error) {
	s := runner.Options{
		Command: command, Env: os.Environ(),
		DumpDir: o.dumpDir, Keep: runner.Keep(o.keep), Python: !o.plain, Jobs: o.audit.Jobs,
		Poll: 500 * time.Millisecond, Grace: 5 * time.Second,
		Note: func(text string) {
			if !o.audit.Quiet {
				fmt.Fprintf(a.Stderr, "aliascheck: %s\n", text)
			}
		},
	}
	if o.target != "" {
		targets, err := compile.Lookup([]string{o.target})
		if err != nil {
			return s, err
		}
		s.Target = &runner.Target{Name: targets[0].Name, Config: targets[0].Config, Write: compile.WriteScripts}
	}
	var ok [3]bool
	s.Stdin, ok[0] = a.Stdin.(*os.File)
	s.Stdout, ok[1] = a.Stdout.(*os.File)
	s.Stderr, ok[2] = a.Stderr.(*os.File)
	if ok != [3]bool{true, true, true} {
		return s, errors.New("the command's standard streams must be files")
	}
	return s, nil
}
