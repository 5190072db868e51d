package transcode

// instruction reads one instruction of a computation, writes HloInstructionProto, and
// returns its number:
//
//	%name = f32[2]{0} opcode(%a, %b#1), attribute=value, attribute=value
//
// Operands come before the shape is read: taking an element out of a tuple (%b#1) is
// an instruction of its own, which must stand first.
func (t *Transcoder) instruction(computation int32) int32 {
	s, w := &t.scan, &t.cur
	start := s.pos
	name := s.name()
	s.expect('=')
	s.space()
	shape := s.pos
	s.skipShape()
	wrapped, opcode := asyncPhase(s.word())
	arguments := s.pos
	operands := t.operands(computation, opcode)
	after := s.pos

	t.placed(w, start, false)
	mark := w.begin(2)
	n := t.define(computation, name, start)
	if s.problem != "" {
		return n
	}
	w.bytes(1, name)
	w.bytes(2, opcode)
	w.int64(35, int64(n)+1)
	w.ints(36, operands)
	s.pos = shape
	t.insts[n].node = t.shape(3)
	if string(opcode) == "parameter" && s.problem == "" {
		s.pos = arguments
		s.expect('(')
		w.int64(9, int64(s.int32()))
	}
	if s.problem != "" {
		return n
	}
	s.pos = after
	inner := opcode
	if wrapped != nil {
		inner = wrapped
	}
	t.attributes(inner)
	if wrapped != nil && string(opcode) == asyncStart && s.problem == "" {
		t.called = append(t.called[:0], t.wrap(n, name, wrapped, operands, t.called))
	}
	w.ints(38, t.called)
	w.buf = append(w.buf, t.attrs.buf...)
	w.end(mark)
	return n
}

// define enters an instruction's name, and returns its number.
func (t *Transcoder) define(computation int32, name []byte, at int) int32 {
	n := int32(len(t.insts))
	t.insts = append(t.insts, instruction{computation: computation, node: -1})
	if _, ok := t.instNames[string(name)]; ok {
		t.scan.failed(at, "instruction %q stands twice", name)
		return n
	}
	t.instNames[string(name)] = n
	return n
}

// operands reads what stands in the brackets after an opcode: the ids of operands, or
// what is none (a parameter's number, a constant's literal).
func (t *Transcoder) operands(computation int32, opcode []byte) []int64 {
	s := &t.scan
	t.operandIDs = t.operandIDs[:0]
	if s.peek() != '(' {
		s.failed(s.pos, "'(' expected")
		return nil
	}
	switch string(opcode) {
	case "parameter", "constant":
		s.enclosed()
		return nil
	}
	s.expect('(')
	for !s.accept(')') && s.problem == "" {
		id := t.operand(computation)
		t.operandIDs = append(t.operandIDs, id)
		if s.peek() != ')' {
			s.expect(',')
		}
	}
	return t.operandIDs
}

// operand reads one operand: %x, x, f32[2]{0} %x, %x#1#0. It returns its id.
func (t *Transcoder) operand(computation int32) int64 {
	s := &t.scan
	s.space()
	at := s.pos
	s.skipShape() // or a name: both end at white space, comma or bracket
	if c := s.peek(); c == ',' || c == ')' {
		s.pos = at // there was no shape
	}
	at = s.pos
	name := s.name()
	n, ok := t.instNames[string(name)]
	if s.problem != "" {
		return 0
	}
	if !ok || t.insts[n].computation != computation {
		s.failed(at, "%q is no instruction before this in its computation", name)
		return 0
	}
	for s.problem == "" && s.accept('#') {
		n = t.element(n, s.int32(), at)
	}
	return int64(n) + 1
}

// element returns the number of the instruction that takes element k out of
// instruction n's tuple, and makes one if there is none.
func (t *Transcoder) element(n, k int32, at int) int32 {
	s := &t.scan
	node := shapeNode{}
	if t.insts[n].node >= 0 {
		node = t.nodes[t.insts[n].node]
	}
	if s.problem != "" || !node.tuple || k < 0 || k >= node.count {
		s.failed(at, "tuple has no element %d", k)
		return n
	}
	child := &t.nodes[node.first+k]
	if child.taken != 0 {
		return child.taken - 1
	}
	made := int32(len(t.insts))
	t.insts = append(t.insts, instruction{computation: t.insts[n].computation, node: node.first + k})
	child.taken = made + 1
	w := &t.cur
	t.placed(w, at, false)
	mark := w.begin(2)
	w.string(2, "get-tuple-element")
	w.bytes(3, w.buf[child.wire.start:child.wire.end])
	w.int64(13, int64(k))
	w.int64(35, int64(made)+1)
	w.ints(36, []int64{int64(n) + 1})
	w.end(mark)
	t.bound()
	return made
}
