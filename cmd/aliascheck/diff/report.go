package diff

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"aliascheck/cmd/aliascheck/report"
	"aliascheck/rules"
)

// Report is a diff as JSON has it. Fields are added, never changed.
type Report struct {
	SchemaVersion int        `json:"schema_version"`
	Tool          rules.Tool `json:"tool"`
	Old           Side       `json:"old"`
	New           Side       `json:"new"`
	Changed       []Entry    `json:"changed"`
	Removed       []Entry    `json:"removed"` // calls that only OLD has
	Added         []Entry    `json:"added"`   // calls that only NEW has

	// Findings about modules' memory that are no call's: gone in NEW, and new there.
	FindingsRemoved []Found `json:"findings_removed"`
	FindingsAdded   []Found `json:"findings_added"`
}

type Side struct {
	Dump        string   `json:"dump"`
	Modules     int      `json:"modules"`
	CustomCalls int      `json:"custom_calls"`
	Incomplete  []string `json:"incomplete"`
}

func (s *Side) text() string {
	return counted(s.Modules, "module") + ", " + counted(s.CustomCalls, "custom call")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

type Entry struct {
	Identity
	Old     *Place   `json:"old,omitempty"`
	New     *Place   `json:"new,omitempty"`
	Changes []Change `json:"changes"`
}

// Place is the first of the calls that are in one state.
type Place struct {
	Path        string `json:"path"`
	Instruction string `json:"instruction"`
	Calls       int    `json:"calls"` // how many changed; 0: none did, it is what the others are held against
}

// Compare matches the calls of two dumps, which the user named by these paths.
func Compare(tool rules.Tool, paths [2]string, old, new *Dump) *Report {
	changed, removed, added := match(old, new)
	return &Report{
		SchemaVersion: 1, Tool: tool,
		Old: sideOf(paths[0], old), New: sideOf(paths[1], new),
		Changed: entriesOf(changed), Removed: entriesOf(removed), Added: entriesOf(added),
		FindingsRemoved: onlyIn(old, new), FindingsAdded: onlyIn(new, old),
	}
}

func sideOf(path string, d *Dump) Side {
	return Side{Dump: path, Modules: d.modules, CustomCalls: d.calls, Incomplete: append([]string{}, d.incomplete...)}
}

func entriesOf(list []callDiff) []Entry {
	out := make([]Entry, 0, len(list))
	for i := range list {
		d := &list[i]
		out = append(out, Entry{d.id, placeOf(d.old, d.oldCalls), placeOf(d.new, d.newCalls), d.changes()})
	}
	return out
}

func placeOf(v *variant, calls int) *Place {
	if v == nil {
		return nil
	}
	return &Place{v.path, v.instruction, calls}
}

// Same reports whether there is nothing to tell.
func (r *Report) Same() bool {
	return len(r.Changed)+len(r.Removed)+len(r.Added)+len(r.FindingsRemoved)+len(r.FindingsAdded) == 0
}

// Whole reports whether both dumps were read whole.
func (r *Report) Whole() bool { return len(r.Old.Incomplete)+len(r.New.Incomplete) == 0 }

// WriteJSON writes a diff for programs.
func (r *Report) WriteJSON(w io.Writer) error {
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

// WriteText writes a diff for people: what changed in full, the rest by name.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	for i := range r.Changed {
		writeChanged(out, &r.Changed[i])
	}
	writeList(out, "only in "+r.Old.Dump, r.Removed)
	writeList(out, "only in "+r.New.Dump, r.Added)
	writeFound(out, "memory findings only in "+r.Old.Dump, r.FindingsRemoved)
	writeFound(out, "memory findings only in "+r.New.Dump, r.FindingsAdded)
	for _, side := range [...]*Side{&r.Old, &r.New} {
		for n, x := range side.Incomplete {
			if n == maxOnly {
				fmt.Fprintf(out, "… and %d more unread; --format json lists them\n", len(side.Incomplete)-n)
				break
			}
			fmt.Fprintf(out, "unread %s\n", report.Clean(x))
		}
	}
	verdict := fmt.Sprintf("%d changed, %d only in OLD, %d only in NEW", len(r.Changed), len(r.Removed), len(r.Added))
	if n, m := len(r.FindingsRemoved), len(r.FindingsAdded); n+m > 0 {
		verdict += fmt.Sprintf(", memory findings: %d only in OLD, %d only in NEW", n, m)
	}
	if r.Same() {
		verdict = "no difference"
		if !r.Whole() {
			verdict = "no difference in what could be read"
		}
	}
	fmt.Fprintf(out, "%s (OLD: %s; NEW: %s)\n", verdict, r.Old.text(), r.New.text())
	return out.Flush()
}

func writeChanged(out io.Writer, e *Entry) {
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
func (e *Entry) name() string {
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

func (p *Place) text() string {
	out := report.Clean(p.Instruction) + " of " + report.Clean(p.Path)
	switch {
	case p.Calls > 1:
		out = fmt.Sprintf("%d calls, the first is %s", p.Calls, out)
	case p.Calls == 0:
		out += " (still there)"
	}
	return out
}

func writeList(out io.Writer, title string, list []Entry) {
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
