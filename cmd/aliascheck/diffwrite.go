package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"
)

// diffReport is a diff as JSON has it. Fields are added, never changed.
type diffReport struct {
	SchemaVersion int         `json:"schema_version"`
	Tool          rules.Tool  `json:"tool"`
	Old           diffSide    `json:"old"`
	New           diffSide    `json:"new"`
	Changed       []diffEntry `json:"changed"`
	Removed       []diffEntry `json:"removed"` // calls that only OLD has
	Added         []diffEntry `json:"added"`   // calls that only NEW has
}

type diffSide struct {
	Dump        string   `json:"dump"`
	Modules     int      `json:"modules"`
	CustomCalls int      `json:"custom_calls"`
	Incomplete  []string `json:"incomplete"`
}

func (s *diffSide) text() string {
	return counted(s.Modules, "module") + ", " + counted(s.CustomCalls, "custom call")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

type diffEntry struct {
	diffIdentity
	Old     *diffPlace `json:"old,omitempty"`
	New     *diffPlace `json:"new,omitempty"`
	Changes []change   `json:"changes"`
}

// diffPlace is the first of the calls that are in one state.
type diffPlace struct {
	Path        string `json:"path"`
	Instruction string `json:"instruction"`
	Calls       int    `json:"calls"` // how many changed; 0: none did, it is what the others are held against
}

func newDiffReport(paths [2]string, old, new *dumpFacts) *diffReport {
	changed, removed, added := match(old, new)
	return &diffReport{
		SchemaVersion: 1, Tool: rules.Tool{Name: "aliascheck", Version: version()},
		Old: sideOf(paths[0], old), New: sideOf(paths[1], new),
		Changed: entriesOf(changed), Removed: entriesOf(removed), Added: entriesOf(added),
	}
}

func sideOf(path string, d *dumpFacts) diffSide {
	return diffSide{Dump: path, Modules: d.modules, CustomCalls: d.calls, Incomplete: append([]string{}, d.incomplete...)}
}

func entriesOf(list []callDiff) []diffEntry {
	out := make([]diffEntry, 0, len(list))
	for i := range list {
		d := &list[i]
		out = append(out, diffEntry{d.id, placeOf(d.old, d.oldCalls), placeOf(d.new, d.newCalls), d.changes()})
	}
	return out
}

func placeOf(v *variant, calls int) *diffPlace {
	if v == nil {
		return nil
	}
	return &diffPlace{v.path, v.instruction, calls}
}

// same reports whether there is nothing to tell.
func (r *diffReport) same() bool { return len(r.Changed)+len(r.Removed)+len(r.Added) == 0 }

// whole reports whether both dumps were read whole.
func (r *diffReport) whole() bool { return len(r.Old.Incomplete)+len(r.New.Incomplete) == 0 }

func (r *diffReport) writeJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetIndent("", " ")
	if err := e.Encode(r); err != nil {
		return err
	}
	return out.Flush()
}

// maxOnly is how many calls the text names that only one dump has.
const maxOnly = 20

// writeText writes a diff for people: what changed in full, the rest by name.
func (r *diffReport) writeText(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i := range r.Changed {
		writeChanged(out, &r.Changed[i])
	}
	writeList(out, "only in "+r.Old.Dump, r.Removed)
	writeList(out, "only in "+r.New.Dump, r.Added)
	for _, side := range [...]*diffSide{&r.Old, &r.New} {
		for n, x := range side.Incomplete {
			if n == maxOnly {
				fmt.Fprintf(out, "… and %d more unread; --format json lists them\n", len(side.Incomplete)-n)
				break
			}
			fmt.Fprintf(out, "unread %s\n", report.Clean(x))
		}
	}
	verdict := fmt.Sprintf("%d changed, %d only in OLD, %d only in NEW", len(r.Changed), len(r.Removed), len(r.Added))
	if r.same() {
		verdict = "no difference"
		if !r.whole() {
			verdict = "no difference in what could be read"
		}
	}
	fmt.Fprintf(out, "%s (OLD: %s; NEW: %s)\n", verdict, r.Old.text(), r.New.text())
	return out.Flush()
}

func writeChanged(out io.Writer, e *diffEntry) {
	fmt.Fprintf(out, "changed  %s\n", e.name())
	fmt.Fprintf(out, "  old    %s\n  new    %s\n", e.Old.text(), e.New.text())
	for _, c := range e.Changes {
		word := c.What
		for _, part := range [...]struct {
			sign  string
			lines []string
		}{{"-", c.Removed}, {"+", c.Added}} {
			for _, line := range part.lines {
				fmt.Fprintf(out, "  %-10s %s %s\n", word, part.sign, report.Clean(line))
				word = ""
			}
		}
	}
	fmt.Fprintln(out)
}

// name says which call it is.
func (e *diffEntry) name() string {
	name := e.Kernel
	if name == "" {
		name = e.Target
	}
	out := report.Clean(name) + " in " + report.Clean(e.Module)
	if e.File != "" {
		out += ", " + report.Clean(e.File)
	}
	if e.Function != "" {
		out += " " + report.Clean(e.Function)
	}
	return out
}

func (p *diffPlace) text() string {
	out := report.Clean(p.Instruction) + " of " + report.Clean(p.Path)
	switch {
	case p.Calls > 1:
		out = fmt.Sprintf("%d calls, the first is %s", p.Calls, out)
	case p.Calls == 0:
		out += " (still there)"
	}
	return out
}

func writeList(out io.Writer, title string, list []diffEntry) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out, report.Clean(title))
	for n := range list {
		if n == maxOnly {
			fmt.Fprintf(out, "  … and %d more; --format json lists them\n", len(list)-n)
			break
		}
		place := list[n].Old
		if place == nil {
			place = list[n].New
		}
		fmt.Fprintf(out, "  %s, %s: %s\n", list[n].name(), strings.TrimSpace(list[n].Shapes), place.text())
	}
	fmt.Fprintln(out)
}
