package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/audit"
	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/compile"
	"aliascheck/cmd/aliascheck/runner"
	"aliascheck/rules"
)

// settings says what to compile, for what and where to.
func (o *compileOptions) settings(a *cli.App, job *audit.Job, what []string, hasArgs bool) (compile.Options, error) {
	s := compile.Options{Env: os.Environ(), Jobs: o.jobs, Timeout: o.timeout}
	if o.audit.Verbose {
		s.Log = a.Stderr
	}
	var err error
	if s.Programs, err = o.programs(job, what, hasArgs); err != nil {
		return s, err
	}
	if s.Targets, err = o.gpus(s.Programs); err != nil {
		return s, err
	}
	if s.Python, err = compile.FindPython(o.python, s.Env); err != nil {
		return s, err
	}
	if o.dumpDir != "" {
		if err := os.MkdirAll(o.dumpDir, 0o755); err != nil {
			return s, err
		}
	}
	if s.Root, err = os.MkdirTemp(o.dumpDir, "aliascheck-compile-"); err != nil {
		return s, err
	}
	s.Root, err = filepath.Abs(s.Root)
	return s, err
}

// programs are the command line's, or the configuration's.
func (o *compileOptions) programs(job *audit.Job, what []string, hasArgs bool) ([]compile.Program, error) {
	var list []compile.Program
	for _, w := range what {
		p := compile.Program{What: w, Donate: o.donate, Static: o.static, Mesh: o.mesh}
		if hasArgs {
			p.Args = &o.args
		}
		list = append(list, p)
	}
	if len(what) > 0 {
		return list, nil
	}
	if hasArgs || len(o.donate) > 0 || len(o.static) > 0 {
		return nil, errors.New("--args, --donate and --static are for a function that the command line names")
	}
	for _, p := range job.Config.Programs {
		args, err := sharded(p)
		if err != nil {
			return nil, err
		}
		mesh := p.Mesh
		if mesh == "" {
			mesh = o.mesh
		}
		list = append(list, compile.Program{What: p.What, Name: p.Name, Args: args, Donate: p.Donate, Static: p.Static, Mesh: mesh, Targets: lower(p.Targets)})
	}
	if len(list) == 0 {
		return nil, errors.New("nothing to compile was named, and .aliascheck.yaml has no programs: `aliascheck compile kernels.py:scale --args 'f32[4096,1024]'`")
	}
	return list, nil
}

// sharded are a program's arguments with their axes.
func sharded(p rules.Program) (*string, error) {
	if len(p.Sharding) == 0 || p.Args == nil {
		return p.Args, nil
	}
	args := strings.Fields(*p.Args)
	if len(args) != len(p.Sharding) {
		return nil, fmt.Errorf("programs: %s has %d arguments, and axes for %d", p.What, len(args), len(p.Sharding))
	}
	for n, axes := range p.Sharding {
		if axes != "-" {
			args[n] += "@" + axes
		}
	}
	text := strings.Join(args, " ")
	return &text, nil
}

func lower(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, strings.ToLower(strings.TrimSpace(n)))
	}
	return out
}

// gpus are the command line's, else those that the programs name, else one.
func (o *compileOptions) gpus(programs []compile.Program) ([]compile.Target, error) {
	names := slices.Clone(o.targets)
	if len(names) == 0 && len(o.configs) == 0 {
		for _, p := range programs {
			names = append(names, p.Targets...)
		}
	}
	if len(names) == 0 && len(o.configs) == 0 {
		names = []string{"h100"}
	}
	targets, err := compile.Lookup(names)
	if err != nil {
		return nil, err
	}
	for _, path := range o.configs {
		t, err := compile.FromFile(path)
		if err != nil {
			return nil, audit.OfFlag("target-config", err)
		}
		if slices.ContainsFunc(targets, func(x compile.Target) bool { return x.Name == t.Name }) {
			return nil, fmt.Errorf("--target-config %s: there is a target %s already", path, t.Name)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// compiledAudit audits targets as they are compiled. Its methods are called by one
// goroutine at a time.
type compiledAudit struct {
	o        *compileOptions
	a        *cli.App
	job      *audit.Job
	root     string
	progress *audit.Progress
	refused  []*compile.Outcome
	gone     []string // dumps that are not to be kept
	kept     int      // targets whose dumps are
}

// take audits what was compiled for one target.
func (c *compiledAudit) take(ctx context.Context, out *compile.Outcome) error {
	if c.o.audit.Verbose {
		c.tell(out)
	}
	var dirs []string
	for _, d := range out.Dumps {
		if slices.ContainsFunc(out.Compiled, func(x compile.Compiled) bool { return x.Dump == d }) {
			dirs = append(dirs, d)
		}
	}
	c.job.GPU = out.Target
	before := c.job.Found
	c.job.Audit(ctx, dirs, c.progress)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range out.Failures {
		f := &out.Failures[i]
		c.job.Collector.Incomplete(f.Program+" for "+out.Target, errors.New(f.String()))
	}
	failed := len(out.Failures)
	if out.Refused != nil {
		c.refused = append(c.refused, out)
		failed = max(failed, 1)
	}
	c.job.Collector.Compiled(rules.Compiled{GPU: out.Target, JAX: out.JAX, Programs: len(out.Compiled), Failed: failed, Placeholders: out.Placeholders})
	switch keep := runner.Keep(c.o.keep); {
	case keep == runner.KeepAll, keep == runner.KeepFindings && c.job.Found > before:
		c.kept++
	default:
		for _, d := range out.Dumps {
			c.gone = append(c.gone, d, d+".log")
		}
	}
	return nil
}

// tell says, with --verbose, what a target was compiled with and without.
func (c *compiledAudit) tell(out *compile.Outcome) {
	say := func(format string, args ...any) {
		fmt.Fprintf(c.a.Stderr, "aliascheck: "+out.Target+": "+format+"\n", args...)
	}
	if out.JAX != "" {
		say("JAX %s, Python %s", out.JAX, out.Python)
	}
	if len(out.Dropped) > 0 {
		say("fields of the target configuration that this JAX does not know, left out: %s", strings.Join(out.Dropped, ", "))
	}
	if len(out.Without) > 0 {
		say("without: %s", strings.Join(out.Without, ", "))
	}
	for _, p := range out.Compiled {
		say("%s compiled in %.1f s", p.Name, p.Seconds)
	}
}

// tellRefused reports targets that nothing could be compiled for, together where they
// have the reason in common.
func (c *compiledAudit) tellRefused() {
	byReason := map[string][]string{}
	var reasons []string
	for _, out := range c.refused {
		why := out.Refused.String()
		if byReason[why] == nil {
			reasons = append(reasons, why)
		}
		byReason[why] = append(byReason[why], out.Target)
	}
	for _, why := range reasons {
		names := byReason[why]
		slices.Sort(names)
		c.job.Collector.Incomplete("compile for "+strings.Join(names, ", "), errors.New(why))
	}
}

// keep removes the dumps that are not to be left.
func (c *compiledAudit) keep() error {
	if c.kept == 0 {
		return os.RemoveAll(c.root)
	}
	var errs []error
	for _, path := range c.gone {
		errs = append(errs, os.RemoveAll(path))
	}
	if !c.o.audit.Quiet {
		fmt.Fprintf(c.a.Stderr, "aliascheck: dumps are kept in %s\n", c.root)
	}
	return errors.Join(errs...)
}
