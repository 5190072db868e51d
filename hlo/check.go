package hlo

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// check proves what the types cannot: after it, an index, a count or a size in the
// model needs no test. It says what the file claims that cannot be.
func (b *builder) check() error {
	if err := b.checkCalls(); err != nil {
		return err
	}
	b.m.leafLists = b.m.leafLists[:0]
	if err := b.findRunning(); err != nil {
		return err
	}
	clear(b.shapes[:])
	for i := range b.m.Instructions {
		if err := b.checkShape(int32(i)); err != nil {
			return err
		}
		if err := b.checkOperands(int32(i)); err != nil {
			return err
		}
		if err := b.checkValues(int32(i)); err != nil {
			return err
		}
	}
	return nil
}

// checkCalls holds the call graph to XLA's order, callees before callers, so that it
// has no cycles, and to a depth.
func (b *builder) checkCalls() error {
	m := &b.m
	b.counts = resize(b.counts, len(m.Computations)) // depth of calls below each
	clear(b.counts)
	for k := range m.Computations {
		for i := m.Computations[k].First; i < m.Computations[k].End; i++ {
			for _, callee := range m.Instructions[i].Called {
				if int(callee) >= k {
					return b.errorf(b.insts[i].at, "computation %q calls %q, which does not stand before it",
						m.Computations[k].Name, m.Computations[callee].Name)
				}
				depth := b.counts[callee] + 1
				if int(depth) > b.limits.Depth {
					return b.errorf(b.insts[i].at, "calls nest deeper than %d", b.limits.Depth)
				}
				b.counts[k] = max(b.counts[k], depth)
			}
		}
	}
	return nil
}

// checkShape walks an instruction's shape.
func (b *builder) checkShape(i int32) error {
	in, raw := &b.m.Instructions[i], &b.insts[i]
	encoded := b.wire[in.shape.start:in.shape.end]
	known := &b.shapes[maphash.Bytes(b.seed, encoded)%uint64(len(b.shapes))]
	if known.at.len() == 0 || !bytes.Equal(encoded, b.wire[known.at.start:known.at.end]) {
		var s shapeCheck
		s.walk(b.m.fields(in.shape), 0)
		if f := b.m.in.fail; f.what != "" {
			return b.errorf(int32(f.at), "shape of %q: %s", in.Name, f.what)
		}
		*known = knownShape{in.shape, s, int32(len(b.m.leafLists))}
		b.m.leafLists = append(b.m.leafLists, leafList{})
	}
	in.leaves = known.leaves
	raw.positions, raw.arity = known.positions, known.arity
	if b.left -= int64(raw.positions) * leafBytes; b.left < 0 {
		return b.errorf(raw.at, "module takes more memory than the limit of %d bytes", b.limits.ModelBytes)
	}
	return nil
}

// knownShape is a shape that was walked before: modules have many instructions and few
// shapes.
type knownShape struct {
	at span // of wire, never empty
	shapeCheck
	leaves int32 // index into Module.leafLists
}

// checkOperands holds instructions to the operands that their opcodes have, and those
// through which values are followed to the computations as well.
func (b *builder) checkOperands(i int32) error {
	in := &b.m.Instructions[i]
	operands, called := len(in.Operands), len(in.Called)
	if takes := int(b.insts[i].takes); takes != anyNumber && takes != operands {
		return b.errorf(b.insts[i].at, "%s %q has %d operands, not %d", in.Opcode, in.Name, operands, takes)
	}
	ok := true
	if b.insts[i].layouts != 0 && b.insts[i].layouts != int32(operands) {
		return b.errorf(b.insts[i].at, "%q has %d operands, and layouts for %d", in.Name, operands, b.insts[i].layouts)
	}
	switch b.insts[i].opcode {
	case opOther:
		return nil
	case opCustomCall:
		if in.Custom.Target == "" {
			return b.errorf(b.insts[i].at, "custom call %q has no target", in.Name)
		}
	case opUnknown:
		return b.errorf(b.insts[i].at, "%q has the opcode %q, which XLA does not have", in.Name, in.Opcode)
	case opTupleElement:
		ok = operands == 1 && in.TupleIndex >= 0 && in.TupleIndex < b.insts[in.Operands[0]].arity
	case opTuple:
		ok = operands == int(b.insts[i].arity)
	case opForward, opCopy:
		ok = operands == 1
	case opWhile:
		ok = operands == 1 && called == 2 && b.takes(in.Called[0], 1) && b.takes(in.Called[1], 1)
	case opConditional:
		ok = called >= 1 && operands == called+1
		for _, branch := range in.Called {
			ok = ok && b.takes(branch, 1)
		}
	case opCall, opFusion, opAsyncStart:
		ok = called == 1 && b.takes(in.Called[0], operands)
	}
	if !ok {
		return b.errorf(b.insts[i].at, "%s %q has %d operands and %d computations that do not fit it",
			in.Opcode, in.Name, operands, called)
	}
	return nil
}

// takes reports whether a computation takes n operands; one that is not decoded may.
func (b *builder) takes(comp int32, n int) bool {
	c := &b.m.Computations[comp]
	return !c.Decoded || len(c.Parameters) == n
}

// checkValues holds what an instruction defines to its shape.
func (b *builder) checkValues(i int32) error {
	m := &b.m
	in := &m.Instructions[i]
	if n := in.EndValue - in.FirstValue; n < b.insts[i].positions && b.running[in.Computation] && b.defines(i) {
		return b.errorf(b.insts[i].at, "%s %q has no buffer for %d of its %d results: the buffer assignment is not whole",
			in.Opcode, in.Name, b.insts[i].positions-n, b.insts[i].positions)
	}
	for k := in.FirstValue; k < in.EndValue; k++ {
		v := &m.Values[k]
		switch n := len(v.Index); {
		case n == 0:
			continue
		case n == 1 && v.Index[0] >= 0 && v.Index[0] < int64(b.insts[i].arity):
			continue
		case !m.hasPosition(m.fields(in.shape), v.Index):
			return b.errorf(b.insts[i].at, "value %d is defined at %v, which is not in the shape of %q", v.ID, v.Index, in.Name)
		}
	}
	return b.checkSizes(i)
}

// checkSizes holds the values of an instruction to the sizes of its arrays. XLA gives a
// value exactly what its array takes (3,592 of 3,592 values of the dumps here); elements of
// less than a byte take what the layout says. Text repeats the shape beside the size.
func (b *builder) checkSizes(i int32) error {
	m := &b.m
	in := &m.Instructions[i]
	if in.FirstValue == in.EndValue || b.fromText {
		return nil
	}
	leaves := m.Leaves(i)
	n := 0
	for k := in.FirstValue; k < in.EndValue; k++ {
		v := &m.Values[k]
		for n < len(leaves) && slices.Compare(leaves[n].Index, v.Index) < 0 {
			n++
		}
		if n == len(leaves) || !slices.Equal(leaves[n].Index, v.Index) {
			continue // a tuple's table
		}
		l := &leaves[n]
		if l.Bytes == v.Size || l.Bytes == 0 || l.Element.Bits() < 8 {
			continue
		}
		if l.Bytes > v.Size || !m.padded(m.fields(in.shape)) {
			return b.errorf(b.insts[i].at, "value %d of %q has %d bytes, and its array %d", v.ID, in.Name, v.Size, l.Bytes)
		}
	}
	return nil
}

// padded reports whether some array of a shape may take more than its elements do: a
// dynamic dimension has its size behind them, and tiles fill up.
func (m *Module) padded(fs fields) bool {
	s := shape{count: 1}
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 6<<3 | wireVarint: // is_dynamic_dimension
			if f.number != 0 {
				return true
			}
		case 6<<3 | wireBytes:
			if slices.ContainsFunc(fs.ints(nil, f), func(n int64) bool { return n != 0 }) {
				return true
			}
		case 5<<3 | wireBytes: // layout
			layout := fs.message(f)
			for x := layout.first(); x.tag != 0; x = layout.after(x) {
				if x.tag == 6<<3|wireBytes { // tiles
					return true
				}
			}
		}
		if s.read(fs, f) && m.padded(fs.message(f)) {
			return true
		}
	}
	return false
}

// hasPosition reports whether a shape has something at index.
func (m *Module) hasPosition(fs fields, index ShapeIndex) bool {
	for _, want := range index {
		s := shape{count: 1}
		n, found := int64(0), false
		var element fields
		for f := fs.first(); f.tag != 0 && !found; f = fs.after(f) {
			if s.read(fs, f) && s.element == TupleType {
				element, found = fs.message(f), n == want
				n++
			}
		}
		if !found {
			return false
		}
		fs = element
	}
	return true
}

// findRunning marks the computations that run as written, one instruction after the
// other with a buffer for each: the entry, and what such ones call for control flow.
// Where one of them has a schedule, so have all.
func (b *builder) findRunning() error {
	m := &b.m
	b.running = resize(b.running, len(m.Computations))
	clear(b.running)
	b.running[m.Entry] = m.Computations[m.Entry].Schedule != nil
	if !b.running[m.Entry] && len(b.schedules) > 0 {
		return b.errorf(b.comps[m.Entry].at, "the entry computation %q has no schedule, and another has one", m.Computations[m.Entry].Name)
	}
	for i := len(m.Computations) - 1; i >= 0; i-- { // callers stand behind
		comp := &m.Computations[i]
		if !b.running[i] {
			continue
		}
		for k := comp.First; k < comp.End; k++ {
			switch b.insts[k].opcode {
			case opWhile, opConditional, opCall:
				for _, callee := range m.Instructions[k].Called {
					c := &m.Computations[callee]
					if c.Schedule == nil && c.Decoded {
						return b.errorf(b.comps[callee].at, "computation %q has no schedule, and %q, which runs it, has one", c.Name, comp.Name)
					}
					b.running[callee] = c.Schedule != nil
				}
			}
		}
	}
	return nil
}

// defines reports whether an instruction surely has values of its own for all that it
// results in. Others forward or may share their operands'.
func (b *builder) defines(i int32) bool {
	in := &b.m.Instructions[i]
	switch b.insts[i].opcode {
	case opCustomCall:
		return len(in.Custom.Declared) == 0
	case opFusion:
		return !b.insts[i].declares
	case opCopy, opConstant:
		return true
	case opParameter:
		return in.Computation == b.m.Entry && b.insts[i].arity < 0
	}
	return false
}
