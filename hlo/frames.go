package hlo

// FrameTable is the module's stack frame index. Numbers in it are 1-based, 0 is none,
// as StackFrameIndexProto has them; nothing says that they are in range.
type FrameTable struct {
	files     []string
	functions []string
	locations []location
	frames    []stackFrame
}

// location is StackFrameIndexProto.FileLocation.
type location struct{ file, function, line, column int32 }

// stackFrame is StackFrameIndexProto.StackFrame.
type stackFrame struct{ location, parent int32 }

// maxStack bounds a stack: parents in a hostile file can form a cycle.
const maxStack = 256

// Stack appends the frames that made an instruction to dst, innermost first: from the
// stack frame index where the instruction names an entry of it, else the one place in
// its metadata, else none.
func (m *Module) Stack(dst []Frame, instr int32) []Frame {
	meta := m.decodeMetadata(instr)
	n := len(dst)
	id := meta.frame
	for steps := 0; id > 0 && int(id) <= len(m.Frames.frames) && steps < maxStack; steps++ {
		frame := m.Frames.frames[id-1]
		if f, ok := m.Frames.at(frame.location); ok {
			dst = append(dst, f)
		}
		id = frame.parent
	}
	if len(dst) == n && meta.file != "" {
		dst = append(dst, Frame{File: meta.file, Line: meta.line, Column: meta.column})
	}
	return dst
}

// OpName is the instruction's op_name: jit(step)/while/body/custom_call. Empty where
// the metadata has none.
func (m *Module) OpName(instr int32) string { return m.decodeMetadata(instr).opName }

// at is the frame of a 1-based location.
func (t *FrameTable) at(id int32) (Frame, bool) {
	if id <= 0 || int(id) > len(t.locations) {
		return Frame{}, false
	}
	l := t.locations[id-1]
	return Frame{
		File:     nth(t.files, l.file),
		Function: nth(t.functions, l.function),
		Line:     l.line,
		Column:   l.column,
	}, true
}

// nth is the id-th string, 1-based; empty where there is none.
func nth(list []string, id int32) string {
	if id <= 0 || int(id) > len(list) {
		return ""
	}
	return list[id-1]
}

// metadata is what of OpMetadata matters.
type metadata struct {
	opName, file string
	line, column int32
	frame        int32
}

// decodeMetadata reads OpMetadata; what cannot be read is left out.
func (m *Module) decodeMetadata(instr int32) metadata {
	fs := m.fields(m.Instructions[instr].metadata)
	var meta metadata
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		switch f.tag {
		case 2<<3 | wireBytes:
			meta.opName = view(fs.in.data, f.span())
		case 3<<3 | wireBytes:
			meta.file = view(fs.in.data, f.span())
		case 4<<3 | wireVarint:
			meta.line = fs.int32(f)
		case 15<<3 | wireVarint:
			meta.frame = fs.int32(f)
		case 18<<3 | wireVarint:
			meta.column = fs.int32(f)
		}
	}
	return meta
}

// reset forgets all frames and keeps the memory.
func (t *FrameTable) reset() {
	t.files, t.functions = t.files[:0], t.functions[:0]
	t.locations, t.frames = t.locations[:0], t.frames[:0]
}

// decodeFrames reads StackFrameIndexProto.
func (b *builder) decodeFrames(fs fields) {
	t := &b.m.Frames
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		b.spend(fs, smallBytes)
		switch f.tag {
		case 1<<3 | wireBytes:
			t.files = append(t.files, b.text(f.span()))
		case 2<<3 | wireBytes:
			t.functions = append(t.functions, b.text(f.span()))
		case 3<<3 | wireBytes:
			n := numbers(fs.message(f), 4)
			t.locations = append(t.locations, location{n[0], n[1], n[2], n[3]})
		case 4<<3 | wireBytes:
			n := numbers(fs.message(f), 2)
			t.frames = append(t.frames, stackFrame{n[0], n[1]})
		}
	}
}

// numbers reads a message whose first fields, count of them, are int32.
func numbers(fs fields, count uint64) (list [4]int32) {
	for f := fs.first(); f.tag != 0; f = fs.after(f) {
		if n := f.tag >> 3; f.tag&7 == wireVarint && n <= count {
			list[n-1] = fs.int32(f)
		}
	}
	return list
}
