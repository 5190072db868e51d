package main

import (
	"context"
	"fmt"
	"runtime"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/diff"
	"aliascheck/rules"

	"github.com/spf13/cobra"
)

func newDiffCommand(a *cli.App) *cobra.Command {
	o := audit.Options{FailOn: "never", FindingsCode: cli.ExitFindings, Color: "never"}
	cmd := &cobra.Command{
		Use:   "diff [flags] OLD NEW",
		Short: "Compare the custom calls and the memory of two dumps",
		Long: `diff says what the assignment of one dump does that the other's does not: two
JAX versions, a test alone and in the full suite, before and after a change.
Calls are matched by module name, target, kernel, shapes and Python function,
and compared in their declared pairs, sharing, kind of memory, autotuner
entries and verdict. Module numbers, offsets and ids do not count. Findings about
a module's memory that are no call's, like two values in one place (AC107), are
matched by module name and fingerprint.

Where one dump holds a call more often than the other, it counts as changed if
one of them is in a state that the other dump has nowhere.

Exit codes: 0 no difference; 1 differences; 2 a dump could not be read whole.`,
		Example: `  aliascheck diff dump_alone/ dump_full_suite/
  aliascheck diff --replay emulate --format json old.zip new.zip`,
		Args: cli.Exactly(2, "two dumps were expected: `aliascheck diff OLD NEW`"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return compareDumps(cmd.Context(), a, &o, [2]string(args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "text", "`FORMAT` of the report: text or json")
	f.StringVar(&o.Replay, "replay", "off", "`HOW` to run the kernels for the verdicts: off or emulate")
	f.StringVar(&o.Config, "config", "", "configuration `FILE` (default "+audit.DefaultConfig+" where it exists)")
	f.StringVar(&o.SrcRoot, "src-root", "", "`DIR` that Python files are named relative to")
	f.IntVar(&o.Jobs, "jobs", runtime.GOMAXPROCS(0), "read `N` modules at the same time")
	f.BoolVar(&o.Quiet, "quiet", false, "no progress line")
	o.Kernels.Add(cmd)
	return cmd
}

// compareDumps reads both dumps and writes what differs.
func compareDumps(ctx context.Context, a *cli.App, o *audit.Options, paths [2]string) error {
	if o.Format != "text" && o.Format != "json" {
		return fmt.Errorf("--format %q: text or json was expected", o.Format)
	}
	if o.Replay != "off" && o.Replay != "emulate" {
		return fmt.Errorf("--replay %q: off or emulate was expected", o.Replay)
	}
	if err := o.Check(); err != nil {
		return err
	}
	job, err := newDiffJob(a, o)
	if err != nil {
		return err
	}
	p := audit.NewProgress(a.Stderr, o.Quiet)
	defer p.Clear()
	how := diff.Options{Limits: o.Limits, Jobs: o.Jobs, Step: p.Step, Auditor: func() *rules.Auditor { return job.NewWorker().Auditor }}
	var sides [2]*diff.Dump
	for n, path := range paths {
		if sides[n], err = diff.Read(ctx, how, path); err != nil {
			return err
		}
	}
	p.Clear()
	r := diff.Compare(a.Tool(), paths, sides[0], sides[1])
	write := r.WriteText
	if o.Format == "json" {
		write = r.WriteJSON
	}
	if err := write(a.Stdout); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	switch {
	case !r.Whole():
		return cli.ExitError(cli.ExitFailed)
	case !r.Same():
		return cli.ExitError(cli.ExitFindings)
	}
	return nil
}

// newDiffJob is what reads and judges both sides.
func newDiffJob(a *cli.App, o *audit.Options) (*audit.Job, error) {
	job := &audit.Job{Options: o, Collector: rules.NewCollector()}
	var err error
	if job.Config, err = o.LoadConfig(); err != nil {
		return nil, err
	}
	if o.Replay != "off" {
		if job.Runner, err = o.Kernels.Runner(a.Version); err != nil {
			return nil, err
		}
	}
	return job, nil
}
