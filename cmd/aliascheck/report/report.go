// Package report writes the outcome of an audit, one file a format.
//
// In: a rules.Report, whose names come from dumps that anybody may have made. Out:
// text, JSON, SARIF, JUnit, GitHub annotations, Markdown or HTML. Every writer
// escapes what it prints for the place where it will be read, and writes finding
// by finding, so that memory does not grow with what is written.
package report

import (
	"io"

	"aliascheck/rules"
)

// Options says how to write a report. The zero value is good for every format.
type Options struct {
	Color bool // text: colours for a terminal
	Width int  // text: columns; 0 for the default
	// Verbose makes the text say all that is known of a finding.
	Verbose bool
	// Links makes places in the text links that terminals open (OSC 8).
	Links bool
	// Sources reads lines of the Python files that a report names; nil: none is shown.
	Sources Sources

	// SrcRoot is the directory that Python files are named relative to.
	SrcRoot string
	// FailOn is the least severity that fails a JUnit case; empty means error,
	// and a value that is no severity means that none does.
	FailOn rules.Severity
	// Replay returns the command line that repeats a finding's replay, empty where
	// there is none; nil where no command line does.
	Replay func(f *rules.Finding) string
	// StepSummary is the file that the GitHub writer appends a job summary to;
	// empty for none.
	StepSummary string
}

// Sources reads single lines of source files.
type Sources interface {
	// Line returns a line without the blanks around it, and the file's absolute path. The
	// function is one that the file must define, where its name alone does not tell.
	Line(file string, line int, function string) (text, path string, ok bool)
}

// Writer writes a report in one format.
type Writer func(w io.Writer, r *rules.Report, o Options) error

// Formats lists the names of the formats.
func Formats() []string {
	return []string{"text", "concise", "json", "sarif", "junit", "github", "markdown", "html"}
}

// Lookup returns the writer of a format.
func Lookup(format string) (Writer, bool) {
	switch format {
	case "text":
		return Text, true
	case "concise":
		return Concise, true
	case "json":
		return JSON, true
	case "sarif":
		return SARIF, true
	case "junit":
		return JUnit, true
	case "github":
		return GitHub, true
	case "markdown":
		return Markdown, true
	case "html":
		return HTML, true
	}
	return nil, false
}

// fails reports whether a finding of severity s fails a gate.
func (o Options) fails(s rules.Severity) bool {
	switch o.FailOn {
	case "":
		return s.AtLeast(rules.Error)
	case rules.Error, rules.Warning, rules.Note:
		return s.AtLeast(o.FailOn)
	}
	return false
}
