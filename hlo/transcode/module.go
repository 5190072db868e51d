package transcode

import "bytes"

// module reads HloModule::ToString: a header, the tables of the stack frame index,
// and the computations, callees before callers. It writes HloModuleProto.
func (t *Transcoder) module() {
	s := &t.scan
	if !s.acceptText("HloModule ") {
		s.failed(s.pos, `"HloModule" expected: not HLO text, or cut off`)
		return
	}
	start := s.pos
	for s.pos < len(s.text) && s.text[s.pos] != ',' && s.text[s.pos] != '\n' {
		s.pos++ // any name: JAX makes it of a function's
	}
	t.placed(&t.out, 0, false)
	t.out.bytes(1, bytes.TrimSpace(s.text[start:s.pos]))
	t.header()
	t.frameTables()
	if s.problem != "" {
		return
	}
	for t.recovered() && s.peek() != 0 {
		t.readComputation()
	}
	if s.problem != "" || len(t.errs) > 0 {
		return
	}
	if s.pos < len(s.text) {
		s.failed(s.pos, "NUL in text")
		return
	}
	if t.entry < 0 {
		s.failed(s.pos, "no ENTRY computation: cut off?")
		return
	}
	t.out.int64(6, int64(t.entry)+1)
	t.schedules()
	for i := range t.comps {
		if !t.comps[i].written {
			s.failed(s.pos, "computation %q is called but not there", t.comps[i].name)
			return
		}
	}
}

// header reads the attributes after the module's name.
func (t *Transcoder) header() {
	s := &t.scan
	for s.accept(',') {
		key := s.word()
		s.expect('=')
		switch string(key) {
		case "is_scheduled":
			t.scheduled = string(s.value()) == "true"
		case "input_output_alias":
			t.inputOutputAlias()
		case "buffer_donor":
			t.bufferDonor()
		default:
			s.value()
		}
	}
}

// inputOutputAlias reads { {0}: (1, {}, may-alias), {1}: (2, {0}) }: output index,
// parameter, its index.
func (t *Transcoder) inputOutputAlias() {
	s := &t.scan
	list := t.out.begin(8)
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		t.placed(&t.out, s.pos, false)
		entry := t.out.begin(1)
		t.ids = s.index(t.ids[:0])
		t.out.ints(1, t.ids)
		s.expect(':')
		s.expect('(')
		parameter := s.number()
		s.expect(',')
		index := s.index(nil)
		t.out.int64(2, parameter)
		t.out.ints(3, index)
		t.donated[leafKey(parameter, index)] = true
		if s.accept(',') {
			s.word() // may-alias, must-alias
		}
		s.expect(')')
		t.out.end(entry)
		if s.peek() != '}' {
			s.expect(',')
		}
	}
	t.out.end(list)
}

// bufferDonor reads { (0, {}), (1, {0}) }: parameter, its index.
func (t *Transcoder) bufferDonor() {
	s := &t.scan
	list := t.out.begin(18)
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		t.placed(&t.out, s.pos, false)
		entry := t.out.begin(1)
		s.expect('(')
		t.out.int64(1, s.number())
		s.expect(',')
		t.ids = s.index(t.ids[:0])
		t.out.ints(2, t.ids)
		s.expect(')')
		t.out.end(entry)
		if s.peek() != '}' {
			s.expect(',')
		}
	}
	t.out.end(list)
}

// readComputation reads one computation:
//
//	[ENTRY] %name [(p: f32[2]) -> f32[2]] { instructions } [, attributes]
func (t *Transcoder) readComputation() {
	s := &t.scan
	start := s.pos
	entry := s.acceptText("ENTRY ")
	n := t.computation(s.name())
	if s.problem != "" {
		return
	}
	c := &t.comps[n]
	if c.written {
		s.failed(start, "computation %q stands twice", c.name)
		return
	}
	if s.peek() == '(' {
		s.enclosed()
		if !s.acceptText("->") {
			s.failed(s.pos, `"->" expected`)
		}
		s.skipShape()
	}
	s.expect('{')
	if entry {
		if t.entry >= 0 {
			s.failed(start, "two ENTRY computations")
		}
		t.entry = n
	}
	c.written = true
	t.instructions(n, start)
	for s.accept(',') {
		s.word()
		s.expect('=')
		s.value()
	}
}

// instructions reads a computation's instructions up to the closing brace, and writes
// HloComputationProto.
func (t *Transcoder) instructions(n int32, start int) {
	s := &t.scan
	t.cur.buf, t.nodes = t.cur.buf[:0], t.nodes[:0]
	places := len(t.places)
	t.comps[n].first = int32(len(t.insts))
	root, last := int32(-1), int32(-1)
	for t.recovered() && !s.accept('}') {
		if s.pos >= len(s.text) {
			s.failed(s.pos, "computation %q does not end: cut off?", t.comps[n].name)
			return
		}
		isRoot := s.acceptText("ROOT ")
		if last = t.instruction(n); isRoot {
			root = last
		}
	}
	end := int32(len(t.insts))
	if root < 0 {
		root = last
	}
	c := &t.comps[n]
	if c.end = end; c.end == c.first && s.problem == "" {
		s.failed(start, "computation %q is empty", c.name)
	}
	w := &t.out
	t.placed(w, start, false)
	mark := w.begin(3)
	w.string(1, c.name)
	w.int64(5, int64(n)+1)
	w.int64(6, int64(root)+1)
	w.bool(7, true)
	c.flagAt = len(w.buf) - 1
	t.markFusion(n, c.fusion)
	for i := range t.places[places : len(t.places)-1] {
		t.places[places+i].wire += int32(len(w.buf))
	}
	w.buf = append(w.buf, t.cur.buf...)
	w.end(mark)
	t.sortPlaces(places)
}

// markFusion says whether a computation is a fusion's, which only its caller knows:
// written before or after.
func (t *Transcoder) markFusion(n int32, fusion bool) {
	c := &t.comps[n]
	c.fusion = fusion
	if c.flagAt == 0 {
		return
	}
	t.out.buf[c.flagAt] = 0
	if fusion {
		t.out.buf[c.flagAt] = 1
	}
}

// sortPlaces moves the last place, a computation's, before those from n on, its
// instructions'.
func (t *Transcoder) sortPlaces(n int) {
	last := t.places[len(t.places)-1]
	copy(t.places[n+1:], t.places[n:])
	t.places[n] = last
}

// schedules writes the order of the computations that have one: as they are printed.
func (t *Transcoder) schedules() {
	if !t.scheduled {
		return
	}
	w := &t.out
	list := w.begin(7)
	for i := range t.comps {
		c := &t.comps[i]
		if c.fusion {
			continue
		}
		entry := w.begin(1)
		w.int64(1, int64(i)+1)
		sequence := w.begin(2)
		ids := w.begin(1)
		for n := c.first; n < c.end; n++ {
			if t.insts[n].computation == int32(i) { // else of one that it wraps
				w.varint(uint64(n) + 1)
			}
		}
		w.end(ids)
		w.end(sequence)
		w.end(entry)
	}
	w.end(list)
}
