package report

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"aliascheck/rules"
)

// githubPerLevel is how many annotations of each level GitHub shows of one step.
const githubPerLevel = 10

// GitHub writes workflow commands that annotate the Python lines of the gravest
// findings, then how many there are in all. Where Options.StepSummary names a
// file, the report is appended to it in Markdown, as GitHub asks.
func GitHub(w io.Writer, r *rules.Report, o Options) error {
	out := bufio.NewWriter(w)
	shown := map[string]int{}
	total := 0
	for _, f := range bySeverity(r.Findings) {
		level := githubLevel(f.Severity)
		if shown[level] == githubPerLevel {
			continue
		}
		shown[level]++
		total++
		fmt.Fprintln(out, annotation(level, f, o.SrcRoot))
	}
	for n, x := range r.Summary.Incomplete {
		if n == githubPerLevel {
			break
		}
		fmt.Fprintf(out, "::error title=%s::%s\n", property("aliascheck could not read everything"), data(Clean(x.Path)+": "+reason(x)))
	}
	s := &r.Summary
	fmt.Fprintf(out, "aliascheck: %s, %s, %s", plural(s.Errors, "error"), plural(s.Warnings, "warning"), plural(s.Notes, "note"))
	if total < len(r.Findings) {
		fmt.Fprintf(out, "; the %d gravest are annotated, GitHub shows no more", total)
	}
	fmt.Fprintf(out, ". %s\n", audited(s))
	if err := out.Flush(); err != nil {
		return err
	}
	return stepSummary(r, o)
}

func githubLevel(s rules.Severity) string {
	switch s {
	case rules.Error:
		return "error"
	case rules.Warning:
		return "warning"
	}
	return "notice"
}

func annotation(level string, f *rules.Finding, root string) string {
	var b strings.Builder
	b.WriteString("::" + level + " ")
	if f.Source != nil && f.Source.File != "" {
		fmt.Fprintf(&b, "file=%s,line=%d,", property(Clean(relative(f.Source.File, root))), max(f.Source.Line, 1))
	}
	fmt.Fprintf(&b, "title=%s::", property(Clean(f.Code+" "+f.Rule)))
	lines := []string{
		Clean(f.Message),
		"Why: " + Clean(f.Why),
		strings.Join(append([]string{"Mend: " + Clean(f.Fix)}, patchLines(f.Patch)...), "\n"),
		"Call: " + called(f),
		"Proof: " + Clean(string(f.Confirmation)) + ": " + Clean(f.ConfirmationReason),
	}
	for i := range f.Values {
		lines = append(lines, Clean(f.Values[i].Role)+": "+valueWords(&f.Values[i]))
	}
	if f.Calls > 1 {
		lines = append(lines, fmt.Sprintf("%d equal calls", f.Calls))
	}
	if text := compiledFor(f); text != "" {
		lines = append(lines, "GPUs: "+text)
	}
	if len(f.Tests) > 0 {
		lines = append(lines, "Tests: "+list(f.Tests, 4))
	}
	b.WriteString(data(strings.Join(lines, "\n")))
	return b.String()
}

// data escapes the text of a workflow command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes the value of a workflow command's property.
func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// stepSummary appends the report to the file of the job summary.
func stepSummary(r *rules.Report, o Options) error {
	if o.StepSummary == "" {
		return nil
	}
	f, err := os.OpenFile(o.StepSummary, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("job summary: %w", err)
	}
	if err := markdown(f, r, o, summaryLimit); err != nil {
		f.Close()
		return fmt.Errorf("job summary: %w", err)
	}
	return f.Close()
}
