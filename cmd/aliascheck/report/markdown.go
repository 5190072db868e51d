package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"aliascheck/rules"
)

const (
	// markdownLimit is the most characters of a GitHub comment; bytes are counted
	// here, of which there are never fewer.
	markdownLimit = 65_536
	// summaryLimit is the most bytes of a job summary.
	summaryLimit = 1 << 20
	// markdownRoom is kept for what stands behind the findings.
	markdownRoom = 4096
	markdownRows = 30  // of each list behind the findings
	markdownName = 300 // characters of one name
)

// Mark stands first in the Markdown, so that a later run can find its own comment.
const Mark = "<!-- aliascheck -->"

// Markdown writes a report as a comment on a pull request: a verdict, a block for
// every finding, the gravest first and as many as a comment holds, then what was
// not audited.
func Markdown(w io.Writer, r *rules.Report, o Options) error {
	return markdown(w, r, o, markdownLimit)
}

func markdown(w io.Writer, r *rules.Report, o Options, limit int) error {
	m := &markdownWriter{out: bufio.NewWriter(w), options: o, left: limit - markdownRoom}
	m.put(Mark + "\n### aliascheck: " + verdict(&r.Summary) + "\n\n")
	m.put(audited(&r.Summary) + "\n\n")
	list := bySeverity(r.Findings)
	shown := 0
	for _, f := range list {
		if !m.put(m.finding(f)) {
			break
		}
		shown++
	}
	m.left += markdownRoom
	if shown < len(list) {
		m.put(fmt.Sprintf("**%d of %s shown:** the rest is too long for this comment. The JSON and HTML reports have all of them.\n\n",
			shown, plural(len(list), "finding")))
	}
	m.rest(&r.Summary)
	return m.out.Flush()
}

type markdownWriter struct {
	out     *bufio.Writer
	options Options
	left    int // bytes
}

// put writes text if there is room for all of it.
func (m *markdownWriter) put(text string) bool {
	if len(text) > m.left {
		return false
	}
	m.left -= len(text)
	m.out.WriteString(text) // a bufio.Writer keeps its first error for Flush
	return true
}

// verdict is the outcome in a few words.
func verdict(s *rules.Summary) string {
	if s.Errors+s.Warnings+s.Notes == 0 {
		if len(s.Incomplete) > 0 {
			return "the audit is not whole"
		}
		return "nothing found in " + plural(s.CustomCalls, "custom call")
	}
	return fmt.Sprintf("%s, %s, %s", plural(s.Errors, "error"), plural(s.Warnings, "warning"), plural(s.Notes, "note"))
}

// audited says what the verdict is about.
func audited(s *rules.Summary) string {
	other := 0
	for _, u := range s.Unanalysed {
		other += u.Calls
	}
	line := fmt.Sprintf("%s, %s: %d analysed, %d library, %s%d not analysed.",
		plural(s.Modules, "module"), plural(s.CustomCalls, "custom call"), s.Analysed, s.Library, declared(s), other)
	if n := s.UnknownCalls(); n > 0 {
		line += fmt.Sprintf(" %s with an unknown pair.", plural(n, "call"))
	}
	if s.Suppressed > 0 {
		line += fmt.Sprintf(" %d suppressed.", s.Suppressed)
	}
	return line
}

// finding is one block: a line that is always seen, and the rest folded away.
func (m *markdownWriter) finding(f *rules.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s **%s %s** at %s: %s\n\n", sign(f.Severity), prose(f.Code), prose(f.Rule), m.where(f.Source), prose(f.Message))
	b.WriteString("<details><summary>Details</summary>\n\n")
	row := func(word, text string) {
		if text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", word, text)
		}
	}
	row("Why", prose(f.Why))
	row("Mend", prose(f.Fix))
	if f.Patch != nil {
		b.WriteString("\n```diff\n" + diffText(f.Patch) + "```\n\n")
	}
	row("Proof", prose(string(f.Confirmation)+": "+f.ConfirmationReason))
	if len(f.Values) == 0 {
		row("Call", fmt.Sprintf("%s in %s, module %s", short(kernelOf(f)), short(f.Instruction), short(f.Module)))
	} else {
		row("Instruction", fmt.Sprintf("%s, module %s", short(f.Instruction), short(f.Module)))
	}
	for i := range f.Values {
		text := prose(valueWords(&f.Values[i]))
		if line := valueLine(&f.Values[i], m.options.SrcRoot); line != "" {
			text += " at " + short(line)
		}
		row(prose(f.Values[i].Role), text)
	}
	for n, x := range f.Related {
		if n == markdownRows {
			break
		}
		text := short(x.Instruction)
		if x.File != "" {
			text += " at " + short(fmt.Sprintf("%s:%d", relative(x.File, m.options.SrcRoot), x.Line))
		}
		if x.Text != "" {
			text += " " + prose(x.Text)
		}
		row(prose(x.Role), strings.TrimSpace(text))
	}
	if f.Calls > 1 {
		row("Also", fmt.Sprintf("%d equal calls; this is one of them", f.Calls))
	}
	row("GPUs", prose(compiledFor(f)))
	row("Tests", names(f.Tests, 10))
	row("Silence", short(silence(f)))
	row("Fingerprint", code(f.Fingerprint))
	b.WriteString("\n</details>\n\n")
	return b.String()
}

// diffText is a patch as a fenced block has it: a name in it cannot end the block.
func diffText(p *rules.Patch) string {
	var b strings.Builder
	for _, line := range patchLines(p) {
		b.WriteString(strings.ReplaceAll(line, "```", "`` `") + "\n")
	}
	return b.String()
}

func sign(s rules.Severity) string {
	switch s {
	case rules.Error:
		return "❌"
	case rules.Warning:
		return "⚠️"
	}
	return "ℹ️"
}

func (m *markdownWriter) where(s *rules.Source) string {
	if s == nil || s.File == "" {
		return "a place that the dump does not name"
	}
	return short(fmt.Sprintf("%s:%d", relative(s.File, m.options.SrcRoot), s.Line))
}

// short is a name as a code span, cut where it is too long to read.
func short(name string) string { return code(shorten(Clean(name), markdownName)) }

// names is a list of names as code spans, the first few of many.
func names(list []string, most int) string {
	var parts []string
	for _, n := range list[:min(len(list), most)] {
		parts = append(parts, short(n))
	}
	out := strings.Join(parts, ", ")
	if len(list) > most {
		out += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return out
}

// rest says what was not audited, and which suppressions are stale.
func (m *markdownWriter) rest(s *rules.Summary) {
	var rows []string
	for _, x := range s.Incomplete {
		rows = append(rows, fmt.Sprintf("**Not read whole:** %s: %s", short(x.Path), prose(shorten(reason(x), markdownName))))
	}
	for _, line := range compiled(s.Compiled) {
		rows = append(rows, "Compiled "+prose(line))
	}
	for _, u := range s.Unanalysed {
		rows = append(rows, fmt.Sprintf("Not analysed: %s of %s %s: %s", plural(u.Calls, "call"), short(u.Target), short(u.Kernel), prose(shorten(u.Reason, markdownName))))
	}
	for _, u := range s.Unknown {
		rows = append(rows, fmt.Sprintf("Unknown: %s of %s %s: %s", plural(u.Calls, "call"), short(u.Target), short(u.Kernel), prose(shorten(u.Reason, markdownName))))
	}
	for _, u := range s.NotAudited {
		rows = append(rows, fmt.Sprintf("Not audited for %s: %s: %s", prose(u.Check), plural(u.Calls, "call"), prose(shorten(u.Reason, markdownName))))
	}
	for _, x := range s.Stale {
		rows = append(rows, fmt.Sprintf("Stale: %s: %s", short(x.Where+" "+x.Text), prose(x.Reason)))
	}
	for n, row := range rows {
		more := fmt.Sprintf("- … and %d more\n", len(rows)-n)
		if n == markdownRows || len(row)+len(more)+3 > m.left {
			m.put(more)
			return
		}
		m.put("- " + row + "\n")
	}
}
