package transcode

// frameTables reads the tables that newer XLA prints between header and computations,
// and writes StackFrameIndexProto:
//
//	FileNames
//	1 "model.py"
//	FileLocations
//	1 {file_name_id=1 function_name_id=1 line=31 end_line=31 column=4 end_column=10}
//	StackFrames
//	1 {file_location_id=1 parent_frame_id=1}
func (t *Transcoder) frameTables() {
	s := &t.scan
	mark := t.out.begin(17)
	for {
		switch {
		case s.acceptText("FileNames\n"):
			t.frameTable(func() { t.unescaped(&t.out, 1) })
		case s.acceptText("FunctionNames\n"):
			t.frameTable(func() { t.unescaped(&t.out, 2) })
		case s.acceptText("FileLocations\n"):
			t.frameTable(t.fileLocation)
		case s.acceptText("StackFrames\n"):
			t.frameTable(t.stackFrame)
		default:
			t.out.end(mark)
			return
		}
	}
}

// frameTable reads the numbered rows of a table.
func (t *Transcoder) frameTable(row func()) {
	s := &t.scan
	for want := int64(1); ; want++ {
		if c := s.peek(); c < '0' || c > '9' {
			return
		}
		at := s.pos
		if s.number() != want {
			s.failed(at, "row %d expected", want)
			return
		}
		row()
	}
}

// unescaped reads a string in quotation marks, and writes it as a field.
func (t *Transcoder) unescaped(w *wireWriter, field uint64) {
	s := &t.scan
	at := s.pos
	var ok bool
	if t.text, ok = unescape(t.text[:0], s.quoted()); !ok {
		s.failed(at, "string has an escape that is none")
	}
	w.bytes(field, t.text)
}

// fileLocation reads a row of FileLocations.
func (t *Transcoder) fileLocation() {
	mark := t.out.begin(3)
	t.numbers(func(key string, v int64) {
		switch key {
		case "file_name_id":
			t.out.int64(1, v)
		case "function_name_id":
			t.out.int64(2, v)
		case "line":
			t.out.int64(3, v)
		case "column":
			t.out.int64(4, v)
		}
	})
	t.out.end(mark)
}

// stackFrame reads a row of StackFrames. The text's number of the parent is one more
// than the proto's, in which 0 is none.
func (t *Transcoder) stackFrame() {
	mark := t.out.begin(4)
	t.numbers(func(key string, v int64) {
		switch key {
		case "file_location_id":
			t.out.int64(1, v)
		case "parent_frame_id":
			t.out.int64(2, v-1)
		}
	})
	t.out.end(mark)
}

// numbers reads {key=1 other=2}.
func (t *Transcoder) numbers(each func(key string, v int64)) {
	s := &t.scan
	s.expect('{')
	for !s.accept('}') && s.problem == "" {
		key := string(s.word())
		s.expect('=')
		each(key, int64(s.int32()))
	}
}
