package transcode

import "bytes"

// attributes reads what follows an instruction's operands into attrs, and the ids of
// computations into called.
func (t *Transcoder) attributes(opcode []byte) {
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
		case "replica_groups", "device_ids": // newer XLA: mesh['x'=2,'y'=4], device_ids=([2,4]T(1,0)) {'y'}
			s.value()
			if s.peek() == '{' {
				s.enclosed()
			}
		default:
			s.value()
		}
	}
	if custom {
		w.int64(77, version)
	}
}

// calledComputations reads %c or {%c, %d}. A while's body goes before its condition.
func (t *Transcoder) calledComputations(opcode, key []byte) {
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
func (t *Transcoder) control() {
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
func (t *Transcoder) metadata() {
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
func (t *Transcoder) apiVersion() int64 {
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
func (t *Transcoder) aliasing() {
	s, w := &t.scan, &t.attrs
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		mark := w.begin(74)
		t.ids = s.index(t.ids[:0])
		w.ints(1, t.ids)
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
func (t *Transcoder) backendConfig() {
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
