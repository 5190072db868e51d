package main

import (
	"context"
	"fmt"
	"runtime"

	"aliascheck/cmd/aliascheck/diff"
	"aliascheck/rules"

	"github.com/spf13/cobra"
)

func newDiffCommand(a *app) *cobra.Command {
	o := auditOptions{failOn: "never", findingsCode: exitFindings, color: "never"}
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
		Args: exactly(2, "two dumps were expected: `aliascheck diff OLD NEW`"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.diff(cmd.Context(), a, [2]string(args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the report: text or json")
	f.StringVar(&o.replay, "replay", "off", "`HOW` to run the kernels for the verdicts: off or emulate")
	f.StringVar(&o.config, "config", "", "configuration `FILE` (default "+defaultConfig+" where it exists)")
	f.StringVar(&o.srcRoot, "src-root", "", "`DIR` that Python files are named relative to")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "read `N` modules at the same time")
	f.BoolVar(&o.quiet, "quiet", false, "no progress line")
	o.kernels.add(cmd)
	return cmd
}

// diff reads both dumps and writes what differs.
func (o *auditOptions) diff(ctx context.Context, a *app, paths [2]string) error {
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--format %q: text or json was expected", o.format)
	}
	if o.replay != "off" && o.replay != "emulate" {
		return fmt.Errorf("--replay %q: off or emulate was expected", o.replay)
	}
	if err := o.check(); err != nil {
		return err
	}
	job, err := o.newDiffJob()
	if err != nil {
		return err
	}
	p := newProgress(a.stderr, o.quiet)
	defer p.clear()
	how := diff.Options{Limits: o.limits, Jobs: o.jobs, Step: p.step, Auditor: func() *rules.Auditor { return job.newWorker().auditor }}
	var sides [2]*diff.Dump
	for n, path := range paths {
		if sides[n], err = diff.Read(ctx, how, path); err != nil {
			return err
		}
	}
	p.clear()
	r := diff.Compare(tool(), paths, sides[0], sides[1])
	write := r.WriteText
	if o.format == "json" {
		write = r.WriteJSON
	}
	if err := write(a.stdout); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	switch {
	case !r.Whole():
		return exitError(exitFailed)
	case !r.Same():
		return exitError(exitFindings)
	}
	return nil
}

// newDiffJob is what reads and judges both sides.
func (o *auditOptions) newDiffJob() (*auditJob, error) {
	job := &auditJob{options: o, collector: rules.NewCollector()}
	var err error
	if job.config, err = o.loadConfig(); err != nil {
		return nil, err
	}
	if o.replay != "off" {
		if job.runner, err = o.kernels.runner(); err != nil {
			return nil, err
		}
	}
	return job, nil
}
