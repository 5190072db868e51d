package alias

import (
	"math"

	"aliascheck/hlo"
)

// use is the last read of a value in one computation.
type use struct {
	comp   int32
	pos    int32 // schedule position; atEnd for the computation's root
	reader int32 // instruction; the root itself for atEnd
	next   int32 // the same value's use in another computation, -1 at the end
}

// atEnd is later than every position of a computation.
const atEnd = math.MaxInt32

// lifetimes knows where every value of a module is last read, computation by
// computation. It is built when the first call asks.
type lifetimes struct {
	m        *hlo.Module
	resolver *resolver
	built    bool
	spans    spans
	kinds    []kind  // by instruction
	head     []int32 // by value: its first use, -1 for none
	uses     []use
	out      []Overwrite
}

func (l *lifetimes) reset(m *hlo.Module, r *resolver) {
	l.m, l.resolver, l.built = m, r, false
	l.spans.reset(len(m.Allocations))
}

func (l *lifetimes) build() {
	if l.built {
		return
	}
	l.built = true
	l.kinds, l.head, l.uses = l.kinds[:0], l.head[:0], l.uses[:0]
	for i := range l.m.Instructions {
		l.kinds = append(l.kinds, kindOf(&l.m.Instructions[i]))
	}
	for range l.m.Values {
		l.head = append(l.head, -1)
	}
	for k := range l.m.Computations {
		comp := &l.m.Computations[k]
		if !comp.Decoded || comp.Fusion {
			continue
		}
		for i := comp.First; i < comp.End; i++ {
			l.reads(i, l.m.Instructions[i].Position)
		}
		if comp.Root >= 0 {
			l.read(comp.Root, comp.Root, atEnd)
		}
		if l.isCondition(int32(k)) {
			for _, p := range comp.Parameters {
				if p >= 0 {
					l.read(p, p, atEnd) // what goes round is needed behind the condition, too
				}
			}
		}
	}
}

// isCondition reports whether computation k is a loop's condition.
func (l *lifetimes) isCondition(k int32) bool {
	callers := l.m.Computations[k].Callers
	if len(callers) == 0 {
		return false
	}
	in := &l.m.Instructions[callers[0]]
	return in.Opcode == "while" && len(in.Called) > 1 && in.Called[1] == k
}

// useIn returns the last use of v in computation comp.
func (l *lifetimes) useIn(v, comp int32) (use, bool) {
	for h := l.head[v]; h >= 0; h = l.uses[h].next {
		if l.uses[h].comp == comp {
			return l.uses[h], true
		}
	}
	return use{}, false
}

// reads records what instruction i reads at position pos. Forwarding is not
// reading; the end of an asynchronous operation still reads its start's operands.
func (l *lifetimes) reads(i, pos int32) {
	in := &l.m.Instructions[i]
	reader := i
	switch l.kinds[i] {
	case isConstant, isParameter, isTuple, isBitcast, isForwarded:
		return
	case isEnd:
		if start := startOf(l.m, i); start >= 0 {
			reader = start // its own operands are in the tuple that the end is given
			for _, o := range l.m.Instructions[start].Operands {
				l.read(o, start, pos)
			}
		}
	}
	for _, o := range in.Operands {
		l.read(o, reader, pos)
	}
}

// read records that reader reads every array of operand o at position pos. What a tuple
// is made of is mostly known, and its shape need not be taken apart; but only its own
// elements: in a hostile file shapes do not tell what tuples hold tuples.
func (l *lifetimes) read(o, reader, pos int32) {
	if l.kinds[o] != isTuple {
		l.readArrays(o, reader, pos)
		return
	}
	for _, element := range l.m.Instructions[o].Operands {
		l.readArrays(element, reader, pos)
	}
}

// readArrays is read by the values of o where all that have any are its own, and by its
// shape where they may be others'.
func (l *lifetimes) readArrays(o, reader, pos int32) {
	u := use{comp: l.m.Instructions[reader].Computation, pos: pos, reader: reader}
	in := &l.m.Instructions[o]
	if l.kinds[o] == isBitcast && in.FirstValue == in.EndValue {
		o = in.Operands[0]
		in = &l.m.Instructions[o]
	}
	if l.owns(o) {
		first := in.FirstValue
		if in.EndValue > first+1 && len(l.m.Values[first].Index) == 0 {
			first++ // a tuple's table
		}
		for v := first; v < in.EndValue; v++ {
			l.note(v, u)
		}
		return
	}
	if v := l.resolver.known(o); v >= 0 {
		l.note(v, u)
		return
	}
	for _, leaf := range l.m.Leaves(o) {
		v, err := l.resolver.resolve(o, leaf.Index)
		if err != nil {
			continue // it has no buffer, or the calls that need it say that it is unresolved
		}
		l.note(v, u)
	}
}

// note keeps the later of two reads in one computation. Computations are visited
// one after another, so a value's newest use is the only one of the same computation.
func (l *lifetimes) note(v int32, u use) {
	if h := l.head[v]; h >= 0 && l.uses[h].comp == u.comp {
		if u.pos >= l.uses[h].pos {
			l.uses[h].pos, l.uses[h].reader = u.pos, u.reader
		}
		return
	}
	u.next = l.head[v]
	l.head[v] = int32(len(l.uses))
	l.uses = append(l.uses, u)
}

// readAfter returns a read of v in comp after position pos by another instruction
// than except.
func (l *lifetimes) readAfter(v, comp, pos, except int32) (use, bool) {
	for h := l.head[v]; h >= 0; h = l.uses[h].next {
		u := l.uses[h]
		if u.comp != comp {
			continue
		}
		if u.pos <= pos {
			return use{}, false
		}
		if u.reader == except && u.pos != atEnd {
			return l.otherReadAfter(v, comp, pos, except)
		}
		return u, true
	}
	return use{}, false
}

// otherReadAfter is readAfter where the last reader does not count: it looks at
// every instruction again, which only asynchronous calls need.
func (l *lifetimes) otherReadAfter(v, comp, pos, except int32) (use, bool) {
	c := &l.m.Computations[comp]
	for i := c.First; i < c.End; i++ {
		in := &l.m.Instructions[i]
		if i == except || in.Position <= pos || startOf(l.m, i) == except {
			continue
		}
		for _, o := range in.Operands {
			if w, err := l.resolver.resolve(o, nil); err == nil && w == v {
				return use{comp: comp, pos: in.Position, reader: i}, true
			}
		}
	}
	return use{}, false
}
