package report

import (
	"fmt"
	"slices"
	"strings"

	"aliascheck/rules"
)

// table counts the findings by code.
func (t *textWriter) table(list []rules.Finding) {
	type row struct {
		rule   string
		counts [3]int // errors, warnings, notes
	}
	rows := map[string]*row{}
	var codes []string
	width := 0
	for i := range list {
		f := &list[i]
		code := codeOf(f)
		r := rows[code]
		if r == nil {
			r = &row{rule: ruleOf(f)}
			rows[code] = r
			codes = append(codes, code)
			width = max(width, len([]rune(r.rule)))
		}
		switch f.Severity {
		case rules.Error:
			r.counts[0]++
		case rules.Warning:
			r.counts[1]++
		default:
			r.counts[2]++
		}
	}
	if len(codes) < 2 {
		return
	}
	slices.Sort(codes)
	for _, code := range codes {
		var parts []string
		for n, what := range [...]string{"error", "warning", "note"} {
			if rows[code].counts[n] > 0 {
				parts = append(parts, plural(rows[code].counts[n], what))
			}
		}
		fmt.Fprintf(t.out, "%s  %-*s  %s\n", code, width, rows[code].rule, strings.Join(parts, ", "))
	}
	fmt.Fprintln(t.out)
}

// suppressed lists what was silenced, a line each, where a report has it.
func (t *textWriter) suppressed(list []rules.Suppressed) {
	for i := range list {
		s := &list[i]
		fmt.Fprintf(t.out, "%s %s %s, %s\n", t.paint.dim("suppressed"), codeOf(&s.Finding), ruleOf(&s.Finding), place(s.Source, t.options.SrcRoot))
		t.prose("by", s.By+": "+s.Reason)
	}
	if len(list) > 0 {
		fmt.Fprintln(t.out)
	}
}

// wrappers names the project's own helpers that findings were traced through.
func (t *textWriter) wrappers(list []rules.Finding) {
	seen := map[string]bool{}
	for i := range list {
		s := list[i].Source
		if s == nil || s.Wrapper == nil {
			continue
		}
		name := shortFrame(s.Wrapper)
		if seen[name] || len(seen) == maxFrames {
			continue
		}
		seen[name] = true
		t.line(fmt.Sprintf("calls of several kernels end in %s:%d: its callers are named (library-code: [%q] pins that)",
			Clean(relative(s.Wrapper.File, t.options.SrcRoot)), s.Wrapper.Line, name))
	}
}

// shortFrame is a function as library-code has it: the file's name, and the function.
func shortFrame(f *rules.Frame) string {
	file := f.File[strings.LastIndexByte(f.File, '/')+1:]
	return Clean(file) + ":" + Clean(f.Function)
}

// hint says where more is.
func (t *textWriter) hint(f *rules.Finding) {
	t.line(fmt.Sprintf("`aliascheck explain %s` says what that is; --verbose shows the proof, the stack and how to silence a finding", codeOf(f)))
}

// line prints text at the margin, dim and wrapped.
func (t *textWriter) line(text string) {
	for _, line := range wrap(text, min(t.width, maxText)) {
		fmt.Fprintln(t.out, t.paint.dim(line))
	}
}
