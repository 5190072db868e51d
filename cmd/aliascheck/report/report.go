// Package report writes an audit's report for people and for machines, one file a
// format.
//
// In: a rules.Report. Out: bytes. Names in a report come from a dump that anybody
// may have made: every format escapes them for where it is read.
package report

import (
	"io"

	"aliascheck/rules"
)

// Options says how a report is written. Every format takes what it needs.
type Options struct {
	Color   bool   // text: with terminal colours
	Width   int    // text: columns; 0 is 80
	SrcRoot string // sarif, github: Python files are named relative to it
}

// Writer writes a report in one format.
type Writer func(w io.Writer, r *rules.Report, o Options) error

// Lookup returns the writer of a format.
func Lookup(format string) (Writer, bool) {
	switch format {
	case "text":
		return Text, true
	case "json":
		return JSON, true
	}
	return nil, false
}

// Formats lists the formats that Lookup knows.
func Formats() []string { return []string{"text", "json"} }
