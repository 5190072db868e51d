package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/compile"
	"aliascheck/cmd/aliascheck/runner"

	"github.com/spf13/cobra"
)

// compileOptions are the flags of `aliascheck compile`, beside those of every audit.
type compileOptions struct {
	audit   audit.Options
	targets []string
	configs []string
	args    string
	donate  []int
	static  []int
	mesh    string
	python  string
	timeout time.Duration
	jobs    int
	dumpDir string
	keep    string
}

func newCompileCommand(a *cli.App) *cobra.Command {
	var o compileOptions
	cmd := &cobra.Command{
		Use:   "compile [flags] WHAT...",
		Short: "Compile JAX programs for absent GPUs, then audit the dump",
		Long: `compile compiles JAX programs for GPUs that this machine need not have, in your
own Python, and audits what XLA dumped: on a laptop, on a runner without a GPU,
for every GPU that you ship to. Nothing is executed on a GPU.

WHAT is one of
  pkg.module:function   a function, with --args 'f32[4096,1024] i32[4096]'; or,
  path/file.py:function without --args, one that returns or yields programs:
                        (name, function, args, options)
  a file                that jax.export serialized for CUDA, or StableHLO as text
                        or bytecode
and, without any, the programs: of .aliascheck.yaml.

The Python is --python, else the virtual environment's, else python3. It needs
JAX 0.5 or newer with its CUDA plugin, and ptxas; 'aliascheck doctor' says what
is missing. No driver, no CUDA toolkit, no GPU.

Arguments are shapes as XLA writes them (f32[8,128], s32[], bf16[4096]); with
--mesh 2x4, f32[8,128]@x,- shards the first dimension over the axis x.

Exit code: 0 nothing at or above --fail-on; 1 findings; 2 something could not be
compiled or read.`,
		Example: `  aliascheck compile --target h100,b200 kernels.py:scale --args 'f32[4096,1024]' --donate 0
  aliascheck compile --target a100,h200 mypackage.kernels:programs
  aliascheck compile --target h200 exported.jaxexport
  aliascheck compile`,
		RunE: func(cmd *cobra.Command, what []string) error {
			return o.run(cmd.Context(), a, what, cmd.Flags().Changed("args"))
		},
	}
	o.audit.AddFlags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.targets, "target", nil, "`GPU` to compile for, several with commas: "+strings.Join(compile.Names(), ", ")+" (default h100)")
	f.StringArrayVar(&o.configs, "target-config", nil, "`FILE` of another GPU to compile for, as a dump has one (*.gpu_target_config.pbtxt); may be repeated")
	f.StringVar(&o.args, "args", "", "`SHAPES` of the function's arguments")
	f.IntSliceVar(&o.donate, "donate", nil, "`N` of the arguments are donated, from 0")
	f.IntSliceVar(&o.static, "static", nil, "`N` of the arguments are static, from 0")
	f.StringVar(&o.mesh, "mesh", "", "`SIZES` of a mesh of such GPUs: 2x4 (axes x, y), or data=2,model=4")
	f.StringVar(&o.python, "python", "", "`PYTHON` that has JAX")
	f.DurationVar(&o.timeout, "compile-timeout", 5*time.Minute, "most `TIME` for one program")
	f.IntVar(&o.jobs, "compile-jobs", max(1, runtime.NumCPU()/2), "compile for `N` GPUs at the same time")
	f.StringVar(&o.dumpDir, "dump-dir", "", "`DIR` to put the dumps in (default: a temporary one)")
	f.StringVar(&o.keep, "keep", string(runner.KeepFindings), "`WHICH` dumps to leave: all, findings or none")
	f.Lookup("verbose").Usage += "; what Python prints, and what this JAX does without"
	return cmd
}

func (o *compileOptions) check() error {
	switch {
	case o.timeout <= 0:
		return fmt.Errorf("--compile-timeout %v: a time above 0 was expected", o.timeout)
	case o.jobs < 1:
		return fmt.Errorf("--compile-jobs %d: at least 1 was expected", o.jobs)
	case o.audit.Shard != "":
		return errors.New("--shard is for the audit of a dump; give each machine its part of the programs or targets")
	}
	switch runner.Keep(o.keep) {
	case runner.KeepAll, runner.KeepFindings, runner.KeepNone:
		return nil
	}
	return fmt.Errorf("--keep %q: one of all, findings, none was expected", o.keep)
}

// Dumps compiles, audits each target as soon as it is compiled, and reports.
func (o *compileOptions) run(ctx context.Context, a *cli.App, what []string, hasArgs bool) error {
	if err := o.check(); err != nil {
		return err
	}
	o.audit.DumpsGo = runner.Keep(o.keep) == runner.KeepNone
	job, err := o.audit.Prepare(a)
	if err != nil {
		return err
	}
	s, err := o.settings(a, job, what, hasArgs)
	if err != nil {
		return err
	}
	progress := audit.NewProgress(a.Stderr, o.audit.Quiet)
	endGPU, err := o.audit.GPU.Around(ctx, o.audit.Replay, job, progress.Replay)
	if err != nil {
		return errors.Join(err, os.RemoveAll(s.Root))
	}
	defer endGPU()
	c := &compiledAudit{o: o, a: a, job: job, root: s.Root, progress: progress}
	s.Done = func(outcome *compile.Outcome) error { return c.take(ctx, outcome) }
	err = compile.Run(ctx, s)
	progress.Clear()
	if err != nil {
		return errors.Join(err, os.RemoveAll(s.Root))
	}
	c.tellRefused()
	err = job.Finish(a)
	if trouble := c.keep(); trouble != nil {
		return trouble
	}
	return err
}
