package hlo

import "bytes"

// instruction reads one instruction of a computation, writes HloInstructionProto, and
// returns its number:
//
//	%name = f32[2]{0} opcode(%a, %b#1), attribute=value, attribute=value
//
// Operands come before the shape is read: taking an element out of a tuple (%b#1) is
// an instruction of its own, which must stand first.
func (t *transcoder) instruction(computation int32) int32 {
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
	nodes := len(t.nodes)
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
	if string(opcode) == asyncStart || wrapped == nil {
		t.insts[n].needs = t.leastValues(computation, inner, int32(len(t.nodes)-nodes))
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

// leastValues is how many values the buffer assignment must have of an instruction
// whose shape has so many positions: of a custom call one for each, but for what it
// declares, which older XLA forwards; of others that forward nothing one.
func (t *transcoder) leastValues(computation int32, opcode []byte, positions int32) int32 {
	switch string(opcode) {
	case customCall:
		return positions
	case "constant", "copy", "fusion", "tuple":
		return 1
	case "parameter":
		if computation == t.entry {
			return 1
		}
	}
	return 0
}

// define enters an instruction's name, and returns its number.
func (t *transcoder) define(computation int32, name []byte, at int) int32 {
	n := int32(len(t.insts))
	t.insts = append(t.insts, textInstruction{computation: computation, node: -1})
	if _, ok := t.instNames[string(name)]; ok {
		t.scan.failed(at, "instruction %q stands twice", name)
		return n
	}
	t.instNames[string(name)] = n
	return n
}

// operands reads what stands in the brackets after an opcode: the ids of operands, or
// what is none (a parameter's number, a constant's literal).
func (t *transcoder) operands(computation int32, opcode []byte) []int64 {
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
func (t *transcoder) operand(computation int32) int64 {
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
func (t *transcoder) element(n, k int32, at int) int32 {
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
	t.insts = append(t.insts, textInstruction{computation: t.insts[n].computation, node: node.first + k})
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

// attributes reads what follows an instruction's operands into attrs, and the ids of
// computations into called.
func (t *transcoder) attributes(opcode []byte) {
	s, w := &t.scan, &t.attrs
	w.buf = w.buf[:0]
	custom := string(opcode) == customCall
	version := int64(1) // API_VERSION_ORIGINAL is not printed
	t.called = t.called[:0]
	for s.problem == "" && s.accept(',') {
		key := s.word()
		s.expect('=')
		switch string(key) {
		case "index":
			if string(opcode) == "get-tuple-element" {
				w.int64(13, int64(s.int32()))
			} else {
				s.value()
			}
		case "calls", "to_apply", "condition", "body", "branch_computations", "true_computation",
			"false_computation", "called_computations", "select", "scatter":
			t.calledComputations(opcode, key)
		case "control-predecessors":
			t.control()
		case "metadata":
			t.metadata()
		case "custom_call_target":
			t.unescaped(w, 28)
		case "custom_call_has_side_effect":
			w.bool(65, string(s.value()) == "true")
		case "api_version":
			version = t.apiVersion()
		case "output_to_operand_aliasing":
			t.aliasing()
		case "backend_config":
			t.backendConfig()
		default:
			s.value()
		}
	}
	if custom {
		w.int64(77, version)
	}
}

// calledComputations reads %c or {%c, %d}. A while's body goes before its condition.
func (t *transcoder) calledComputations(opcode, key []byte) {
	s := &t.scan
	from := len(t.called)
	one := !s.accept('{')
	for s.problem == "" && (one || !s.accept('}')) {
		n := t.computation(s.name())
		if string(opcode) == "fusion" {
			t.markFusion(n, true)
		}
		t.called = append(t.called, int64(n)+1)
		if one {
			break
		}
		if s.peek() != '}' {
			s.expect(',')
		}
	}
	if string(key) == "body" && from == 1 && len(t.called) == 2 {
		t.called[0], t.called[1] = t.called[1], t.called[0]
	}
}

// control reads {%a, %b}.
func (t *transcoder) control() {
	s := &t.scan
	t.ids = t.ids[:0]
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		at := s.pos
		n, ok := t.instNames[string(s.name())]
		if !ok {
			s.failed(at, "control predecessor is no instruction before this")
		}
		t.ids = append(t.ids, int64(n)+1)
		if s.peek() != '}' {
			s.expect(',')
		}
	}
	t.attrs.ints(37, t.ids)
}

// metadata reads {op_name="jit(f)/add" source_file="f.py" source_line=3 …}.
func (t *transcoder) metadata() {
	s, w := &t.scan, &t.attrs
	mark := w.begin(7)
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		key := s.word()
		s.expect('=')
		switch string(key) {
		case "op_name":
			t.unescaped(w, 2)
		case "source_file":
			t.unescaped(w, 3)
		case "source_line":
			w.int64(4, int64(s.int32()))
		case "stack_frame_id":
			w.int64(15, int64(s.int32()))
		case "source_column":
			w.int64(18, int64(s.int32()))
		default:
			s.value()
		}
	}
	w.end(mark)
}

// apiVersion reads xla.CustomCallApiVersion.
func (t *transcoder) apiVersion() int64 {
	at := t.scan.pos
	name := t.scan.value()
	switch string(name) {
	case "API_VERSION_UNSPECIFIED":
		return 0
	case "API_VERSION_ORIGINAL":
		return 1
	case "API_VERSION_STATUS_RETURNING":
		return 2
	case "API_VERSION_STATUS_RETURNING_UNIFIED":
		return 3
	case "API_VERSION_TYPED_FFI":
		return 4
	}
	t.scan.failed(at, "%q is no API version of a custom call", name)
	return 0
}

// aliasing reads {{0}: (3, {}), {1}: (0, {1})}: result index, operand, its index.
func (t *transcoder) aliasing() {
	s, w := &t.scan, &t.attrs
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		mark := w.begin(74)
		t.ids = s.index(t.ids[:0])
		w.ints(1, t.ids)
		t.insts[len(t.insts)-1].needs-- // see leastValues
		s.expect(':')
		s.expect('(')
		w.int64(2, s.number())
		s.expect(',')
		t.ids = s.index(t.ids[:0])
		w.ints(3, t.ids)
		s.expect(')')
		w.end(mark)
		if s.peek() != '}' {
			s.expect(',')
		}
	}
}

// backendConfig reads a configuration: a dictionary stands for itself, anything else
// is printed as a string with C's escapes.
func (t *transcoder) backendConfig() {
	if t.scan.peek() == '"' {
		t.unescaped(&t.attrs, 43)
		return
	}
	if t.scan.peek() != '{' {
		t.scan.failed(t.scan.pos, "string or dictionary expected")
		return
	}
	t.attrs.bytes(43, bytes.TrimSpace(t.scan.enclosed()))
}
