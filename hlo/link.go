package hlo

import "slices"

// link turns ids into indices: afterwards every index of the model is in range, and
// every list that it names is there. What is wrong beyond that is check's to say.
func (b *builder) link() error {
	b.refs = resize(b.refs, len(b.ids))
	steps := [...]func() error{
		b.linkComputations, b.linkParameters, b.linkInstructions, b.linkSchedules, b.linkCustoms,
		b.linkValues, b.linkAllocations, b.linkDonated,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// linkComputations enters all ids, and finds the entry and the roots.
func (b *builder) linkComputations() error {
	m := &b.m
	for i := range m.Computations {
		if b.compIDs.index(m.Computations[i].ID) != int32(i) {
			return b.errorf(b.comps[i].at, "computation id %d stands twice", m.Computations[i].ID)
		}
	}
	b.instIDs.reset(len(m.Instructions))
	for i := range m.Instructions {
		if !b.instIDs.add(m.Instructions[i].ID, int32(i)) {
			return b.errorf(b.insts[i].at, "instruction id %d stands twice", m.Instructions[i].ID)
		}
	}
	if m.Entry = b.compIDs.index(b.entryID); m.Entry < 0 {
		return b.errorf(0, "entry computation id %d is no computation's", b.entryID)
	}
	if b.entryName != "" && b.entryName != m.Computations[m.Entry].Name {
		return b.errorf(b.comps[m.Entry].at, "the entry computation is %q by its id, and %q by its name", m.Computations[m.Entry].Name, b.entryName)
	}
	if m.Computations[m.Entry].Fusion {
		return b.errorf(b.comps[m.Entry].at, "the entry computation is a fusion")
	}
	for i := range m.Computations {
		comp := &m.Computations[i]
		if !comp.Decoded {
			continue
		}
		comp.Root = b.instIDs.index(b.comps[i].rootID)
		if comp.Root < comp.First || comp.Root >= comp.End {
			return b.errorf(b.comps[i].at, "root id %d is no instruction of computation %q", b.comps[i].rootID, comp.Name)
		}
	}
	return nil
}

// linkParameters lists each computation's parameters by number: 0 to n-1, once each.
func (b *builder) linkParameters() error {
	m := &b.m
	b.params = resize(b.params, len(m.Instructions))
	for i := range m.Instructions {
		b.params[i] = -1
	}
	for i := range m.Computations {
		comp := &m.Computations[i]
		n := int32(0)
		for k := comp.First; k < comp.End; k++ {
			if b.insts[k].opcode == opParameter {
				n++
			}
		}
		comp.Parameters = b.params[comp.First : comp.First+n : comp.First+n]
		for k := comp.First; k < comp.End; k++ {
			if b.insts[k].opcode != opParameter {
				continue
			}
			in := &m.Instructions[k]
			if in.Parameter < 0 || in.Parameter >= n || comp.Parameters[in.Parameter] >= 0 {
				return b.errorf(b.insts[k].at, "parameter number %d of %q stands twice or is not below %d", in.Parameter, comp.Name, n)
			}
			comp.Parameters[in.Parameter] = k
		}
	}
	return nil
}

// linkInstructions links operands, control predecessors and called computations.
func (b *builder) linkInstructions() error {
	m := &b.m
	for i := range m.Instructions {
		in, raw := &m.Instructions[i], &b.insts[i]
		comp := &m.Computations[in.Computation]
		if err := b.linkOperands(raw.operands, comp, int32(i)); err != nil {
			return err
		}
		if err := b.linkOperands(raw.control, comp, int32(i)); err != nil {
			return err
		}
		for k := raw.called.start; k < raw.called.end; k++ {
			callee := b.compIDs.index(b.ids[k])
			if callee < 0 {
				return b.errorf(raw.at, "called computation id %d is no computation's", b.ids[k])
			}
			if raw.opcode == opFusion {
				m.Computations[callee].Fusion = true // older XLA does not say so itself
			}
			b.refs[k] = callee
		}
		in.Operands, in.Control, in.Called = b.list(raw.operands), b.list(raw.control), b.list(raw.called)
	}
	b.linkCallers()
	return nil
}

// linkOperands turns instruction ids into indices. An operand stands in its user's
// computation and, as XLA writes computations in dependency order, before it: there
// are no cycles.
func (b *builder) linkOperands(ids span, comp *Computation, user int32) error {
	for k := ids.start; k < ids.end; k++ {
		operand := b.instIDs.index(b.ids[k])
		if operand < comp.First || operand >= user {
			return b.errorf(b.insts[user].at, "operand id %d is no instruction before its user %q in computation %q",
				b.ids[k], b.m.Instructions[user].Name, comp.Name)
		}
		b.refs[k] = operand
	}
	return nil
}

// linkCallers turns the lists of called computations round.
func (b *builder) linkCallers() {
	m := &b.m
	calls := 0
	b.counts = resize(b.counts, len(m.Computations))
	clear(b.counts)
	for i := range m.Instructions {
		for _, callee := range m.Instructions[i].Called {
			b.counts[callee]++
			calls++
		}
	}
	b.callers = resize(b.callers, calls)
	rest := b.callers
	for i := range m.Computations {
		n := b.counts[i]
		m.Computations[i].Callers, rest = rest[:0:n], rest[n:]
	}
	for i := range m.Instructions {
		for _, callee := range m.Instructions[i].Called {
			comp := &m.Computations[callee]
			comp.Callers = append(comp.Callers, int32(i))
		}
	}
}

// linkSchedules gives every instruction of a scheduled computation its place.
func (b *builder) linkSchedules() error {
	m := &b.m
	for _, raw := range b.schedules {
		i := b.compIDs.index(raw.computation)
		if i < 0 {
			return b.errorf(raw.at, "schedule of computation id %d, which is no computation's", raw.computation)
		}
		comp := &m.Computations[i]
		if !comp.Decoded {
			continue
		}
		if comp.Schedule != nil {
			return b.errorf(raw.at, "computation %q has two schedules", comp.Name)
		}
		if raw.instructions.len() != comp.End-comp.First {
			return b.errorf(raw.at, "schedule of computation %q has %d instructions of %d",
				comp.Name, raw.instructions.len(), comp.End-comp.First)
		}
		for k := raw.instructions.start; k < raw.instructions.end; k++ {
			in := b.instIDs.index(b.ids[k])
			if in < comp.First || in >= comp.End || m.Instructions[in].Position >= 0 {
				return b.errorf(raw.at, "schedule of computation %q: instruction id %d is none of its, or stands twice",
					comp.Name, b.ids[k])
			}
			m.Instructions[in].Position = k - raw.instructions.start
			b.refs[k] = in
		}
		comp.Schedule = b.list(raw.instructions)
	}
	return nil
}

// linkCustoms hands custom calls and their declared pairs to the instructions. An
// async-start takes from the custom call it wraps what it does not have itself.
func (b *builder) linkCustoms() error {
	m := &b.m
	for i := 0; i < len(b.pairs); {
		first, call := i, b.rawPairs[i].call
		for ; i < len(b.pairs) && b.rawPairs[i].call == call; i++ {
			b.pairs[i].Result = b.index(b.rawPairs[i].result)
			b.pairs[i].OperandIndex = b.index(b.rawPairs[i].operandIndex)
		}
		b.customs[call].Declared = b.pairs[first:i:i]
	}
	for i := range m.Instructions {
		raw := &b.insts[i]
		if raw.custom < 0 {
			continue
		}
		call := &b.customs[raw.custom]
		if raw.opcode == opAsyncStart {
			inner := b.wrapped(int32(i))
			if inner == nil {
				continue
			}
			declared := call.Declared
			if len(declared) == 0 {
				declared = inner.Declared
			}
			*call = *inner
			call.Declared = declared
		}
		m.Instructions[i].Custom = call
	}
	return nil
}

// lostCaller reports whether a computation was decoded for a custom call in it, but not
// the one that calls it: a fusion inside a fusion, say.
func (b *builder) lostCaller() bool {
	for i := range b.comps {
		if b.comps[i].custom && int32(i) != b.m.Entry && len(b.m.Computations[i].Callers) == 0 {
			return true
		}
	}
	return false
}

// wrapped is the custom call that an async-start's computation is there for: its root.
func (b *builder) wrapped(start int32) *CustomCall {
	called := b.m.Instructions[start].Called
	if len(called) != 1 {
		return nil
	}
	root := b.m.Computations[called[0]].Root
	if root < 0 || b.insts[root].opcode != opCustomCall {
		return nil
	}
	return &b.customs[b.insts[root].custom]
}

// list is a span of refs; nil where empty.
func (b *builder) list(s span) []int32 {
	if s.len() == 0 {
		return nil
	}
	return b.refs[s.start:s.end:s.end]
}

// index is a span of ids as a shape index, never nil.
func (b *builder) index(s span) ShapeIndex {
	if s.len() == 0 {
		return ShapeIndex{}
	}
	return b.ids[s.start:s.end:s.end]
}

// extend appends a zero to a list, to be filled in where it stands. The list doubles where
// it is full: what append adds to a long list is a quarter, and each of its copies is
// memory touched for the first time.
func extend[T any](s *[]T) *T {
	n := len(*s)
	if n == cap(*s) {
		*s = slices.Grow(*s, n+1)
	}
	*s = (*s)[:n+1]
	x := &(*s)[n]
	var zero T
	*x = zero
	return x
}

// resize returns a slice of n elements, in the memory of s where it fits. The contents
// are not cleared. Callers take n from what was read, never from a number in the file.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
