package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"aliascheck/rules"
)

// Concise writes one line a finding, as compilers print them: editors and scripts read
// FILE:LINE: SEVERITY: MESSAGE [CODE]. What was not audited follows, then the counts.
func Concise(w io.Writer, r *rules.Report, o Options) error {
	out := bufio.NewWriter(w)
	for i := range r.Findings {
		f := &r.Findings[i]
		at := Clean(cmp.Or(f.Path, "-")) + ":1"
		if f.Source != nil && f.Source.File != "" {
			at = fmt.Sprintf("%s:%d", Clean(relative(f.Source.File, o.SrcRoot)), f.Source.Line)
		}
		fmt.Fprintf(out, "%s: %s: %s: %s [%s]\n", at, Clean(string(f.Severity)), Clean(kernelOf(f)), Clean(f.Message), codeOf(f))
	}
	for _, x := range r.Summary.Incomplete {
		fmt.Fprintf(out, "%s: unread: %s\n", Clean(x.Path), reason(x))
	}
	for _, x := range r.Summary.Stale {
		fmt.Fprintf(out, "%s: stale: %s: %s\n", Clean(x.Where), Clean(x.Text), Clean(x.Reason))
	}
	fmt.Fprintln(out, verdictLine(&r.Summary))
	return out.Flush()
}
