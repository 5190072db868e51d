package hlo

import "math"

const (
	// maxShapeDepth bounds the nesting of tuples. XLA flattens its users' trees; more
	// than three levels are rare.
	maxShapeDepth = 32
	// maxPositions bounds the arrays and tuples of one shape.
	maxPositions = 1 << 18
)

// shapeCheck walks a ShapeProto and counts what is in it. What is wrong ends up in the
// cursor's failure.
type shapeCheck struct {
	positions int32 // arrays and tuples
	leaves    int32 // arrays, tokens and opaques
	arity     int32 // elements of the outermost tuple, -1: no tuple
}

// walk checks one shape: encoding, nesting, dimensions and dense size.
func (s *shapeCheck) walk(c cursor, depth int) {
	if depth > maxShapeDepth {
		c.failed("tuples nest too deep")
		return
	}
	if s.positions++; s.positions > maxPositions {
		c.failed("shape has too many elements")
		return
	}
	shape := decodeShape(c)
	elements := int32(0)
	if c.fail.what == "" && shape.element == TupleType {
		for shape.elements.pos < shape.elements.end {
			switch tag := shape.elements.varint(); tag {
			case 4<<3 | wireBytes:
				elements++
				s.walk(shape.elements.message(), depth+1)
			default:
				shape.elements.skip(tag)
			}
		}
		if depth == 0 {
			s.arity = elements
		}
		return
	}
	s.leaves++
	if depth == 0 {
		s.arity = -1
	}
	if shape.element == BufferType && shape.inner.data != nil {
		shape = decodeShape(shape.inner)
	}
	if c.fail.what == "" && shape.bytes() < 0 {
		c.failed("array's size is negative or does not fit 64 bits")
	}
}

// shape is one level of a ShapeProto.
type shape struct {
	element     ElementType
	elements    cursor // from the first tuple_shapes field on
	inner       cursor // of a buffer type: the array in it
	count       int64  // elements of the array, -1: negative or too many
	elementBits int64  // the layout's, 0: not given
}

// decodeShape reads one level of a shape.
func decodeShape(c cursor) shape {
	s := shape{count: 1}
	for c.pos < c.end {
		start := c.pos
		switch tag := c.varint(); tag {
		case 2<<3 | wireVarint:
			s.element = ElementType(c.int32())
		case 3<<3 | wireBytes, 3<<3 | wireVarint:
			s.multiply(&c, tag)
		case 4<<3 | wireBytes:
			m := c.message()
			if s.elements.data == nil {
				s.elements = cursor{c.data, start, c.end, c.fail}
				s.inner = m
			}
			if s.element == TupleType {
				return s // the elements are the walker's; they end the message
			}
		case 5<<3 | wireBytes:
			s.layout(c.message())
		default:
			c.skip(tag)
		}
	}
	return s
}

// multiply reads dimensions into the count of elements.
func (s *shape) multiply(c *cursor, tag uint64) {
	if tag&7 == wireVarint {
		s.count = product(s.count, c.int64())
		return
	}
	for m := c.message(); m.pos < m.end; {
		s.count = product(s.count, m.int64())
	}
}

// layout reads what of LayoutProto the size depends on.
func (s *shape) layout(c cursor) {
	for c.pos < c.end {
		switch tag := c.varint(); tag {
		case 7<<3 | wireVarint:
			s.elementBits = c.int64()
		default:
			c.skip(tag)
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
	if s.elementBits > 0 && s.elementBits < 8 {
		bits = s.elementBits
	} else {
		bits = max(bits, 8)
	}
	if s.count < 0 || s.count > math.MaxInt64/bits-8 {
		return -1
	}
	return (s.count*bits + 7) / 8
}

// product multiplies sizes; -1 stands for what is negative or too big.
func product(x, y int64) int64 {
	if x < 0 || y < 0 || (y > 0 && x > math.MaxInt64/y) {
		return -1
	}
	return x * y
}

// leafList is the flattened shape of one instruction: leaves[first:end) of the module.
type leafList struct{ first, end int32 }

// Leaves appends the arrays of an instruction's shape to dst, in the order in which
// XLA flattens tuples: tokens and opaques count as leaves, tuples do not.
func (m *Module) Leaves(dst []Leaf, instr int32) []Leaf {
	list := &m.leafLists[instr]
	if list.end == 0 {
		list.first = int32(len(m.leaves))
		m.addLeaves(m.cursor(m.Instructions[instr].shape), nil)
		list.end = int32(len(m.leaves))
	}
	return append(dst, m.leaves[list.first:list.end]...)
}

// addLeaves flattens a shape that check has seen.
func (m *Module) addLeaves(c cursor, index ShapeIndex) {
	s := decodeShape(c)
	if s.element == TupleType {
		at := len(index)
		index = append(index, 0)
		for s.elements.pos < s.elements.end {
			switch tag := s.elements.varint(); tag {
			case 4<<3 | wireBytes:
				m.addLeaves(s.elements.message(), index)
				index[at]++
			default:
				s.elements.skip(tag)
			}
		}
		return
	}
	if s.element == BufferType && s.inner.data != nil {
		c, s = s.inner, decodeShape(s.inner)
	}
	m.leaves = append(m.leaves, Leaf{
		Index:   m.keep(index),
		Element: s.element,
		Dims:    m.dimensions(c),
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
func (m *Module) dimensions(c cursor) []int64 {
	start := len(m.numbers)
	for c.pos < c.end {
		switch tag := c.varint(); tag {
		case 3<<3 | wireBytes, 3<<3 | wireVarint:
			m.numbers = c.ints(m.numbers, tag)
		default:
			c.skip(tag)
		}
	}
	return m.numbers[start:len(m.numbers):len(m.numbers)]
}
