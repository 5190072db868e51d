package report

import (
	"fmt"

	"aliascheck/rules"
)

// valueWords says of a value of a finding about a module's memory what it is, where it
// lies and how long it is needed.
func valueWords(v *rules.Value) string {
	out := Clean(v.Name)
	if v.Parameter != nil {
		out += fmt.Sprintf(" (parameter %d)", *v.Parameter)
	}
	from, to := "the start", "the end"
	if v.From != "" {
		from = Clean(v.From)
	}
	if v.To != "" {
		to = Clean(v.To)
	}
	return fmt.Sprintf("%s: allocation %d, bytes %d to %d, needed from %s to %s",
		out, v.Slice.Allocation, v.Slice.Offset, v.Slice.Offset+v.Slice.Size, from, to)
}

// valueLine is the Python line that made a value; empty where the dump names none.
func valueLine(v *rules.Value, root string) string {
	if v.Source == nil || v.Source.File == "" {
		return ""
	}
	return Clean(fmt.Sprintf("%s:%d", relative(v.Source.File, root), v.Source.Line))
}
