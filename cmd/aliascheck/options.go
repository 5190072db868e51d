package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/cmd/aliascheck/source"
	"aliascheck/hlo"
	"aliascheck/rules"

	"github.com/spf13/cobra"
)

// auditOptions are the flags of every command that audits.
type auditOptions struct {
	replay         string
	failOn         string
	findingsCode   int // exit code
	format         string
	outputs        []string
	config         string
	baseline       string
	updateBaseline bool
	srcRoot        string
	jobs           int
	shard          string
	color          string
	quiet          bool
	verbose        bool
	selected       []string // codes, names and beginnings of codes
	ignored        []string
	showSuppressed bool
	sources        *source.Files // Python files, for comments and for lines to show
	dumpsGo        bool          // they are deleted after the audit
	limits         hlo.Limits
	kernels        kernelFlags
	gpu            gpuFlags
	jax            jaxFlags
}

const (
	defaultConfig   = ".aliascheck.yaml"
	defaultBaseline = ".aliascheck-baseline.yaml"
)

func (o *auditOptions) addFlags(cmd *cobra.Command) {
	o.addReportFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.replay, "replay", "auto", "`HOW` to run the kernels: auto, off, emulate, gpu or jax")
	f.StringVar(&o.config, "config", "", "configuration `FILE` (default "+defaultConfig+" where it exists)")
	f.StringSliceVar(&o.selected, "select", nil, "report these `RULES` only: codes, names, or beginnings such as AC2")
	f.StringSliceVar(&o.ignored, "ignore", nil, "leave these `RULES` out")
	f.BoolVar(&o.showSuppressed, "show-suppressed", false, "list what is suppressed, too, and by what")
	f.StringVar(&o.baseline, "baseline", "", "`FILE` of findings to live with")
	f.BoolVar(&o.updateBaseline, "update-baseline", false, "write the findings to the baseline file (default "+defaultBaseline+")")
	f.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "audit `N` modules at the same time")
	f.StringVar(&o.shard, "shard", "", "audit part `I/N` of the modules; the merge command joins the reports")
	f.BoolVar(&o.quiet, "quiet", false, "no progress line")
	f.Int64Var(&o.limits.FileBytes, "max-module-bytes", 0, "most `BYTES` of one module in memory (default 256 MiB)")
	f.Int64Var(&o.limits.ArchiveBytes, "max-archive-bytes", 0, "most `BYTES` that an archive may inflate to (default 8 GiB)")
	o.kernels.add(cmd)
	o.gpu.add(cmd)
}

// addReportFlags adds the flags of every command that writes reports.
func (o *auditOptions) addReportFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.failOn, "fail-on", "error", "exit 1 on findings of this `SEVERITY` or graver: error, warning, note or never")
	f.IntVar(&o.findingsCode, "findings-exit-code", exitFindings, "exit with code `N` on findings, to tell them from a command's own failure")
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the report on standard output: "+strings.Join(report.Formats(), ", "))
	f.StringArrayVar(&o.outputs, "output", nil, "write another report, as `FORMAT=FILE`; may be repeated")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "text: pictures, replays, stacks, and how to silence each finding")
	f.StringVar(&o.srcRoot, "src-root", "", "`DIR` that Python files are named relative to")
	f.StringVar(&o.color, "color", "auto", "`WHEN` to colour the text report: auto, always or never")
}

// check says which flag has a value that it must not have.
func (o *auditOptions) check() error {
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"replay", o.replay, []string{"auto", "off", "emulate", "gpu", "jax"}},
		{"fail-on", o.failOn, []string{"error", "warning", "note", "never"}},
		{"color", o.color, []string{"auto", "always", "never"}},
		{"format", o.format, report.Formats()},
	} {
		if !slices.Contains(f.allowed, f.value) {
			return fmt.Errorf("--%s %q: one of %s was expected", f.name, f.value, strings.Join(f.allowed, ", "))
		}
	}
	if o.findingsCode < 1 || o.findingsCode > 125 || o.findingsCode == exitFailed {
		return fmt.Errorf("--findings-exit-code %d: 1 or a number from 3 to 125 was expected; 2 says that the audit is not whole", o.findingsCode)
	}
	for _, word := range slices.Concat(o.selected, o.ignored) {
		if err := rules.CheckRules(word); err != nil {
			return err
		}
	}
	if o.updateBaseline && len(o.selected)+len(o.ignored) > 0 {
		return errors.New("--update-baseline accepts all findings: --select and --ignore would drop what it has of other rules")
	}
	if o.jobs < 1 {
		return fmt.Errorf("--jobs %d: at least 1 was expected", o.jobs)
	}
	if o.limits.FileBytes < 0 {
		return fmt.Errorf("--max-module-bytes %d: a number from 0 on was expected", o.limits.FileBytes)
	}
	if o.limits.ArchiveBytes < 0 {
		return fmt.Errorf("--max-archive-bytes %d: a number from 0 on was expected", o.limits.ArchiveBytes)
	}
	return nil
}

// prepare reads the files that the flags name, before any dump is looked at.
func (o *auditOptions) prepare(a *app) (*auditJob, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.sources = source.New(o.roots()...)
	job := &auditJob{options: o, collector: rules.NewCollector()}
	var err error
	if job.shard, err = parseShard(o.shard); err != nil {
		return nil, err
	}
	if o.replay != "off" {
		if job.runner, err = o.kernels.runner(); err != nil {
			return nil, err
		}
		job.timed = &clock{most: o.kernels.all}
	}
	if job.config, err = o.loadConfig(); err != nil {
		return nil, err
	}
	if job.baseline, err = o.loadBaseline(); err != nil {
		return nil, err
	}
	if job.outputs, err = o.parseOutputs(a); err != nil {
		return nil, err
	}
	return job, o.checkWritable(job.outputs)
}

// roots are the directories whose Python files may be read.
func (o *auditOptions) roots() []string {
	if o.srcRoot != "" {
		return []string{o.srcRoot, "."}
	}
	return []string{"."}
}

func (o *auditOptions) loadConfig() (rules.Config, error) {
	path := o.config
	if path == "" {
		if _, err := os.Stat(defaultConfig); errors.Is(err, os.ErrNotExist) {
			return rules.Config{}, nil
		}
		path = defaultConfig
	}
	c, err := rules.LoadConfig(path)
	if err != nil {
		return rules.Config{}, ofFlag("config", err)
	}
	return *c, nil
}

// loadBaseline reads the baseline; one that is to be written anew does not count.
func (o *auditOptions) loadBaseline() (*rules.Baseline, error) {
	if o.updateBaseline {
		if o.baseline == "" {
			o.baseline = defaultBaseline
		}
		return nil, nil
	}
	if o.baseline == "" {
		return nil, nil
	}
	b, err := rules.LoadBaseline(o.baseline)
	return b, ofFlag("baseline", err)
}

// ofFlag says of a file that is not there which flag named it.
func ofFlag(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("--%s %s: %w", name, path.Path, path.Err)
	}
	return err
}
