package hlo

// Leaves appends the arrays of an instruction's shape to dst, in the order in which
// XLA flattens tuples: tokens and opaques count as leaves, tuples do not.
func (m *Module) Leaves(dst []Leaf, instr int32) []Leaf {
	return dst
}

// ValueAt returns the index of the value that instr defines at a shape index. A
// position without a value of its own forwards another's.
func (m *Module) ValueAt(instr int32, index ShapeIndex) (int32, bool) {
	return 0, false
}

// Literal returns a constant's LiteralProto, undecoded. It reports false where instr
// is no constant, where its literal was elided, and where a huge one was skipped and
// cannot be read again (archives). The bytes belong to the caller only if they were
// skipped; copy to keep.
func (m *Module) Literal(instr int32) ([]byte, bool) { return nil, false }
