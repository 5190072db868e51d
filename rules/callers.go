package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"aliascheck/alias"
)

// callers finds the Python line that tells a call apart from the others. A project's
// own helper ends all of its stacks: calls of different kernels, or with different
// declared pairs, are made at one line of it, which says nothing of any of them. A
// frame tells a call apart where all calls whose stacks pass it are of one kind. What
// a dump holds besides thus moves the line that a finding names, and never its
// fingerprint, which goes by the innermost frame outside of library code.
type callers struct {
	seen  map[callSite]struct{}
	lines map[frameLine]callKind // of all calls that pass a line; zero where they differ
}

// callSite is a call that was seen, by its stack and its kind.
type callSite struct {
	source *Source // the auditor's: one for each stack
	kind   callKind
}

// callKind is what a caller decides of a call: which kernel, and what it declares.
type callKind struct {
	name  string // of the kernel, else the target
	pairs uint64 // a hash of the declared pairs
}

type frameLine struct {
	file string
	line int
}

// LineCalls is what is known of the calls whose stacks pass a line.
type LineCalls struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Kind string `json:"kind,omitempty"` // of all of them; empty where there are several
}

// maxLines bounds the lines that are kept: a hostile dump has new ones for each call.
const maxLines = 1 << 18

// kindOf says what kind of call it is.
func kindOf(c *alias.Call, name string) callKind {
	h := uint64(14695981039346656037) // FNV-1a
	add := func(v int64) {
		for range 8 {
			h = (h ^ uint64(v&0xff)) * 1099511628211
			v >>= 8
		}
	}
	for i := range c.Declared {
		e := &c.Declared[i].Entry
		add(e.Operand)
		for _, index := range [...][]int64{e.OperandIndex, e.Result} {
			add(int64(len(index)))
			for _, n := range index {
				add(n)
			}
		}
	}
	return callKind{name, h}
}

// add takes in one call.
func (c *callers) add(site callSite) {
	if site.source == nil {
		return
	}
	if _, known := c.seen[site]; known || len(c.lines) >= maxLines {
		return
	}
	if c.seen == nil || len(c.seen) >= maxLines {
		c.seen = map[callSite]struct{}{}
	}
	if c.lines == nil {
		c.lines = map[frameLine]callKind{}
	}
	c.seen[site] = struct{}{}
	for _, n := range site.source.Own {
		f := &site.source.Stack[n]
		c.note(frameLine{f.File, f.Line}, site.kind)
	}
}

// note takes in that calls of a kind pass a line; the zero kind is several.
func (c *callers) note(at frameLine, kind callKind) {
	old, known := c.lines[at]
	switch {
	case !known:
		c.lines[at] = kind
	case old != kind:
		c.lines[at] = callKind{}
	}
}

// list is what is known, in order; nil where nothing is.
func (c *callers) list() []LineCalls {
	out := make([]LineCalls, 0, len(c.lines))
	for at, kind := range c.lines {
		l := LineCalls{File: at.file, Line: at.line}
		if kind != (callKind{}) {
			l.Kind = fmt.Sprintf("%016x %s", kind.pairs, kind.name)
		}
		out = append(out, l)
	}
	slices.SortFunc(out, func(x, y LineCalls) int { return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line)) })
	return out
}

// merge takes in what another audit knows.
func (c *callers) merge(list []LineCalls) {
	if c.lines == nil {
		c.lines = map[frameLine]callKind{}
	}
	for _, l := range list {
		if len(c.lines) < maxLines {
			c.note(frameLine{l.File, l.Line}, callKind{name: l.Kind})
		}
	}
}

// apart returns a source with the nearest line that tells its calls apart, and the
// innermost line as its wrapper. Where no line does, it is returned as it is.
func (c *callers) apart(s *Source) *Source {
	if len(c.lines) == 0 {
		return s
	}
	s = s.innermost()
	if s == nil || len(s.Own) < 2 || !c.many(&s.Stack[s.Own[0]]) {
		return s
	}
	for _, n := range s.Own[1:] {
		f := s.Stack[n]
		if c.many(&f) {
			continue
		}
		out := *s
		out.File, out.Line, out.Function = f.File, f.Line, f.Function
		wrapper := s.Stack[s.Own[0]]
		out.Wrapper = &wrapper
		return &out
	}
	return s
}

// many reports whether calls of several kinds pass a line.
func (c *callers) many(f *Frame) bool {
	kind, known := c.lines[frameLine{f.File, f.Line}]
	return known && kind == callKind{}
}

// maxCallers bounds the further stacks that a finding names.
const maxCallers = 16

// others are the further stacks of equal calls, at the lines that tell them apart.
func (c *callers) others(s *Source, list []*Source) []Source {
	seen := map[string]bool{s.key(): true}
	var out []Source
	for _, x := range list {
		if key := x.key(); !seen[key] {
			seen[key] = true
			out = append(out, *c.apart(x.withoutLibrary()))
		}
	}
	slices.SortFunc(out, func(x, y Source) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.key(), y.key()))
	})
	return out[:min(len(out), maxCallers)]
}

// key is equal for stacks that are one outside of library code.
func (s *Source) key() string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, n := range s.Own {
		fmt.Fprintf(&b, "%q %d\n", s.Stack[n].File, s.Stack[n].Line)
	}
	return b.String()
}

// withoutLibrary is a stack without its library code, at its innermost line.
func (s *Source) withoutLibrary() *Source {
	out := &Source{File: s.File, Line: s.Line, Function: s.Function, Wrapper: s.Wrapper}
	for n, own := range s.Own {
		out.Stack = append(out.Stack, s.Stack[own])
		out.Own = append(out.Own, n)
	}
	return out
}

// innermost is a source at its innermost line outside of library code.
func (s *Source) innermost() *Source {
	if s == nil || s.Wrapper == nil || len(s.Own) == 0 {
		return s
	}
	out := *s
	f := s.Stack[s.Own[0]]
	out.File, out.Line, out.Function, out.Wrapper = f.File, f.Line, f.Function, nil
	return &out
}
