package hlo

import (
	"fmt"
	"slices"
)

// Layouts are the orders of the dimensions in memory of an instruction's leaves, minor
// to major, one a leaf as Leaves lists them: [1 0] is row-major of a matrix. A leaf
// without a layout is row-major. An error says which leaf's layout is none.
func (m *Module) Layouts(instr int32) ([][]int64, error) {
	leaves := m.Leaves(instr)
	out := make([][]int64, 0, len(leaves))
	out = m.layouts(m.fields(m.Instructions[instr].shape), out)
	if len(out) != len(leaves) {
		return nil, fmt.Errorf("%d layouts for %d arrays", len(out), len(leaves))
	}
	for n, l := range leaves {
		if out[n] == nil {
			out[n] = rowMajor(len(l.Dims))
		}
		if !permutes(out[n], len(l.Dims)) {
			return nil, fmt.Errorf("array %v of %d dimensions has the layout %v", l.Index, len(l.Dims), out[n])
		}
	}
	return out, nil
}

// layouts adds the layouts of a shape that check has seen.
func (m *Module) layouts(fs fields, out [][]int64) [][]int64 {
	s := shape{count: 1}
	elements := 0
	var order []int64
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		if f.tag == 5<<3|wireBytes {
			order = minorToMajor(fs.message(f))
		}
		if s.read(fs, f) {
			out = m.layouts(fs.message(f), out)
			elements++
		}
	}
	if elements > 0 || s.element == TupleType {
		return out
	}
	return append(out, order)
}

// minorToMajor reads field 1 of LayoutProto; nil where it is empty.
func minorToMajor(fs fields) []int64 {
	var order []int64
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 1<<3 | wireBytes, 1<<3 | wireVarint:
			order = fs.ints(order, f)
		}
	}
	return order
}

func rowMajor(rank int) []int64 {
	order := make([]int64, rank)
	for i := range order {
		order[i] = int64(rank - 1 - i)
	}
	return order
}

// permutes reports whether order names each of rank dimensions once.
func permutes(order []int64, rank int) bool {
	seen := slices.Clone(order)
	slices.Sort(seen)
	for i, d := range seen {
		if d != int64(i) {
			return false
		}
	}
	return len(order) == rank
}
