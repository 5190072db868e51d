package report

import (
	"fmt"

	"aliascheck/rules"
)

// summary says what was and was not audited, then what was found.
func (t *textWriter) summary(s *rules.Summary) {
	fmt.Fprintf(t.out, "%s, %s", plural(s.Modules, "module"), plural(s.CustomCalls, "custom call"))
	if s.CustomCalls > 0 {
		other := 0
		for _, u := range s.Unanalysed {
			other += u.Calls
		}
		fmt.Fprintf(t.out, ": %d with a kernel analysed, %d library, %d not analysed", s.Analysed, s.Library, other)
	}
	fmt.Fprintln(t.out)
	for _, u := range s.Unanalysed {
		name := Clean(u.Target)
		if u.Kernel != "" {
			name += " " + Clean(u.Kernel)
		}
		t.prose(fmt.Sprintf("%6d ×", u.Calls), name+": "+u.Reason)
	}
	for _, u := range s.NotAudited {
		t.prose(fmt.Sprintf("%6d ×", u.Calls), "not audited for "+u.Check+": "+u.Reason)
	}
	for _, x := range s.Stale {
		t.prose("stale", fmt.Sprintf("%s %s: %s", x.Where, x.Text, x.Reason))
	}
	for _, x := range s.Incomplete {
		t.prose(t.paint.red("unread"), Clean(x.Path)+": "+x.Error)
	}
	line := fmt.Sprintf("%s, %s, %s", plural(s.Errors, "error"), plural(s.Warnings, "warning"), plural(s.Notes, "note"))
	if s.Suppressed > 0 {
		line += fmt.Sprintf(" (%d suppressed)", s.Suppressed)
	}
	if len(s.Incomplete) > 0 {
		line += fmt.Sprintf("; %s could not be read whole", plural(len(s.Incomplete), "input"))
	}
	fmt.Fprintln(t.out, t.paint.bold(line))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
