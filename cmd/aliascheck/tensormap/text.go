package tensormap

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"
	tma "aliascheck/rules/tensormap"
)

// text writes descriptors for people. What comes from a log is escaped.
type text struct {
	out   *bufio.Writer
	width int
	color bool
}

// WriteText writes every descriptor that is worth a word, and how many there were.
func (r *Report) WriteText(w io.Writer, full *rules.Report, o report.Options) error {
	t := &text{out: bufio.NewWriter(w), width: min(max(o.Width, 0), 100), color: o.Color}
	if t.width < 40 {
		t.width = 80
	}
	counts := map[tma.Verdict]int{}
	prints := 0
	for _, g := range r.groups {
		t.group(r, g)
		if g.entry.Kind != tma.Bare {
			counts[g.judgement.Verdict] += g.prints
			prints += g.prints
		}
	}
	t.summary(r, full, counts, prints)
	return t.out.Flush()
}

func (t *text) summary(r *Report, full *rules.Report, counts map[tma.Verdict]int, prints int) {
	if r.stats.Lines > 0 && len(r.groups) == 0 {
		word := "lines"
		if r.stats.Lines == 1 {
			word = "line"
		}
		fmt.Fprintf(t.out, "%s: no TMA descriptor in %d %s\n", report.Clean(r.path), r.stats.Lines, word)
	} else if len(r.groups) == 0 {
		fmt.Fprintf(t.out, "%s: empty\n", report.Clean(r.path))
	} else if r.stats.Lines > 0 {
		word := "descriptors"
		if prints == 1 {
			word = "descriptor"
		}
		fmt.Fprintf(t.out, "%s: %d TMA %s (%d distinct): %d refused, %d accepted, %d undecided\n", report.Clean(r.path), prints, word,
			len(r.groups), counts[tma.Refused], counts[tma.Accepted], counts[tma.Undecided])
	}
	for _, i := range full.Summary.Incomplete {
		t.prose("", "not judged: "+report.Clean(i.Path)+": "+report.Clean(i.Error))
	}
	for _, n := range full.Summary.NotAudited {
		t.prose("", fmt.Sprintf("not looked at: %d %s (%s)", n.Calls, n.Check, n.Reason))
	}
	if r.about != "" {
		t.prose("", "asked: "+r.about)
	}
}

// group writes one descriptor.
func (t *text) group(r *Report, g *group) {
	e, j := &g.entry, &g.judgement
	fmt.Fprintln(t.out, t.bold(t.head(r, g)))
	if e.Kind != tma.Bare {
		t.parameters(g)
	}
	for _, p := range e.Problems {
		t.prose("  unclear  ", report.Clean(p))
	}
	last := 0
	for _, v := range j.Violations {
		if !v.Enforced {
			continue
		}
		t.prose(fmt.Sprintf("  rule %-3d ", v.Rule), fmt.Sprintf("%s is %s and must be %s", v.Parameter, v.Value, v.Needs))
		if v.Rule != last {
			t.prose("  why      ", v.Why)
		}
		last = v.Rule
	}
	if j.Cause.Text != "" {
		t.prose("  cause    ", j.Cause.Text)
	}
	t.fix(j)
	for _, m := range j.Remarks {
		label := "  note     "
		if m.Rule != 0 {
			label = fmt.Sprintf("  rule %-3d ", m.Rule)
		}
		t.prose(label, m.Text)
	}
	if e.Kind == tma.Printed && j.Verdict == tma.Undecided {
		for _, u := range j.Unchecked {
			t.prose("  open     ", fmt.Sprintf("rule %d: %s", u.Rule, u.Reason))
		}
	}
	for _, c := range j.Conditions {
		t.prose("  if       ", c)
	}
	t.driver(g.driver)
	fmt.Fprintln(t.out)
}

// head is the first line: where, the verdict, what the log says, whose.
func (t *text) head(r *Report, g *group) string {
	e, j := &g.entry, &g.judgement
	var b strings.Builder
	if e.First > 0 {
		fmt.Fprintf(&b, "%s:%d: ", report.Clean(r.path), e.First)
	}
	switch e.Kind {
	case tma.Bare:
		b.WriteString("a descriptor that was not printed")
	case tma.Entangled:
		fmt.Fprintf(&b, "%d mingled prints: %s", e.Prints, j.Verdict)
	default:
		b.WriteString(string(j.Verdict))
	}
	if e.Name != "" {
		fmt.Fprintf(&b, " (%s)", report.Clean(e.Name))
	}
	if e.HasCode {
		fmt.Fprintf(&b, "; the log says %s", e.Code)
	}
	if len(g.streams) > 0 {
		fmt.Fprintf(&b, " [%s]", report.Clean(strings.Join(g.streams, "; ")))
	}
	if e.Kind != tma.Entangled && g.prints > 1 {
		fmt.Fprintf(&b, ", printed %d times", g.prints)
	}
	return b.String()
}

// parameters writes what is known, as the driver names it.
func (t *text) parameters(g *group) {
	d := &g.entry.Descriptor
	var parts []string
	for _, p := range parametersOf(d) {
		if p.name == "globalAddress" && len(g.addresses) > 1 {
			p.value = strings.Join(hexAddresses(g.addresses), ", ")
		}
		parts = append(parts, p.name+" "+p.value)
	}
	if len(parts) == 0 {
		return
	}
	line := ""
	for _, p := range parts {
		if line != "" && len(line)+2+len(p) > t.width-4 {
			fmt.Fprintf(t.out, "    %s\n", line)
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += p
	}
	fmt.Fprintf(t.out, "    %s\n", line)
}

// fix writes the changes, and the whole of what is then passed.
func (t *text) fix(j *tma.Judgement) {
	if j.Fix == nil {
		return
	}
	for _, c := range j.Fix.Changes {
		text := fmt.Sprintf("%s %s instead of %s", c.Parameter, c.To, c.From)
		if c.Note != "" {
			text += ": " + c.Note
		}
		t.prose("  change   ", text)
	}
	if j.Fix.Legal {
		t.prose("           ", "with that it breaks no enforced rule")
	} else {
		t.prose("           ", "and even so it is refused: "+brokenRules(new(tma.Judge(j.Fix.Corrected))))
	}
}

func (t *text) driver(a *driverAnswer) {
	switch {
	case a == nil:
	case a.Error != "":
		t.prose("  driver   ", "not asked: "+a.Error)
	case a.Differs != "":
		t.prose("  driver   ", "answers "+a.Text+": THE VERDICTS DIFFER: "+a.Differs)
	default:
		t.prose("  driver   ", "answers "+a.Text+", as the rules say")
	}
}

// prose writes a label and text, wrapped and indented to the label.
func (t *text) prose(label, text string) {
	fmt.Fprint(t.out, label)
	column := len(label)
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		if i > 0 && column+1+n > t.width {
			fmt.Fprintf(t.out, "\n%s", strings.Repeat(" ", max(len(label), 2)))
			column = max(len(label), 2)
		} else if i > 0 {
			fmt.Fprint(t.out, " ")
			column++
		}
		fmt.Fprint(t.out, word)
		column += n
	}
	fmt.Fprintln(t.out)
}

func (t *text) bold(s string) string {
	if !t.color {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// parameter is a parameter and its value as text.
type parameter struct{ name, value string }

// parametersOf lists the known parameters in the driver's order.
func parametersOf(d *tma.Descriptor) []parameter {
	var out []parameter
	add := func(f tma.Field, value any) {
		if d.Has(f) {
			out = append(out, parameter{f.String(), strings.NewReplacer(" ", ",", "[", "(", "]", ")").Replace(fmt.Sprint(value))})
		}
	}
	add(tma.FieldDataType, d.DataType)
	add(tma.FieldRank, d.Rank)
	add(tma.FieldAddress, fmt.Sprintf("%#x", d.Address))
	add(tma.FieldDims, d.Dims)
	add(tma.FieldStrides, d.Strides)
	add(tma.FieldBox, d.Box)
	add(tma.FieldLowerCorner, d.LowerCorner)
	add(tma.FieldUpperCorner, d.UpperCorner)
	add(tma.FieldChannelsPerPixel, d.ChannelsPerPixel)
	add(tma.FieldPixelsPerColumn, d.PixelsPerColumn)
	add(tma.FieldElementStrides, d.ElementStrides)
	add(tma.FieldInterleave, d.Interleave)
	add(tma.FieldSwizzle, d.Swizzle)
	add(tma.FieldL2Promotion, d.L2Promotion)
	add(tma.FieldOOBFill, d.OOBFill)
	return out
}
