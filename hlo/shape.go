package hlo

import (
	"math"

	"aliascheck/hlo/transcode"
)

const (
	// maxShapeDepth bounds the nesting of tuples. XLA flattens its users' trees; more
	// than three levels are rare.
	maxShapeDepth = transcode.MaxShapeDepth
	// maxPositions bounds the arrays and tuples of one shape.
	maxPositions = 1 << 18
)

// shape is one level of a ShapeProto, read field by field.
type shape struct {
	element ElementType
	count   int64 // elements of an array, -1: negative or too many
	packed  int64 // bits of an element by the layout, 0: not given
	tuple   bool  // or a buffer: what it holds are elements
}

// read reads a field of a shape, and reports whether it is an element.
func (s *shape) read(fs fields, f field) bool {
	switch f.tag {
	case 2<<3 | wireVarint:
		s.element = ElementType(fs.int32(f))
		s.tuple = s.element == TupleType || s.element == BufferType
	case 3<<3 | wireBytes, 3<<3 | wireVarint:
		s.multiply(fs, f)
	case 4<<3 | wireBytes:
		if !s.tuple {
			fs.failed(f.start, "elements of a shape that is no tuple, or before its type")
		}
		return true
	case 5<<3 | wireBytes:
		if layout := fs.message(f); s.element.Bits() < 8 {
			s.readLayout(layout)
		}
	}
	return false
}

// multiply reads dimensions into the count of elements.
func (s *shape) multiply(fs fields, f field) {
	if f.tag&7 == wireVarint {
		s.count = product(s.count, int64(f.number))
		return
	}
	list := fs.message(f)
	for p := f.start; p < f.end; {
		var n int64
		n, p = list.numberAt(p)
		s.count = product(s.count, n)
	}
}

// readLayout reads what of LayoutProto the size depends on.
func (s *shape) readLayout(fs fields) {
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 7<<3 | wireVarint:
			s.packed = int64(f.number)
		}
	}
}

// bytes is the dense size of an array, -1 where there is none. Elements of less than a
// byte take one each unless the layout packs them.
func (s *shape) bytes() int64 {
	bits := s.element.Bits()
	if bits == 0 {
		return 0
	}
	if s.packed > 0 && s.packed < 8 {
		bits = s.packed
	} else {
		bits = max(bits, 8)
	}
	if s.count < 0 || s.count > math.MaxInt64/bits-8 {
		return -1
	}
	return (s.count*bits + 7) / 8
}

// shapeCheck walks a ShapeProto and counts what is in it. What is wrong ends up in the
// fields' failure.
type shapeCheck struct {
	positions int32 // arrays and tuples
	arity     int32 // elements of the outermost tuple, -1: no tuple
}

// walk checks one shape: encoding, nesting, dimensions and dense size.
func (k *shapeCheck) walk(fs fields, depth int) {
	s := shape{count: 1}
	elements := int32(0)
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		if !s.read(fs, f) {
			continue
		}
		elements++
		if s.element == BufferType && elements > 1 {
			fs.failed(f.start, "buffer of more than one array")
		}
		if depth == maxShapeDepth {
			fs.failed(f.start, "tuples nest too deep")
			return
		}
		k.walk(fs.message(f), depth+1)
	}
	switch {
	case !s.element.Known():
		fs.failed(fs.start, "element type is unknown")
	case s.bytes() < 0:
		fs.failed(fs.start, "array's size is negative or does not fit 64 bits")
	}
	if s.element != BufferType || elements == 0 { // else the array in it counts
		k.positions++
	}
	if k.positions > maxPositions {
		fs.failed(fs.start, "shape has too many elements")
	}
	k.arity = -1
	if s.element == TupleType {
		k.arity = elements
	}
}

// product multiplies sizes; -1 stands for what is negative or too big.
func product(x, y int64) int64 {
	if x < 0 || y < 0 || (y > 0 && x > math.MaxInt64/y) {
		return -1
	}
	return x * y
}

// leafList is a flattened shape: leaves[first:end) of the module.
type leafList struct{ first, end int32 }

// Leaves are the arrays of an instruction's shape, in the order in which XLA flattens
// tuples: tokens and opaques count as leaves, tuples do not.
func (m *Module) Leaves(instr int32) []Leaf {
	list := &m.leafLists[m.Instructions[instr].leaves]
	if list.end == 0 {
		list.first = int32(len(m.leaves))
		m.addLeaves(m.fields(m.Instructions[instr].shape), nil)
		list.end = int32(len(m.leaves))
	}
	return m.leaves[list.first:list.end:list.end]
}

// SameShape reports whether two instructions have equal shapes, layouts included. It may
// report false of equal ones that are written differently.
func (m *Module) SameShape(a, b int32) bool {
	x, y := m.Instructions[a].shape, m.Instructions[b].shape
	return view(m.in.data, x) == view(m.in.data, y)
}

// addLeaves flattens a shape that check has seen.
func (m *Module) addLeaves(fs fields, index ShapeIndex) {
	s := shape{count: 1}
	next := append(index, 0)
	elements := int64(0)
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		if !s.read(fs, f) {
			continue
		}
		if s.element == BufferType {
			m.addLeaves(fs.message(f), index)
		} else {
			next[len(index)] = elements
			m.addLeaves(fs.message(f), next)
		}
		elements++
	}
	if elements > 0 || s.element == TupleType {
		return
	}
	m.leaves = append(m.leaves, Leaf{
		Index:   m.keep(index),
		Element: s.element,
		Dims:    m.dimensions(fs),
		Bytes:   s.bytes(),
	})
}

// keep copies numbers to where they stay until the next read; the result is never nil.
func (m *Module) keep(list []int64) []int64 {
	if len(list) == 0 {
		return []int64{}
	}
	start := len(m.numbers)
	m.numbers = append(m.numbers, list...)
	return m.numbers[start:len(m.numbers):len(m.numbers)]
}

// dimensions reads the dimensions of an array shape.
func (m *Module) dimensions(fs fields) []int64 {
	start := len(m.numbers)
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 3<<3 | wireBytes, 3<<3 | wireVarint:
			m.numbers = fs.ints(m.numbers, f)
		}
	}
	return m.numbers[start:len(m.numbers):len(m.numbers)]
}
