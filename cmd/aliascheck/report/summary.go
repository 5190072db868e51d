package report

import (
	"fmt"
	"slices"
	"strings"

	"aliascheck/rules"
)

// summary says what was and was not audited.
func (t *textWriter) summary(s *rules.Summary) {
	fmt.Fprintf(t.out, "%s, %s", plural(s.Modules, "module"), plural(s.CustomCalls, "custom call"))
	if s.CustomCalls > 0 {
		other := 0
		for _, u := range s.Unanalysed {
			other += u.Calls
		}
		fmt.Fprintf(t.out, ": %d with a kernel analysed, %d library, %s%d not analysed", s.Analysed, s.Library, declared(s), other)
		if n := s.UnknownCalls(); n > 0 {
			fmt.Fprintf(t.out, ", %s with an unknown pair", plural(n, "call"))
		}
	}
	fmt.Fprintln(t.out)
	for _, line := range compiled(s.Compiled) {
		t.prose("compiled", line)
	}
	t.unanalysed(s.Unanalysed)
	t.unanalysed(s.Unknown)
	for _, u := range s.NotAudited {
		t.prose(fmt.Sprintf("%6d ×", u.Calls), "not audited for "+u.Check+": "+u.Reason)
	}
	for _, x := range s.Stale[:min(len(s.Stale), maxListed)] {
		t.prose("stale", fmt.Sprintf("%s %s: %s", x.Where, x.Text, x.Reason))
	}
	t.more("stale", len(s.Stale))
	t.unread(s.Incomplete)
}

// verdictLine is a report in one line.
func verdictLine(s *rules.Summary) string {
	line := fmt.Sprintf("%s, %s, %s", plural(s.Errors, "error"), plural(s.Warnings, "warning"), plural(s.Notes, "note"))
	if s.Errors+s.Warnings+s.Notes == 0 {
		line = "nothing found in " + plural(s.CustomCalls, "custom call")
	}
	var left []string
	if s.Suppressed > 0 {
		left = append(left, fmt.Sprintf("%d suppressed", s.Suppressed))
	}
	if s.Deselected > 0 {
		left = append(left, fmt.Sprintf("%d not selected", s.Deselected))
	}
	if left != nil {
		line += " (" + strings.Join(left, ", ") + ")"
	}
	if len(s.Incomplete) > 0 {
		line += fmt.Sprintf("; %s could not be read whole", plural(len(s.Incomplete), "input"))
	}
	return line
}

// maxListed bounds the lists that a directory of broken files, or an old baseline, can
// make as long as it likes; the JSON has all of them.
const maxListed = 20

// more says how many of n are not listed.
func (t *textWriter) more(word string, n int) {
	if n > maxListed {
		t.prose(word, fmt.Sprintf("and %d more; --output json=FILE lists all of them", n-maxListed))
	}
}

// unanalysed lists the calls whose kernel was not analysed, together where they
// have the reason in common.
func (t *textWriter) unanalysed(all []rules.Unanalysed) {
	type group struct {
		calls int
		names []string
	}
	groups := map[string]*group{}
	var reasons []string
	for _, u := range all {
		g := groups[u.Reason]
		if g == nil {
			g = &group{}
			groups[u.Reason] = g
			reasons = append(reasons, u.Reason)
		}
		name := u.Kernel
		if name == "" {
			name = u.Target
		}
		g.calls += u.Calls
		if !slices.Contains(g.names, name) {
			g.names = append(g.names, name)
		}
	}
	for _, r := range reasons {
		g := groups[r]
		slices.Sort(g.names)
		t.prose(fmt.Sprintf("%6d ×", g.calls), r+": "+list(g.names, 6))
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// declared counts the calls that the configuration describes, where there are any.
func declared(s *rules.Summary) string {
	if s.Declared == 0 {
		return ""
	}
	return fmt.Sprintf("%d declared, ", s.Declared)
}
