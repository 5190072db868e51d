package hlo

import (
	"cmp"
	"slices"
)

// fields are those of the message at a span of wire.
func (m *Module) fields(s span) fields {
	m.in.fail = failure{}
	return fields{&m.in, int(s.start), int(s.end)}
}

// Bytes is how many bytes of the module were read: without literals that were left in
// the file.
func (m *Module) Bytes() int { return len(m.in.data) }

// ValueAt returns the index of the value that instr defines at a shape index. A
// position without a value of its own forwards another's.
func (m *Module) ValueAt(instr int32, index ShapeIndex) (int32, bool) {
	in := &m.Instructions[instr]
	values := m.Values[in.FirstValue:in.EndValue]
	if len(index) == 0 { // sorts first
		return in.FirstValue, len(values) > 0 && len(values[0].Index) == 0
	}
	i, ok := slices.BinarySearchFunc(values, index, func(v Value, index ShapeIndex) int {
		return slices.Compare(v.Index, index)
	})
	return in.FirstValue + int32(i), ok
}

// hole is a literal that was left in the file: wire has an empty one in its place.
type hole struct {
	at     int32 // where the empty literal stands in wire
	offset int64 // of the literal in the file, in bytes
	size   int64 // in bytes
}

// Literal returns a constant's LiteralProto, undecoded. It reports false where instr
// is no constant, where its literal was elided, and where a huge one was left in an
// archive. The bytes must not be changed; they may be the module's.
func (m *Module) Literal(instr int32) ([]byte, bool) {
	s := m.Instructions[instr].literal
	if i, ok := slices.BinarySearchFunc(m.holes, s.start, func(h hole, at int32) int { return cmp.Compare(h.at, at) }); ok {
		return m.holes[i].read(m.file)
	}
	return m.in.data[s.start:s.end:s.end], s.len() > 0
}

// read reads the literal again from the file.
func (h hole) read(path string) ([]byte, bool) {
	if path == "" {
		return nil, false
	}
	f, size, err := openRegular(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if h.size > size-h.offset {
		return nil, false // it shrank
	}
	literal := make([]byte, h.size)
	_, err = f.ReadAt(literal, h.offset)
	return literal, err == nil
}
