package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"aliascheck/hlo"
)

// proportion keeps what is reported of one module in proportion to the module: a few
// bytes of a hostile file can stand for a name that thousands of calls repeat, for a stack
// that thousands of findings have, or for the pairs of a thousand operands and results.
// What is left out is only what explains; a finding that is left out makes the audit
// incomplete.
type proportion struct {
	left  int            // bytes that names, pairs and stacks may still take
	maps  int            // values that memory maps may still take
	call  int            // number of the call that is being judged
	seen  map[string]int // findings that are listed: the last call that had each
	kinds map[findingKind]int
}

type findingKind struct {
	code     string
	severity Severity
}

const (
	roomBytes  = 256 << 10
	roomFactor = 2 // bytes of report for each of the module, beside what every call takes

	maxText        = 1 << 10 // bytes of a name
	crampedText    = 64      // of one where there is no room left
	crampedFile    = 256     // of a path there
	maxMessage     = 4 << 10
	crampedMessage = 512
	maxOfOneCode   = 1000 // different findings of one code and severity in one module
	pairBytes      = 200  // what a pair takes beside its reason
)

// begin makes room for a module.
func (r *proportion) begin(m *hlo.Module) {
	r.left, r.maps = roomBytes+roomFactor*m.Bytes(), maxMapValues
	clear(r.kinds)
	clear(r.seen)
}

// name is s, or its beginning where it is too long. It takes its room.
func (r *proportion) name(s string) string {
	limit := maxText
	if r.left -= len(s); r.left < 0 {
		limit = crampedText
	}
	return clip(s, limit)
}

// clip is s, or its beginning where it has more than limit bytes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.Clone(s[:limit]) + "…"
}

// takes reports whether there is room for a pair, and takes it.
func (r *proportion) takes(p *Pair) bool {
	r.left -= pairBytes + len(p.Reason)
	return r.left >= 0
}

// counts reports whether a finding is to be listed, beside all of its kind, and whether
// it is the call's first of its identity. Equal ones are one in the report, however many
// there are.
func (r *proportion) counts(f *Finding) (listed, first bool) {
	if r.seen == nil {
		r.seen, r.kinds = map[string]int{}, map[findingKind]int{}
	}
	id := f.Fingerprint + string(f.Severity)
	if last, known := r.seen[id]; known {
		r.seen[id] = r.call
		return true, last != r.call
	}
	kind := findingKind{f.Code, f.Severity}
	r.kinds[kind]++
	if r.kinds[kind] > maxOfOneCode {
		return false, false
	}
	r.seen[id] = r.call
	return true, true
}

// mapped takes the room of a finding's map.
func (r *proportion) mapped(m *MemoryMap) {
	if m == nil {
		return
	}
	for n := range m.Values {
		r.maps -= 1 + (len(m.Values[n].Name)+len(m.Values[n].Instruction))/128
	}
}

// tooMany says of which findings there were more than are listed.
func (r *proportion) tooMany(out *ModuleReport) {
	for kind, n := range r.kinds {
		if n > maxOfOneCode {
			out.Incomplete = append(out.Incomplete, Incomplete{Path: out.Path, Error: fmt.Sprintf(
				"more than %d findings of %s (%s) in one module: %d are not listed", maxOfOneCode, kind.code, kind.severity, n-maxOfOneCode)})
		}
	}
}

// bound clips what a finding repeats.
func (r *proportion) bound(f *Finding) {
	f.Target, f.Kernel, f.Computation = r.name(f.Target), r.name(f.Kernel), r.name(f.Computation)
	limit := maxMessage
	if r.left -= len(f.Message) + len(f.ConfirmationReason); r.left < 0 {
		limit = crampedMessage
	}
	f.Message, f.Fix, f.ConfirmationReason = clip(f.Message, limit), clip(f.Fix, limit), clip(f.ConfirmationReason, limit)
	for n := range f.Related {
		x := &f.Related[n]
		x.Instruction, x.File, x.Text = r.name(x.Instruction), r.name(x.File), r.name(x.Text)
	}
	for n := range f.Values {
		x := &f.Values[n]
		x.Name, x.Instruction, x.From, x.To = r.name(x.Name), r.name(x.Instruction), r.name(x.From), r.name(x.To)
		x.Source = r.source(x.Source)
	}
	f.Instruction, f.Source = r.name(f.Instruction), r.source(f.Source)
}

// source is where a finding is; without its stack where there is no room for that. It is
// shared with other findings, and never changed.
func (r *proportion) source(s *Source) *Source {
	if s == nil {
		return nil
	}
	for _, frame := range s.Stack {
		r.left -= len(frame.File) + len(frame.Function)
	}
	if r.left >= 0 {
		return s
	}
	return &Source{File: clip(s.File, crampedFile), Line: s.Line, Function: clip(s.Function, crampedText)}
}
