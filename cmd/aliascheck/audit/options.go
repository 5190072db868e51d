package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/report"
	"aliascheck/cmd/aliascheck/source"
	"aliascheck/hlo"
	"aliascheck/rules"
	"aliascheck/rules/settings"

	"github.com/spf13/cobra"
)

// Options are the flags of every command that audits.
type Options struct {
	Replay         string
	FailOn         string
	FindingsCode   int // exit code
	Format         string
	Outputs        []string
	Config         string
	baseline       string
	updateBaseline bool
	SrcRoot        string
	Jobs           int
	Shard          string
	Color          string
	Quiet          bool
	Verbose        bool
	selected       []string // codes, names and beginnings of codes
	ignored        []string
	showSuppressed bool
	sources        *source.Files // Python files, for comments and for lines to show
	DumpsGo        bool          // they are deleted after the audit
	Limits         hlo.Limits
	Kernels        KernelFlags
	GPU            GPUFlags
	JAX            jaxFlags
}

const (
	DefaultConfig   = ".aliascheck.yaml"
	defaultBaseline = ".aliascheck-baseline.yaml"
)

// AddFlags adds the flags of every command that audits dumps.
func (o *Options) AddFlags(cmd *cobra.Command) {
	o.AddReportFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Replay, "replay", "auto", "`HOW` to run the kernels: auto, off, emulate, gpu or jax")
	f.StringVar(&o.Config, "config", "", "configuration `FILE` (default "+DefaultConfig+" where it exists)")
	f.StringSliceVar(&o.selected, "select", nil, "report these `RULES` only: codes, names, or beginnings such as AC2")
	f.StringSliceVar(&o.ignored, "ignore", nil, "leave these `RULES` out")
	f.BoolVar(&o.showSuppressed, "show-suppressed", false, "list what is suppressed, too, and by what")
	f.StringVar(&o.baseline, "baseline", "", "`FILE` of findings to live with")
	f.BoolVar(&o.updateBaseline, "update-baseline", false, "write the findings to the baseline file (default "+defaultBaseline+")")
	f.IntVar(&o.Jobs, "jobs", runtime.GOMAXPROCS(0), "audit `N` modules at the same time")
	f.StringVar(&o.Shard, "shard", "", "audit part `I/N` of the modules; the merge command joins the reports")
	f.BoolVar(&o.Quiet, "quiet", false, "no progress line")
	f.Int64Var(&o.Limits.FileBytes, "max-module-bytes", 0, "most `BYTES` of one module in memory (default 256 MiB)")
	f.Int64Var(&o.Limits.ArchiveBytes, "max-archive-bytes", 0, "most `BYTES` that an archive may inflate to (default 8 GiB)")
	o.Kernels.Add(cmd)
	o.GPU.Add(cmd)
}

// AddReportFlags adds the flags of every command that writes reports.
func (o *Options) AddReportFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.FailOn, "fail-on", "error", "exit 1 on findings of this `SEVERITY` or graver: error, warning, note or never")
	f.IntVar(&o.FindingsCode, "findings-exit-code", cli.ExitFindings, "exit with code `N` on findings, to tell them from a command's own failure")
	f.StringVar(&o.Format, "format", "text", "`FORMAT` of the report on standard output: "+strings.Join(report.Formats(), ", "))
	f.StringArrayVar(&o.Outputs, "output", nil, "write another report, as `FORMAT=FILE`; may be repeated")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "text: pictures, replays, stacks, and how to silence each finding")
	f.StringVar(&o.SrcRoot, "src-root", "", "`DIR` that Python files are named relative to")
	f.StringVar(&o.Color, "color", "auto", "`WHEN` to colour the text report: auto, always or never")
}

// Check says which flag has a value that it must not have.
func (o *Options) Check() error {
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"replay", o.Replay, []string{"auto", "off", "emulate", "gpu", "jax"}},
		{"fail-on", o.FailOn, []string{"error", "warning", "note", "never"}},
		{"color", o.Color, []string{"auto", "always", "never"}},
		{"format", o.Format, report.Formats()},
	} {
		if !slices.Contains(f.allowed, f.value) {
			return fmt.Errorf("--%s %q: one of %s was expected", f.name, f.value, strings.Join(f.allowed, ", "))
		}
	}
	if o.FindingsCode < 1 || o.FindingsCode > 125 || o.FindingsCode == cli.ExitFailed {
		return fmt.Errorf("--findings-exit-code %d: 1 or a number from 3 to 125 was expected; 2 says that the audit is not whole", o.FindingsCode)
	}
	for _, word := range slices.Concat(o.selected, o.ignored) {
		if err := rules.CheckRules(word); err != nil {
			return err
		}
	}
	if o.updateBaseline && len(o.selected)+len(o.ignored) > 0 {
		return errors.New("--update-baseline accepts all findings: --select and --ignore would drop what it has of other rules")
	}
	if o.Jobs < 1 {
		return fmt.Errorf("--jobs %d: at least 1 was expected", o.Jobs)
	}
	if o.Limits.FileBytes < 0 {
		return fmt.Errorf("--max-module-bytes %d: a number from 0 on was expected", o.Limits.FileBytes)
	}
	if o.Limits.ArchiveBytes < 0 {
		return fmt.Errorf("--max-archive-bytes %d: a number from 0 on was expected", o.Limits.ArchiveBytes)
	}
	return nil
}

// Prepare reads the files that the flags name, before any dump is looked at.
func (o *Options) Prepare(a *cli.App) (*Job, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.sources = source.New(o.roots()...)
	job := &Job{Options: o, Collector: rules.NewCollector()}
	var err error
	if job.shard, err = parseShard(o.Shard); err != nil {
		return nil, err
	}
	if o.Replay != "off" {
		if job.Runner, err = o.Kernels.Runner(a.Version); err != nil {
			return nil, err
		}
		job.Timed = &clock{most: o.Kernels.all}
	}
	if job.Config, err = o.LoadConfig(); err != nil {
		return nil, err
	}
	if job.baseline, err = o.loadBaseline(); err != nil {
		return nil, err
	}
	if job.outputs, err = o.ParseOutputs(a); err != nil {
		return nil, err
	}
	return job, o.checkWritable(job.outputs)
}

// roots are the directories whose Python files may be read.
func (o *Options) roots() []string {
	if o.SrcRoot != "" {
		return []string{o.SrcRoot, "."}
	}
	return []string{"."}
}

// LoadConfig reads the configuration that the flags name, or the one of this folder.
func (o *Options) LoadConfig() (rules.Config, error) {
	path := o.Config
	if path == "" {
		if _, err := os.Stat(DefaultConfig); errors.Is(err, os.ErrNotExist) {
			return rules.Config{}, nil
		}
		path = DefaultConfig
	}
	c, err := settings.LoadConfig(path)
	if err != nil {
		return rules.Config{}, OfFlag("config", err)
	}
	return *c, nil
}

// loadBaseline reads the baseline; one that is to be written anew does not count.
func (o *Options) loadBaseline() (*rules.Baseline, error) {
	if o.updateBaseline {
		if o.baseline == "" {
			o.baseline = defaultBaseline
		}
		return nil, nil
	}
	if o.baseline == "" {
		return nil, nil
	}
	b, err := settings.LoadBaseline(o.baseline)
	return b, OfFlag("baseline", err)
}

// OfFlag says of a file that is not there which flag named it.
func OfFlag(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("--%s %s: %w", name, path.Path, path.Err)
	}
	return err
}
