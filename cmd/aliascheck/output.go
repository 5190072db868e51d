package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"

	"golang.org/x/term"
)

// output is one report to write.
type output struct {
	write   report.Writer
	path    string // empty: standard output
	options report.Options
}

// parseOutputs turns --format and --output into the list of reports to write.
func (o *auditOptions) parseOutputs(a *app) ([]output, error) {
	first, _ := report.Lookup(o.format) // check has seen it
	outs := []output{{write: first, options: report.Options{
		Color: useColor(o.color, a.stdout), Width: width(a.stdout),
		SrcRoot: o.srcRoot, FailOn: rules.Severity(o.failOn), StepSummary: os.Getenv("GITHUB_STEP_SUMMARY"),
		Replay: o.replayLine, Verbose: o.verbose, Links: o.color == "auto" && canDraw(a.stdout), Sources: o.sources,
	}}}
	for _, spec := range o.outputs {
		format, path, ok := strings.Cut(spec, "=")
		w, known := report.Lookup(format)
		if !ok || path == "" || !known {
			return nil, fmt.Errorf("--output %q: FORMAT=FILE was expected, where FORMAT is one of %s",
				spec, strings.Join(report.Formats(), ", "))
		}
		outs = append(outs, output{write: w, path: path, options: report.Options{
			SrcRoot: o.srcRoot, FailOn: rules.Severity(o.failOn), Replay: o.replayLine, Verbose: o.verbose, Sources: o.sources,
		}})
	}
	return outs, nil
}

// checkWritable says which of the files that are to be written cannot be, before any time
// is spent: an overnight run would lose its report to a folder that is not there.
func (o *auditOptions) checkWritable(outs []output) error {
	for _, out := range outs {
		if out.path == "" {
			continue
		}
		if err := writable(out.path); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
	}
	if o.updateBaseline {
		if err := writable(o.baseline); err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
	}
	return nil
}

// writable writes nothing where a file is to be, as writeFile will write it.
func writable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe, perhaps, that somebody reads
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// createBeside makes a file in the folder of another.
func createBeside(path string) (*os.File, error) {
	f, err := os.CreateTemp(dirOf(path), ".aliascheck-*")
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) { // of a name that nobody gave
			err = cause.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// replayLine is the command line that repeats a finding's replay; empty where there is
// none, or no dump is left to replay it from.
func (o *auditOptions) replayLine(f *rules.Finding) string {
	if o.dumpsGo {
		return ""
	}
	return replayCommandLine(f, o.srcRoot)
}

// writes reports whether a report of this format was asked for.
func (o *auditOptions) writes(format string) bool {
	return o.format == format || slices.ContainsFunc(o.outputs, func(spec string) bool {
		return strings.HasPrefix(spec, format+"=")
	})
}

// to writes the report. A file is complete or not there: it is renamed into place.
func (out *output) to(a *app, r *rules.Report) error {
	if out.path == "" {
		return out.write(a.stdout, r, out.options)
	}
	return writeFile(out.path, func(w io.Writer) error { return out.write(w, r, out.options) })
}

// writeFile writes a file beside its final place and renames it. Devices and pipes,
// which cannot be replaced, are written directly.
func writeFile(path string, fill func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		return fill(f)
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it was renamed, as it should
	if err := fill(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func dirOf(path string) string {
	if at := strings.LastIndexByte(path, os.PathSeparator); at >= 0 {
		return path[:at+1]
	}
	return "."
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
	return os.Getenv("NO_COLOR") == "" && canDraw(w)
}

// canDraw reports whether a terminal reads that knows escape sequences.
func canDraw(w io.Writer) bool { return os.Getenv("TERM") != "dumb" && isTerminal(w) }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is the terminal's, else COLUMNS, else 0: the report's own default.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
