package mlir

// Module is what was read of one module.
type Module struct {
	Ops    []Op
	Values []Value

	version    uint64
	strings    [][]byte
	dialects   [][]byte
	names      []string // of operations, with their dialect
	attributes []attribute
}

// Op is one operation.
type Op struct {
	Name     string // tt.load
	Operands []int  // indices into Module.Values
	Parent   int    // index into Module.Ops of the operation that it is inside of, -1

	location   int // index into Module.attributes
	dictionary int // of its attributes, -1
}

// Value is a result of an operation or an argument of a block.
type Value struct {
	Op       int  // index into Module.Ops: whose result it is, or whose region has the block
	Argument int  // of the block
	IsResult bool // not an argument
	Entry    bool // an argument of its region's first block
}

// Frame is a place in source code.
type Frame struct {
	File         string
	Line, Column uint64
	Name         string // the innermost name around it; empty for none
}

// Attribute gives the string that operation op has as an attribute of this name.
func (m *Module) Attribute(op int, name string) (string, bool) {
	for _, entry := range m.dictionary(m.Ops[op].dictionary) {
		if string(m.text(entry.name)) != name {
			continue
		}
		if a := m.attribute(entry.value); a != nil && a.builtin && (a.code() == codeString || a.code() == codeStringWithType) {
			r := a.body()
			if n := r.index(len(m.strings)); r.err == nil {
				return string(m.strings[n]), true
			}
		}
	}
	return "", false
}

// Frames gives where operation op stands in the source: innermost first, empty where
// that is not known.
func (m *Module) Frames(op int) []Frame {
	w := walk{m: m, left: maxFrames}
	w.location(m.Ops[op].location, "", 0)
	return w.frames
}
