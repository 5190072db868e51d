package transcode

import "bytes"

// shapeNode is an array or a tuple of a shape that was read: the ShapeProto lies in
// the current computation's wire. A tuple's elements are nodes[first:first+count].
type shapeNode struct {
	wire         span
	first, count int32
	taken        int32 // one more than the instruction that was made to take it out; 0: none
	tuple        bool
}

// shape reads a shape and writes it as a field of the current computation's wire:
// f32[2,3]{1,0}, s32[], token[], (f32[2]{0}, (s32[], pred[])), b(f32[2]{0}),
// bf16[8,128]{1,0:T(8,128)(2,1)S(5)}, s4[8]{0:E(4)}, f32[<=5].
// It returns the node.
func (t *Transcoder) shape(field uint64) int32 {
	base := len(t.stack)
	node := t.shapeNode(field, 0)
	t.stack = t.stack[:base]
	t.nodes = append(t.nodes, node)
	return int32(len(t.nodes) - 1)
}

// shapeNode is shape below the outermost level.
func (t *Transcoder) shapeNode(field uint64, depth int) shapeNode {
	s, w := &t.scan, &t.cur
	mark := w.begin(field)
	var node shapeNode
	switch {
	case depth > MaxShapeDepth:
		s.failed(s.pos, "tuples nest too deep")
	case s.accept('('):
		w.int64(2, tupleType)
		node = t.tupleElements(depth)
	default:
		t.array(depth)
	}
	w.end(mark)
	node.wire = span{int32(mark), int32(len(w.buf))}
	t.bound()
	return node
}

// tupleElements reads the elements of a tuple up to its end.
func (t *Transcoder) tupleElements(depth int) shapeNode {
	s := &t.scan
	base := len(t.stack)
	for !s.accept(')') && s.problem == "" {
		element := t.shapeNode(4, depth+1)
		t.stack = append(t.stack, element)
		if s.peek() != ')' {
			s.expect(',')
		}
	}
	node := shapeNode{first: int32(len(t.nodes)), count: int32(len(t.stack) - base), tuple: true}
	t.nodes = append(t.nodes, t.stack[base:]...)
	t.stack = t.stack[:base]
	return node
}

// array reads the shape of an array, token or opaque, or a buffer around one.
func (t *Transcoder) array(depth int) {
	s, w := &t.scan, &t.cur
	s.space()
	at := s.pos
	name := s.word()
	if s.problem != "" {
		return
	}
	element, ok := t.Element(name)
	if !ok {
		s.failed(at, "%q is no element type", name)
		return
	}
	w.int64(2, int64(element))
	if element == bufferType {
		s.expect('(')
		t.shapeNode(4, depth+1)
		s.expect(')')
		return
	}
	t.dimensions()
	if s.pos < len(s.text) && s.text[s.pos] == '{' {
		t.layout()
	}
}

// dimensions reads [2,3], where <=2 is the most that a dimension may have.
func (t *Transcoder) dimensions() {
	s := &t.scan
	t.ids = t.ids[:0]
	s.expect('[')
	for !s.accept(']') && s.problem == "" {
		s.acceptText("<=")
		if s.accept('?') { // unbounded: never of an optimized module
			s.failed(s.pos, "dimension without a bound")
		}
		t.ids = append(t.ids, s.number())
		if s.peek() != ']' {
			s.expect(',')
		}
	}
	t.cur.ints(3, t.ids)
}

// layout reads {1,0:T(8,128)E(4)S(5)}: the order of the dimensions, then properties.
// Of those only E, the bits of an element, bears on the size; who rebuilds a call asks
// for the order.
func (t *Transcoder) layout() {
	s, w := &t.scan, &t.cur
	mark := w.begin(5)
	s.expect('{')
	t.ids = t.ids[:0]
	for s.problem == "" && s.peek() != '}' && s.peek() != ':' {
		t.ids = append(t.ids, s.number())
		if c := s.peek(); c != '}' && c != ':' {
			s.expect(',')
		}
	}
	t.cur.ints(1, t.ids)
	if s.accept(':') {
		for s.problem == "" && s.peek() != '}' {
			t.layoutProperty()
		}
	}
	s.expect('}')
	w.end(mark)
}

// layoutProperty reads a property with what it has in brackets: T(8,128)(2,1), E(4),
// S(1), SC(0:4), #(u32).
func (t *Transcoder) layoutProperty() {
	s := &t.scan
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] != '(' && s.text[s.pos] != '}' {
		s.pos++
	}
	if s.pos == start || s.peek() != '(' {
		s.failed(start, "layout is none that XLA prints")
		return
	}
	if s.text[start] == 'E' {
		s.expect('(')
		t.cur.int64(7, s.number())
		s.expect(')')
		return
	}
	for s.peek() == '(' {
		s.enclosed()
	}
}

// skipShape passes over a shape.
func (s *scanner) skipShape() {
	if s.peek() == '(' {
		s.enclosed()
		return
	}
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '(', '[', '{':
			if start := s.pos; bytes.IndexByte(s.enclosed(), '\n') >= 0 {
				s.failed(start, "shape does not end on its line")
			}
		case ' ', '\n', '\t', '\r', ',', ')':
			return
		default:
			s.pos++
		}
	}
}
