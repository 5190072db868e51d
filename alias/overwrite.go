package alias

import "aliascheck/hlo"

// Overwrite is a value that a call's result is written over while it is needed.
type Overwrite struct {
	Result int32  // into Call.Results
	Value  int32  // into Module.Values
	Reader int32  // the instruction that reads the value afterwards, -1: see Why
	Why    string // why the value is still needed
}

// Overwrites returns the values that c overwrites before their last reader, or
// why that could not be checked. Valid until the next call.
//
// Result r overwrites value v if their slices share bytes, v is not r, v is
// defined before the call and needed after it. Order is the schedule within each
// computation from the call's own up to the entry.
func (a *Analyzer) Overwrites(c *Call) ([]Overwrite, string) {
	l := &a.lives
	l.out = l.out[:0]
	if reason := l.checkable(c); reason != "" {
		return nil, reason
	}
	for n := range c.Results {
		if r := &c.Results[n]; r.Allocation >= 0 && r.Slice.Size > 0 {
			l.overwrites(c, int32(n), r)
		}
	}
	return l.out, ""
}

// checkable says why the order of things around a call is not known.
func (l *lifetimes) checkable(c *Call) string {
	at := c.Site
	for range len(l.m.Computations) + 1 {
		k := l.m.Instructions[at].Computation
		comp := &l.m.Computations[k]
		switch {
		case comp.Schedule == nil:
			return "computation " + comp.Name + " has no schedule"
		case k == l.m.Entry:
			return ""
		case len(comp.Callers) == 0:
			return "nothing calls computation " + comp.Name
		case len(comp.Callers) > 1:
			return "computation " + comp.Name + " is called from several places"
		}
		at = comp.Callers[0]
	}
	return "its computations call each other in a circle"
}

func (l *lifetimes) overwrites(c *Call, n int32, r *Leaf) {
	alloc := &l.m.Allocations[r.Allocation]
	if alloc.ThreadLocal || len(alloc.Values) == 1 && alloc.Values[0] == r.Value {
		return
	}
	inEntry := l.m.Instructions[c.Site].Computation == l.m.Entry
	spans := l.spansFrom(r.Allocation, r.Slice.Offset)
	for i := range spans {
		x := &spans[i]
		if x.offset >= r.Slice.Offset+r.Slice.Size {
			break
		}
		if x.value == r.Value || x.end <= r.Slice.Offset || inEntry && (x.from >= c.End || x.to <= c.Start) {
			continue
		}
		if reader, why := l.neededAfter(c.Site, c.Start, c.End, x.value); why != "" && l.isArray(x.value) {
			l.out = append(l.out, Overwrite{Result: n, Value: x.value, Reader: reader, Why: why})
		}
	}
}

// neededAfter says why value v, which exists before instruction at, is needed after it;
// at occupies the positions start to end of its schedule.
func (l *lifetimes) neededAfter(at, start, end, v int32) (reader int32, why string) {
	l.build()
	if why := l.forEver(v); why != "" {
		return -1, why
	}
	for {
		comp := l.m.Instructions[at].Computation
		if l.definedAt(v, comp) < end {
			if u, read := l.readAfter(v, comp, start, at); read {
				if u.pos == atEnd {
					return u.reader, "it is part of what its computation returns"
				}
				return u.reader, "a later instruction reads it"
			}
		}
		if comp == l.m.Entry {
			return -1, ""
		}
		at = l.m.Computations[comp].Callers[0]
		start, end = interval(l.m, at)
		if u, ok := l.readInLoop(v, at); ok {
			return u.reader, "the loop around the call reads it again"
		}
	}
}

// forEver says why v is needed until the program ends, whoever reads it.
func (l *lifetimes) forEver(v int32) string {
	value := &l.m.Values[v]
	in := &l.m.Instructions[value.Instruction]
	switch l.kinds[value.Instruction] {
	case isConstant:
		return "it is a constant"
	case isParameter:
		if in.Computation == l.m.Entry && !l.m.Allocations[value.Allocation].ParameterAliased && !IsDonated(l.m, int64(in.Parameter), value.Index) {
			return "it is a parameter that the caller keeps"
		}
	}
	return ""
}

// IsDonated reports whether the caller gave an entry parameter's leaf away.
func IsDonated(m *hlo.Module, parameter int64, index hlo.ShapeIndex) bool {
	for _, d := range m.Donated {
		if d.Parameter == parameter && equal(d.Index, index) {
			return true
		}
	}
	return false
}

// definedAt returns the position in comp at which v comes into being: its caller's
// where a called computation defines it, -1 where it comes from outside, as it does
// if comp reads it at all.
func (l *lifetimes) definedAt(v, comp int32) int32 {
	in := &l.m.Instructions[l.m.Values[v].Instruction]
	if in.Computation == comp {
		if in.Opcode == "parameter" || in.Opcode == "constant" {
			return -1
		}
		return in.Position
	}
	if x, ok := l.callerIn(in.Computation, comp); ok {
		_, end := interval(l.m, x)
		return end
	}
	return -1
}

// callerIn returns the instruction of computation outer through which inner runs.
func (l *lifetimes) callerIn(inner, outer int32) (int32, bool) {
	for range len(l.m.Computations) {
		callers := l.m.Computations[inner].Callers
		if len(callers) == 0 {
			return -1, false
		}
		if inner = l.m.Instructions[callers[0]].Computation; inner == outer {
			return callers[0], true
		}
	}
	return -1, false
}

// readInLoop finds a read, inside the loop at, of a value from outside of it.
func (l *lifetimes) readInLoop(v, at int32) (use, bool) {
	loop := &l.m.Instructions[at]
	if loop.Opcode != "while" || l.inside(l.m.Instructions[l.m.Values[v].Instruction].Computation, at) {
		return use{}, false
	}
	if l.m.Values[v].Instruction == at {
		return use{}, false // the loop's own result: defined on exit
	}
	for h := l.head[v]; h >= 0; h = l.uses[h].next {
		if l.inside(l.uses[h].comp, at) {
			return l.uses[h], true
		}
	}
	return use{}, false
}

// inside reports whether computation comp runs inside instruction at.
func (l *lifetimes) inside(comp, at int32) bool {
	x, ok := l.callerIn(comp, l.m.Instructions[at].Computation)
	return ok && x == at
}

// isArray reports whether v is an array, not a tuple's table of pointers.
func (l *lifetimes) isArray(v int32) bool {
	value := &l.m.Values[v]
	for _, leaf := range l.m.Leaves(value.Instruction) {
		if equal(leaf.Index, value.Index) {
			return true
		}
	}
	return false
}

// DeadAfter reports whether nothing needs value v once c has run, so that its
// memory could be given to a result. Where the order is not known, reason says why.
func (a *Analyzer) DeadAfter(c *Call, v int32) (dead bool, reason string) {
	l := &a.lives
	if reason := l.checkable(c); reason != "" {
		return false, reason
	}
	if l.m.Values[v].Allocation < 0 {
		return false, "its value has no allocation"
	}
	_, why := l.neededAfter(c.Site, c.Start, c.End, v)
	return why == "", ""
}

// IsRead reports whether any instruction reads value v.
func (a *Analyzer) IsRead(v int32) bool {
	l := &a.lives
	l.build()
	for h := l.head[v]; h >= 0; h = l.uses[h].next {
		if l.uses[h].pos != atEnd {
			return true
		}
	}
	return false
}
