package audit

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"aliascheck/cmd/aliascheck/cli"
	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"
	"aliascheck/rules/replay"
)

// Output is one report to write.
type Output struct {
	Write   report.Writer
	path    string // empty: standard output
	options report.Options
}

// ParseOutputs turns --format and --output into the list of reports to write.
func (o *Options) ParseOutputs(a *cli.App) ([]Output, error) {
	first, _ := report.Lookup(o.Format) // check has seen it
	outs := []Output{{Write: first, options: report.Options{
		Color: useColor(o.Color, a.Stdout), Width: cli.Width(a.Stdout),
		SrcRoot: o.SrcRoot, FailOn: rules.Severity(o.FailOn), StepSummary: os.Getenv("GITHUB_STEP_SUMMARY"),
		Replay: o.replayLine, Verbose: o.Verbose, Links: o.Color == "auto" && cli.CanDraw(a.Stdout), Sources: o.sources,
	}}}
	for _, spec := range o.Outputs {
		format, path, ok := strings.Cut(spec, "=")
		w, known := report.Lookup(format)
		if !ok || path == "" || !known {
			return nil, fmt.Errorf("--output %q: FORMAT=FILE was expected, where FORMAT is one of %s",
				spec, strings.Join(report.Formats(), ", "))
		}
		outs = append(outs, Output{Write: w, path: path, options: report.Options{
			SrcRoot: o.SrcRoot, FailOn: rules.Severity(o.FailOn), Replay: o.replayLine, Verbose: o.Verbose, Sources: o.sources,
		}})
	}
	return outs, nil
}

// checkWritable says which of the files that are to be written cannot be, before any time
// is spent: an overnight run would lose its report to a folder that is not there.
func (o *Options) checkWritable(outs []Output) error {
	for _, out := range outs {
		if out.path == "" {
			continue
		}
		if err := cli.Writable(out.path); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	if o.updateBaseline {
		if err := cli.Writable(o.baseline); err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
	}
	return nil
}

// replayLine is the command line that repeats a finding's replay; empty where there is
// none, or no dump is left to replay it from.
func (o *Options) replayLine(f *rules.Finding) string {
	if o.DumpsGo {
		return ""
	}
	return ReplayCommandLine(f, o.SrcRoot)
}

// writes reports whether a report of this format was asked for.
func (o *Options) writes(format string) bool {
	return o.Format == format || slices.ContainsFunc(o.Outputs, func(spec string) bool {
		return strings.HasPrefix(spec, format+"=")
	})
}

// To writes the report. A file is complete or not there: it is renamed into place.
func (out *Output) To(a *cli.App, r *rules.Report) error {
	if out.path == "" {
		return out.Write(a.Stdout, r, out.options)
	}
	return cli.WriteFile(out.path, func(w io.Writer) error { return out.Write(w, r, out.options) })
}

// useColor decides whether the text report is coloured: --color, then NO_COLOR,
// then whether a terminal reads it.
func useColor(mode string, w io.Writer) bool {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && cli.CanDraw(w)
}

// ReplayCommandLine repeats a finding's replay on a GPU; empty where there is none.
func ReplayCommandLine(f *rules.Finding, srcRoot string) string {
	if len(f.Values) > 0 {
		return reproCommandLine(f, srcRoot)
	}
	if f.Confirmation == "" || f.Kernel == "" || !replayable(f.Code) {
		return ""
	}
	line := "aliascheck replay --finding " + f.Fingerprint
	if srcRoot != "" {
		line += " --src-root " + cli.ShellWord(srcRoot)
	}
	path, _, _ := strings.Cut(f.Path, "!/") // a member of an archive is found in the archive
	return line + " " + cli.ShellWord(path)
}

// replayable says whether a replay can show something of a rule's findings.
func replayable(code string) bool {
	r, ok := rules.Lookup(code)
	return ok && r.Confirm != replay.NoQuestion
}

// reproCommandLine writes what an issue about a finding of XLA's own needs.
func reproCommandLine(f *rules.Finding, srcRoot string) string {
	line := "aliascheck replay --write-repro issue/ --finding " + f.Fingerprint
	if srcRoot != "" {
		line += " --src-root " + cli.ShellWord(srcRoot)
	}
	path, _, _ := strings.Cut(f.Path, "!/")
	return line + " " + cli.ShellWord(path)
}
