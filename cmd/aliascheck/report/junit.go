package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"strings"

	"aliascheck/rules"
)

// JUnit writes a report as JUnit XML: a suite for every module with custom calls, a
// case for every call, and one for each finding about a module's memory that is no call's. A call with a finding that fails the gate fails; one whose
// kernel could not be run is skipped, with the reason; an input that could not be
// read whole is an error in a suite of its own. What is left passes.
func JUnit(w io.Writer, r *rules.Report, o Options) error {
	j := &junitWriter{out: bufio.NewWriterSize(w, 1<<16), options: o, findings: map[string]*rules.Finding{}}
	for i := range r.Findings {
		j.findings[r.Findings[i].Fingerprint] = &r.Findings[i]
	}
	j.out.WriteString(xml.Header)
	all := j.count(r.Calls.All())
	memory := memoryFindings(r)
	for _, f := range memory {
		all.tests++
		if o.fails(f.Severity) {
			all.failures++
		}
	}
	all.tests += len(r.Summary.Incomplete)
	all.errors += len(r.Summary.Incomplete)
	fmt.Fprintf(j.out, "<testsuites name=\"aliascheck\"%s>\n", all)
	for _, calls := range r.Calls {
		j.suite(calls)
	}
	for _, f := range memory {
		j.memory(f)
	}
	for _, x := range r.Summary.Incomplete {
		j.incomplete(x)
	}
	j.out.WriteString("</testsuites>\n")
	return j.out.Flush()
}

type junitWriter struct {
	out      *bufio.Writer
	options  Options
	findings map[string]*rules.Finding // by fingerprint
}

// counts are the attributes of a suite.
type counts struct{ tests, failures, errors, skipped int }

func (c counts) String() string {
	return fmt.Sprintf(` tests="%d" failures="%d" errors="%d" skipped="%d"`, c.tests, c.failures, c.errors, c.skipped)
}

// outcome is what became of one call.
type outcome struct {
	failing, other []*rules.Finding
	suppressed     int // findings that a suppression or the baseline took out
	skipped        string
}

func (j *junitWriter) outcome(c *rules.Call) outcome {
	var o outcome
	for _, print := range c.Findings {
		f := j.findings[print]
		switch {
		case f == nil:
			o.suppressed++
		case j.options.fails(f.Severity):
			o.failing = append(o.failing, f)
		default:
			o.other = append(o.other, f)
		}
	}
	if len(o.failing) == 0 {
		o.skipped = c.Unanalysed
		for n := range c.Pairs {
			if p := &c.Pairs[n]; o.skipped == "" && c.Configurations > 0 && p.Counts() && p.Verdict == string(rules.Unknown) {
				o.skipped = "unknown whether its pair may share memory: " + p.Reason
			}
		}
		if o.skipped == "" && o.suppressed > 0 {
			o.skipped = plural(o.suppressed, "finding") + " suppressed"
		}
	}
	return o
}

func (j *junitWriter) count(calls iter.Seq[*rules.Call]) counts {
	var c counts
	for call := range calls {
		o := j.outcome(call)
		c.tests++
		switch {
		case len(o.failing) > 0:
			c.failures++
		case o.skipped != "":
			c.skipped++
		}
	}
	return c
}

func (j *junitWriter) suite(calls []rules.Call) {
	fmt.Fprintf(j.out, "  <testsuite name=\"%s\"%s>\n", markup(calls[0].Module), j.count(rules.Calls{calls}.All()))
	fmt.Fprintf(j.out, "    <properties><property name=\"dump\" value=\"%s\"/></properties>\n", markup(calls[0].Path))
	for i := range calls {
		j.testcase(&calls[i])
	}
	j.out.WriteString("  </testsuite>\n")
}

func (j *junitWriter) testcase(c *rules.Call) {
	o := j.outcome(c)
	name := c.Kernel
	if name == "" {
		name = c.Target
	}
	file := ""
	for _, f := range append(o.failing[:len(o.failing):len(o.failing)], o.other...) {
		if f.Source != nil && f.Source.File != "" {
			file = fmt.Sprintf(` file="%s" line="%d"`, markup(relative(f.Source.File, j.options.SrcRoot)), f.Source.Line)
			break
		}
	}
	fmt.Fprintf(j.out, "    <testcase classname=\"%s\" name=\"%s: %s\" time=\"0\"%s", markup(c.Module), markup(c.Instruction), markup(name), file)
	if len(o.failing)+len(o.other) == 0 && o.skipped == "" {
		j.out.WriteString("/>\n")
		return
	}
	j.out.WriteString(">\n")
	if len(o.failing) > 0 {
		j.failure(o.failing)
	} else if o.skipped != "" {
		fmt.Fprintf(j.out, "      <skipped message=\"%s\"/>\n", markup(o.skipped))
	}
	if len(o.other) > 0 {
		j.out.WriteString("      <system-out>")
		for _, f := range o.other {
			j.out.WriteString(markup(f.Severity) + " " + j.words(f))
		}
		j.out.WriteString("</system-out>\n")
	}
	j.out.WriteString("    </testcase>\n")
}

// failure is one element, however many findings a call has: readers differ in what
// they make of a second one.
func (j *junitWriter) failure(list []*rules.Finding) {
	heads := make([]string, 0, len(list))
	for _, f := range list {
		heads = append(heads, f.Code+" "+f.Rule)
	}
	fmt.Fprintf(j.out, "      <failure type=\"%s\" message=\"%s: %s\">",
		markup(list[0].Code), markup(strings.Join(heads, ", ")), markup(list[0].Message))
	for _, f := range list {
		j.out.WriteString(j.words(f))
	}
	j.out.WriteString("</failure>\n")
}

// words is a finding as text, escaped.
func (j *junitWriter) words(f *rules.Finding) string {
	lines := []string{
		f.Code + " " + f.Rule + ": " + f.Message,
		"  why: " + f.Why,
		"  mend: " + f.Fix,
	}
	for _, line := range patchLines(f.Patch) {
		lines = append(lines, "    "+line)
	}
	lines = append(lines, "  proof: "+string(f.Confirmation)+": "+f.ConfirmationReason)
	if f.Source != nil && f.Source.File != "" {
		lines = append(lines, fmt.Sprintf("  at: %s:%d %s", relative(f.Source.File, j.options.SrcRoot), f.Source.Line, f.Source.Function))
	}
	for i := range f.Values {
		lines = append(lines, "  "+f.Values[i].Role+": "+valueWords(&f.Values[i])+" "+valueLine(&f.Values[i], j.options.SrcRoot))
	}
	for _, r := range f.Related {
		lines = append(lines, fmt.Sprintf("  %s: %s %s %s", r.Role, r.Instruction, lineOf(r.File, r.Line), r.Text))
	}
	if text := compiledFor(f); text != "" {
		lines = append(lines, "  GPUs: "+text)
	}
	if len(f.Tests) > 0 {
		lines = append(lines, "  tests: "+list(f.Tests, 20))
	}
	lines = append(lines, "  fingerprint: "+f.Fingerprint)
	for n := range lines {
		lines[n] = markup(lines[n])
	}
	return strings.Join(lines, "\n") + "\n"
}

func lineOf(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// memoryFindings are the findings that no custom call's case shows.
func memoryFindings(r *rules.Report) []*rules.Finding {
	var list []*rules.Finding
	for i := range r.Findings {
		if len(r.Findings[i].Values) > 0 {
			list = append(list, &r.Findings[i])
		}
	}
	return list
}

// memory is a suite of one case: a finding about a module's memory.
func (j *junitWriter) memory(f *rules.Finding) {
	c := counts{tests: 1}
	if j.options.fails(f.Severity) {
		c.failures = 1
	}
	fmt.Fprintf(j.out, "  <testsuite name=\"%s\"%s>\n    <properties><property name=\"dump\" value=\"%s\"/></properties>\n", markup(f.Module), c, markup(f.Path))
	fmt.Fprintf(j.out, "    <testcase classname=\"%s\" name=\"%s: buffer assignment\" time=\"0\">\n", markup(f.Module), markup(f.Instruction))
	if c.failures > 0 {
		j.failure([]*rules.Finding{f})
	} else {
		fmt.Fprintf(j.out, "      <system-out>%s %s</system-out>\n", markup(f.Severity), j.words(f))
	}
	j.out.WriteString("    </testcase>\n  </testsuite>\n")
}

func (j *junitWriter) incomplete(x rules.Incomplete) {
	fmt.Fprintf(j.out, "  <testsuite name=\"%s\"%s>\n    <testcase classname=\"aliascheck\" name=\"%s\" time=\"0\">\n",
		markup(x.Path), counts{tests: 1, errors: 1}, markup(x.Path))
	fmt.Fprintf(j.out, "      <error type=\"incomplete\" message=\"%s\"/>\n    </testcase>\n  </testsuite>\n", markup(reason(x)))
}

// markup makes a name safe inside XML: characters that XML cannot hold, and those
// that fool a reader, become escapes; the rest of the syntax becomes references.
func markup[S ~string](name S) string {
	s := Clean(string(name))
	if !strings.ContainsAny(s, `&<>"'`) {
		return s // as good as always, and a report has a dozen names a call
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
}
