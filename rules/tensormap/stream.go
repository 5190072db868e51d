package tensormap

import "strings"

const (
	// idleLines is how many lines a print may be interrupted by others before it
	// counts as cut short.
	idleLines = 200
	// nearLines is how far an error message may stand from its print.
	nearLines = 30
)

// stream is one process as far as it can be told apart: the lines of one prefix.
//
// A process prints its parameters in one order, each once. So prints that mingle
// repeat a parameter before the first is whole, or leave parameters over after a
// print that was whole. From then on nothing is trusted until the stream has been
// quiet for a while, because the lines that a cut print still owes may turn up in any
// later one. What all the entangled lines agree on holds for every print among them.
type stream struct {
	name   string
	last   int64 // last line that was of interest
	open   [dialects]*block
	held   [dialects]*block // whole, waiting for its error message and for left-overs
	pend   *message         // an error message that waits for its print
	tangle *tangle          // entangled lines, gathered
	// prior is the first whole print of the stream. It waits for the next: where the
	// log begins in the middle of another print, that one's end may be in it.
	prior *block
	past  bool // prior has been settled
}

// message is an error message.
type message struct {
	line    int64
	code    Code
	hasCode bool
	name    string
	clean   bool // a code or a name was read
}

// field takes in one parameter and gives what became certain by it.
func (s *stream) field(sp spelling, text string, line int64, emit func(Entry)) {
	s.expire(line, emit)
	if sp.weak && everyday(sp, text) {
		return
	}
	s.last = line
	d := sp.dialect
	if sp.field == FieldTensorMap && s.open[tvm] != nil && s.open[tvm].seen == FieldDataType {
		d = tvm // the one line that two dialects share
	}
	b := s.open[d]
	stale := b != nil && d.order(sp.field) <= b.order
	if b != nil && !b.strong && (stale || line-b.last > nearLines) {
		b, stale = nil, false // everyday words after all
	}
	tainted := s.tangle != nil
	if stale {
		// Only a print whose beginning the log lacks leaves no lines over for later.
		tainted = tainted || b.tainted || !b.suffix()
		b.tainted = tainted
		s.finish(d, emit)
		b = nil
	}
	if b == nil {
		b = &block{dialect: d, first: line, lead: sp.field, tainted: tainted, strong: tainted}
		s.open[d] = b
	}
	b.add(sp, text, line)
	if b.strong && !b.promoted {
		b.promoted = true
		s.promote(b, emit)
	}
	if b.complete() {
		s.open[d] = nil
		s.held[d] = b
	}
}

// promote makes a print of what began as everyday words, or at once: it settles the
// print before it and takes the error message that stood there.
func (s *stream) promote(b *block, emit func(Entry)) {
	if h := s.held[b.dialect]; h != nil {
		if b.dialect.order(b.lead) > b.dialect.order(h.lead) { // left over from a print that began before h
			h.tainted, b.tainted = true, true
		}
		s.settle(b.dialect, emit)
	}
	if s.pend != nil && b.last-s.pend.line <= nearLines {
		b.take(s.pend)
		s.pend = nil
	}
}

// everyday reports whether a weak word is no parameter at all, as in "format: json":
// what follows it has letters and is no value.
func everyday(sp spelling, text string) bool {
	var v values
	return v.set(sp, text) != nil && strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz")
}

// errorMessage takes in an error message: it belongs to the print that stands whole
// before it and has none, or else to the next.
func (s *stream) errorMessage(m message, emit func(Entry)) {
	s.expire(m.line, emit)
	s.last = m.line
	for d := range s.held {
		b := s.held[d]
		if b == nil && s.open[d] != nil && s.open[d].ended() {
			b = s.open[d] // a print whose beginning is missing
		}
		if b != nil && !b.message && m.line-b.last <= nearLines {
			b.take(&m)
			return
		}
	}
	if s.tangle != nil {
		s.tangle.message(&m)
		return
	}
	for _, b := range s.open {
		if b != nil && b.strong {
			b.tainted = true // a message in the middle of a print is another's
		}
	}
	s.bare(emit)
	s.pend = &m
}

// quiet reports whether no print is being read.
func (s *stream) quiet() bool {
	for _, b := range s.open {
		if b != nil && b.strong {
			return false
		}
	}
	return s.tangle == nil
}

// garbled notes a line in which the beginning of a print stands amid other text:
// characters of several processes are mixed, and no print near it is trusted.
func (s *stream) garbled(line int64) {
	for d := range s.open {
		for _, b := range []*block{s.open[d], s.held[d]} {
			if b != nil && b.strong && line-b.last <= nearLines {
				b.tainted = true
			}
		}
	}
}

// bare gives up waiting for the print of an error message.
func (s *stream) bare(emit func(Entry)) {
	if m := s.pend; m != nil && m.clean {
		emit(Entry{Kind: Bare, Stream: s.name, First: m.line, Last: m.line, HasCode: m.hasCode, Code: m.code, Name: m.name})
	}
	s.pend = nil
}

// finish closes an open print that is not whole.
func (s *stream) finish(d dialect, emit func(Entry)) {
	b := s.open[d]
	s.open[d] = nil
	if b == nil || !b.strong {
		return
	}
	s.out(b, emit)
}

// settle gives out a print that was held.
func (s *stream) settle(d dialect, emit func(Entry)) {
	if b := s.held[d]; b != nil {
		s.held[d] = nil
		s.out(b, emit)
	}
}

// out gives out a block, or gathers it with the entangled lines around it.
func (s *stream) out(b *block, emit func(Entry)) {
	if b.tainted || s.tangle != nil {
		if s.tangle == nil {
			s.tangle = &tangle{first: b.first}
		}
		if s.prior != nil {
			s.tangle.add(s.prior)
			s.prior, s.past = nil, true
		}
		s.tangle.add(b)
		return
	}
	if !s.past && s.prior == nil {
		s.prior = b
		return
	}
	s.settlePrior(emit)
	emit(b.entry(s.name))
}

func (s *stream) settlePrior(emit func(Entry)) {
	if s.prior != nil {
		emit(s.prior.entry(s.name))
		s.prior, s.past = nil, true
	}
}

// untangle gives out the entangled lines gathered so far.
func (s *stream) untangle(emit func(Entry)) {
	if s.tangle != nil {
		emit(s.tangle.entry(s.name))
		s.tangle = nil
	}
}

// expire settles what has waited too long.
func (s *stream) expire(line int64, emit func(Entry)) {
	if line-s.last <= idleLines {
		if s.pend != nil && line-s.pend.line > nearLines {
			s.bare(emit)
		}
		return
	}
	s.flush(emit)
}

// flush settles everything.
func (s *stream) flush(emit func(Entry)) {
	for d := range s.open {
		s.settle(dialect(d), emit)
		s.finish(dialect(d), emit)
	}
	s.settlePrior(emit)
	s.untangle(emit)
	s.bare(emit)
}
