package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"aliascheck/rules"
)

// What GitHub takes from one SARIF file
// (docs.github.com, "SARIF results exceed one or more limits").
const (
	sarifMaxResults = 25_000           // a run with more is refused; 5,000 are shown
	sarifShown      = 5_000            // the gravest
	sarifMaxPacked  = 10 * 1000 * 1000 // bytes, compressed by gzip
	sarifMargin     = 512 * 1000       // for what comes behind the results
	sarifLocations  = 100              // of one result that are shown
	sarifFrames     = 32               // of a stack: more would only fill the file
	sarifTests      = 50
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF writes a report as SARIF 2.1.0 with one run: the rules with their help, the
// findings at their Python lines, the gravest first. Where GitHub's limits cut it
// short, a notification says so.
func SARIF(w io.Writer, r *rules.Report, o Options) error {
	s := &sarifWriter{out: bufio.NewWriterSize(w, 1<<16), options: o, packed: newPackedSize(), index: map[string]int{}}
	s.raw(`{"$schema":"` + sarifSchema + `","version":"2.1.0","runs":[{"tool":`)
	s.value(s.tool(r))
	s.raw(`,"columnKind":"utf16CodeUnits","originalUriBaseIds":{"SRCROOT":{"description":{"text":"the directory that --src-root names, or the one that the program ran in"}},"FILESYSTEM":{"description":{"text":"the root of the file system of the machine that compiled the program"}}},"results":[`)
	written := s.results(r)
	s.raw(`],"invocations":[`)
	s.value(s.invocation(r, written))
	s.raw("]}]}\n")
	if s.err != nil {
		return s.err
	}
	return s.out.Flush()
}

// sarifWriter writes part by part and keeps the first error.
type sarifWriter struct {
	out     *bufio.Writer
	options Options
	packed  *packedSize
	index   map[string]int // rule index by code
	err     error
}

func (s *sarifWriter) raw(text string) {
	s.out.WriteString(text) // a bufio.Writer keeps its first error for Flush
	s.packed.add([]byte(text))
}

func (s *sarifWriter) value(v any) {
	b, err := json.Marshal(v)
	if err != nil && s.err == nil {
		s.err = err
	}
	s.out.Write(b)
	s.packed.add(b)
}

// tool lists every rule, and the codes of findings that this version has no rule
// for: a merged report may come from a newer one.
func (s *sarifWriter) tool(r *rules.Report) sarifTool {
	var t sarifTool
	t.Driver.Name, t.Driver.Version = Clean(r.Tool.Name), Clean(r.Tool.Version)
	t.Driver.Rules = []sarifRule{}
	add := func(rule sarifRule) {
		s.index[rule.ID] = len(t.Driver.Rules)
		t.Driver.Rules = append(t.Driver.Rules, rule)
	}
	for _, rule := range rules.All() {
		add(sarifRuleOf(rule))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if _, known := s.index[Clean(f.Code)]; !known && len(t.Driver.Rules) < sarifMaxResults {
			add(sarifRuleOf(rules.Rule{
				Code: Clean(f.Code), Name: Clean(f.Rule), Default: f.Severity, Summary: Clean(f.Rule),
				Doc: rules.Doc{What: "This version of aliascheck has no documentation of the rule.", Why: Clean(f.Why), Mend: Clean(f.Fix)},
			}))
		}
	}
	return t
}

func sarifRuleOf(r rules.Rule) sarifRule {
	return sarifRule{
		ID: r.Code, Name: r.Name,
		Short: sarifMessage{r.Summary},
		Full:  sarifMessage{r.Doc.What},
		Help: sarifHelp{
			Text: fmt.Sprintf("%s\n\nWhy it hurts: %s\n\nHow to mend it: %s\n\nWhen the rule is wrong: %s",
				r.Doc.What, r.Doc.Why, r.Doc.Mend, r.Doc.Wrong),
			Markdown: fmt.Sprintf("%s\n\n**Why it hurts.** %s\n\n**How to mend it.** %s\n\n**When the rule is wrong.** %s",
				prose(r.Doc.What), prose(r.Doc.Why), prose(r.Doc.Mend), prose(r.Doc.Wrong)),
		},
		Default: sarifDefault{sarifLevel(r.Default)},
		Extra: sarifRuleProperty{
			Tags: []string{"correctness", "gpu", "xla"}, Precision: "high",
			ProblemSeverity: problemSeverity(r.Default),
		},
	}
}

// sarifLevel is SARIF's word for a severity (3.27.10).
func sarifLevel(s rules.Severity) string {
	switch s {
	case rules.Error:
		return "error"
	case rules.Warning:
		return "warning"
	}
	return "note"
}

// problemSeverity is GitHub's word for a severity.
func problemSeverity(s rules.Severity) string {
	if s == rules.Error || s == rules.Warning {
		return string(s)
	}
	return "recommendation"
}

// results writes the findings, the gravest first, and those that are suppressed, as far
// as GitHub takes them, and returns how many it wrote.
func (s *sarifWriter) results(r *rules.Report) int {
	n := 0
	for _, f := range bySeverity(r.Findings) {
		if n == sarifMaxResults || s.packed.bytes() > sarifMaxPacked-sarifMargin {
			break
		}
		if n > 0 {
			s.raw(",")
		}
		s.raw("\n")
		s.value(s.result(f))
		n++
	}
	for i := range r.Suppressed {
		if n == sarifMaxResults || s.packed.bytes() > sarifMaxPacked-sarifMargin {
			break
		}
		x := &r.Suppressed[i]
		out := s.result(&x.Finding)
		out.Suppressions = []sarifSuppression{{"external", Clean(x.By + ": " + x.Reason)}}
		if n > 0 {
			s.raw(",")
		}
		s.raw("\n")
		s.value(out)
		n++
	}
	return n
}

// invocation says whether the audit was whole, and what was left out.
func (s *sarifWriter) invocation(r *rules.Report, written int) sarifInvocation {
	in := sarifInvocation{Successful: len(r.Summary.Incomplete) == 0, Notifications: []sarifNotification{}}
	note := func(level, format string, args ...any) {
		if len(in.Notifications) < sarifLocations {
			in.Notifications = append(in.Notifications, sarifNotification{level, sarifMessage{fmt.Sprintf(format, args...)}})
		}
	}
	if all := len(r.Findings) + len(r.Suppressed); written < all {
		note("warning", "GitHub takes %d results and %d MB of compressed SARIF: %d of %d findings are here, the gravest; the JSON report has all of them.",
			sarifMaxResults, sarifMaxPacked/1_000_000, written, all)
	} else if all > sarifShown {
		note("note", "GitHub shows the gravest %d of these %d findings.", sarifShown, all)
	}
	for _, x := range r.Summary.Incomplete {
		note("error", "%s could not be read whole: %s", Clean(x.Path), reason(x))
	}
	for _, line := range compiled(r.Summary.Compiled) {
		note("note", "Compiled %s", line)
	}
	for _, u := range r.Summary.Unanalysed {
		note("note", "%s of %s %s not analysed: %s", plural(u.Calls, "call"), Clean(u.Target), Clean(u.Kernel), Clean(u.Reason))
	}
	for _, u := range r.Summary.Unknown {
		note("note", "%s of %s %s: %s", plural(u.Calls, "call"), Clean(u.Target), Clean(u.Kernel), Clean(u.Reason))
	}
	for _, u := range r.Summary.NotAudited {
		note("note", "%s not audited for %s: %s", plural(u.Calls, "call"), Clean(u.Check), Clean(u.Reason))
	}
	return in
}
