package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"aliascheck/rules"
)

// Text writes a report for people, the gravest findings last, where a terminal stands:
// of each the rule, the Python line with its source, what is wrong, the accesses with
// their lines, and the mend as code; then a table by code, and what was and was not
// audited. Verbose adds a picture of the slices, why it matters, the replay, the stack
// and how to silence it. Names from the dump are escaped.
func Text(w io.Writer, r *rules.Report, o Options) error {
	t := &textWriter{out: bufio.NewWriter(w), width: o.Width, paint: painter{on: o.Color}, options: o}
	if t.width < minWidth {
		t.width = defaultWidth
	}
	list := bySeverity(r.Findings)
	slices.Reverse(list)
	for _, f := range list {
		t.finding(f)
	}
	t.suppressed(r.Suppressed)
	t.table(r.Findings)
	t.summary(&r.Summary)
	t.wrappers(r.Findings)
	if len(r.Findings) > 0 && !o.Verbose {
		t.hint(list[len(list)-1])
	}
	fmt.Fprintln(t.out, t.paint.bold(verdictLine(&r.Summary)))
	return t.out.Flush()
}

const (
	defaultWidth = 80
	minWidth     = 40
	maxText      = 100 // wider lines of prose are hard to read
	maxPicture   = 120
	label        = 9 // width of the words before prose
)

type textWriter struct {
	out     *bufio.Writer
	width   int
	paint   painter
	options Options
}

func (t *textWriter) finding(f *rules.Finding) {
	head, rule := fmt.Sprintf("%s %s", Clean(string(f.Severity)), codeOf(f)), ruleOf(f)
	where := place(f.Source, t.options.SrcRoot)
	gap := max(min(t.width, maxText)-len(head)-1-len([]rune(rule))-len([]rune(where)), 2)
	if f.Source != nil {
		where = t.link(where, f.Source.File, f.Source.Line, f.Source.Function)
	}
	fmt.Fprintf(t.out, "%s %s%s%s\n", t.paint.severity(f.Severity, head), rule, strings.Repeat(" ", gap), t.paint.bold(where))
	t.source(f.Source)
	called := called(f)
	if f.Confirmation == rules.Confirmed && !t.options.Verbose {
		called += "; confirmed"
	}
	fmt.Fprintf(t.out, "  %s\n\n", t.paint.dim(called))
	t.paragraph(f.Message)
	fmt.Fprintln(t.out)
	if t.options.Verbose {
		if t.picture(f) {
			fmt.Fprintln(t.out)
		}
		t.prose("why", f.Why)
	}
	t.values(f)
	t.related(f)
	t.prose("mend", f.Fix)
	t.patch(f.Patch)
	if t.options.Verbose {
		t.details(f)
	} else if len(f.Values) > 0 {
		t.again(f) // it is XLA's, and to be reported
	}
	t.callers(f)
	if len(f.Tests) > 0 {
		t.prose("tests", list(f.Tests, 4))
	}
	fmt.Fprintln(t.out)
}

// details are what a finding has for those who look closer.
func (t *textWriter) details(f *rules.Finding) {
	t.prose("silence", silence(f))
	if f.Confirmation != "" {
		t.prose("proof", string(f.Confirmation)+": "+f.ConfirmationReason)
	}
	t.stack(f.Source)
	t.again(f)
}

// callers says how many calls a finding stands for, and where else they are made.
func (t *textWriter) callers(f *rules.Finding) {
	if f.Calls > 1 {
		t.prose("also", fmt.Sprintf("%d equal calls; this is the first", f.Calls))
	}
	if text := compiledFor(f); text != "" {
		t.prose("GPUs", text)
	}
	others := otherPlaces(f, t.options.SrcRoot)
	for n, at := range others {
		if n == maxFrames && !t.options.Verbose {
			t.prose("", fmt.Sprintf("… and %d more", len(others)-n))
			return
		}
		t.prose("", at)
	}
}

// otherPlaces are the lines beside a finding's own at which equal calls are made.
func otherPlaces(f *rules.Finding, root string) []string {
	var out []string
	own := place(f.Source, root)
	for i := range f.Callers {
		if at := place(&f.Callers[i], root); at != own && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// again prints how to repeat a replay, or how to report what is XLA's: on one line, however long, that a shell takes.
func (t *textWriter) again(f *rules.Finding) {
	if t.options.Replay == nil {
		return
	}
	if line := t.options.Replay(f); line != "" {
		word := "on a GPU"
		if len(f.Values) > 0 {
			word = "report"
		}
		fmt.Fprintf(t.out, "  %s%s\n", t.paint.dim(fmt.Sprintf("%-*s", label, word)), Clean(line))
	}
}

// place is the Python line of a finding.
func place(s *rules.Source, root string) string {
	if s == nil || s.File == "" {
		return "(no Python line in the dump)"
	}
	out := fmt.Sprintf("%s:%d", Clean(relative(s.File, root)), s.Line)
	if s.Function != "" {
		out += " in " + Clean(s.Function)
	}
	return out
}

// called names the call: kernel, instruction, module. What is no call's is an
// instruction's.
func called(f *rules.Finding) string {
	if len(f.Values) > 0 {
		return fmt.Sprintf("%s in %s", Clean(f.Instruction), Clean(f.Module))
	}
	name := f.Kernel
	if name == "" {
		name = f.Target
	}
	return fmt.Sprintf("%s, called by %s in %s", Clean(name), Clean(f.Instruction), Clean(f.Module))
}

// silence is the suppression that fits a finding, as .aliascheck.yaml has it.
func silence(f *rules.Finding) string {
	parts := []string{"code: " + f.Code}
	if len(f.Values) > 0 {
		parts = append(parts, fmt.Sprintf("value: %q", f.Values[0].Name))
	} else if f.Kernel != "" {
		parts = append(parts, fmt.Sprintf("kernel: %q", f.Kernel))
	} else {
		parts = append(parts, fmt.Sprintf("target: %q", f.Target))
	}
	if f.Operand != nil {
		parts = append(parts, fmt.Sprintf("operand: %d", *f.Operand))
	}
	if f.ResultIndex != nil {
		parts = append(parts, fmt.Sprintf("result: %q", rules.IndexText(f.ResultIndex)))
	}
	return "suppress: [{" + strings.Join(parts, ", ") + `, reason: "…"}]`
}

// values prints what a finding about a module's memory is about.
func (t *textWriter) values(f *rules.Finding) {
	for i := range f.Values {
		v := &f.Values[i]
		words := valueWords(v)
		if line := valueLine(v, ""); line != "" {
			words += ", made at " + line
		}
		t.prose(v.Role, words)
	}
}

// maxFrames bounds how much of the stack is printed; the JSON has all of it.
const maxFrames = 4

func (t *textWriter) stack(s *rules.Source) {
	if s == nil || len(s.Stack) < 2 {
		return
	}
	for n, f := range s.Stack {
		word := ""
		if n == 0 {
			word = "stack"
		}
		if n == maxFrames && len(s.Stack) > maxFrames+1 {
			t.prose(word, fmt.Sprintf("… and %d more", len(s.Stack)-n))
			return
		}
		t.prose(word, fmt.Sprintf("%s:%d %s", Clean(relative(f.File, t.options.SrcRoot)), f.Line, Clean(f.Function)))
	}
}

// paragraph prints text, wrapped and indented.
func (t *textWriter) paragraph(text string) {
	for _, line := range wrap(Clean(text), min(t.width, maxText)-2) {
		fmt.Fprintf(t.out, "  %s\n", line)
	}
}

// prose prints text behind a word, or below the one before.
func (t *textWriter) prose(word, text string) {
	indent := 2 + label
	lead := "  " + t.paint.dim(fmt.Sprintf("%-*s", label, word))
	if len([]rune(word)) >= label {
		lead = "  " + t.paint.dim(word) + " "
	}
	for _, line := range wrap(Clean(text), min(t.width, maxText)-indent) {
		fmt.Fprintf(t.out, "%s%s\n", lead, line)
		lead = strings.Repeat(" ", indent)
	}
}

// list joins names, the first few of many.
func list(names []string, most int) string {
	clean := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		clean = append(clean, Clean(n))
	}
	out := strings.Join(clean, ", ")
	if len(names) > most {
		out += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return out
}

// wrap breaks text into lines of at most width runes where it has spaces.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
