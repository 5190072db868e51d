package transcode

import "bytes"

// assignment reads BufferAssignment::ToString up to the first empty line, and writes
// BufferAssignmentProto:
//
//	allocation 0: size 1024, page 0, parameter 1, shape |f32[256]| at ShapeIndex {}, maybe-live-out:
//	 value: <5 copy.5{1} (phi) @0> (size=1024,offset=0): f32[256]{0}
func (t *Transcoder) assignment() {
	s := &t.scan
	if !s.acceptText("BufferAssignment:\n") {
		s.failed(s.pos, `"BufferAssignment:" expected: not a buffer assignment, or cut off`)
		return
	}
	if t.bindWrapped(); s.problem != "" {
		return
	}
	for n := int64(0); t.recovered() && s.acceptText("allocation "); n++ {
		t.allocation(n)
	}
	switch {
	case s.problem != "" || len(t.errs) > 0:
	case !bytes.HasSuffix(s.text, []byte("\n")):
		s.failed(len(s.text), "line does not end: cut off?")
	case s.pos < len(s.text) && s.text[s.pos-1] == '\n' && !bytes.HasSuffix(s.text[:s.pos], []byte("\n\n")):
		s.failed(s.pos, "allocation expected")
	case s.pos < len(s.text):
		t.listed = true
		t.usedValues()
	}
}

// allocation reads an allocation with its values, and writes BufferAllocationProto
// after the LogicalBufferProtos.
func (t *Transcoder) allocation(n int64) {
	s, w := &t.scan, &t.cur
	w.buf, t.later = w.buf[:0], t.later[:0]
	at := s.pos
	index := s.number()
	s.expect(':')
	if !s.acceptText("size ") {
		s.failed(s.pos, `"size" expected`)
	}
	w.int64(1, index)
	size := s.number()
	w.int64(2, size)
	t.total += size
	for s.accept(',') {
		t.allocationProperty()
	}
	s.expect(':')
	if index != n {
		s.failed(at, "allocation %d expected", n)
	}
	tuple := false
	for s.problem == "" && s.acceptText("value: <") {
		tuple = t.value() || tuple
	}
	w.bool(11, tuple)
	if s.problem != "" {
		return
	}
	t.placed(&t.out, at, true)
	t.out.bytes(3, w.buf)
	for _, p := range t.later {
		p.wire += int32(len(t.out.buf) - len(w.buf))
		t.places = append(t.places, p)
	}
}

// allocationProperty reads one of the properties behind an allocation's size.
func (t *Transcoder) allocationProperty() {
	s, w := &t.scan, &t.cur
	switch {
	case s.acceptText("page ") || s.acceptText("color "):
		w.int64(8, s.number())
	case s.acceptText("parameter "):
		t.allocatedParameter()
	case s.acceptText("output shape is "):
		s.bars()
	case s.acceptText("thread-local"):
		w.bool(3, true)
	case s.acceptText("maybe-live-out"):
		w.bool(7, true)
	case s.acceptText("constant"):
		w.bool(12, true)
	case s.acceptText("preallocated-temp"):
	default:
		s.failed(s.pos, "property of an allocation expected")
	}
}

// allocatedParameter reads "0, shape |f32[2]| at ShapeIndex {}".
func (t *Transcoder) allocatedParameter() {
	s, w := &t.scan, &t.cur
	parameter := s.number()
	s.expect(',')
	if !s.acceptText("shape ") {
		s.failed(s.pos, `"shape" expected`)
	}
	s.bars()
	if !s.acceptText("at ShapeIndex ") {
		s.failed(s.pos, `"at ShapeIndex" expected`)
	}
	t.ids = s.index(t.ids[:0])
	w.bool(5, true)
	w.int64(6, parameter)
	w.ints(10, t.ids)
	w.bool(13, t.donated[leafKey(parameter, t.ids)])
}

// bars passes over a shape between two bars.
func (s *scanner) bars() {
	s.expect('|')
	n := bytes.IndexByte(s.text[s.pos:], '|')
	if n < 0 {
		s.failed(s.pos, "'|' expected")
		return
	}
	s.pos += n + 1
}

// textValue is what stands of a value before its shape.
type textValue struct {
	id, color, size, offset int64
	name                    []byte
	at                      int // of the name
}

// valueHead reads "5 copy.5{1} (phi) @0> (size=1024,offset=0):"; the shape index ends
// up in ids.
func (t *Transcoder) valueHead() textValue {
	s := &t.scan
	var v textValue
	v.id = s.number()
	s.space()
	v.at = s.pos
	v.name = s.name()
	t.ids = t.ids[:0]
	if s.peek() == '{' {
		t.ids = s.index(t.ids)
	}
	s.acceptText("(phi)")
	s.expect('@')
	v.color = s.number()
	s.expect('>')
	v.size, v.offset = t.extent()
	s.expect(':')
	return v
}

// value reads a value, writes where it lies to the allocation and what it is as a
// LogicalBufferProto. It reports whether it is a tuple's table.
func (t *Transcoder) value() bool {
	s := &t.scan
	start := s.pos
	v := t.valueHead()
	tuple := s.peek() == '('
	s.skipShape()
	n, ok := t.instNames[string(v.name)]
	if !ok && s.problem == "" {
		s.failed(v.at, "the module has no instruction %q", v.name)
	}
	if s.problem != "" {
		return false
	}
	t.valueIDs = append(t.valueIDs, v.id)

	w := &t.out
	t.placed(w, start, true)
	buffer := w.begin(1)
	w.int64(1, v.id)
	w.int64(2, v.size)
	defined := w.begin(3)
	w.ints(3, t.ids)
	w.int64(4, int64(n)+1)
	w.end(defined)
	w.int64(4, v.color)
	w.end(buffer)

	t.later = append(t.later, sourcePlace{int32(len(t.cur.buf)), int32(start), true})
	assigned := t.cur.begin(9)
	t.cur.int64(1, v.id)
	t.cur.int64(2, v.offset)
	t.cur.int64(3, v.size)
	t.cur.end(assigned)
	return tuple
}

// extent reads (size=4,offset=0), in bytes.
func (t *Transcoder) extent() (size, offset int64) {
	s := &t.scan
	if !s.acceptText("(size=") {
		s.failed(s.pos, `"(size=" expected`)
	}
	size = s.number()
	if !s.acceptText(",offset=") {
		s.failed(s.pos, `",offset=" expected`)
	}
	offset = s.number()
	s.expect(')')
	return size, offset
}
