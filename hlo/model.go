// Package hlo reads what XLA dumps: optimized modules with their buffer assignment.
//
// In: dump directories, single files, archives. Out: a Module, whose computations,
// instructions, values and allocations are linked by index and checked, so that no
// later package tests an index again. Offsets and sizes are bytes; a slice is the
// half-open interval [Offset, Offset+Size) of its allocation.
//
// Formats: xla/service/hlo.proto and xla/xla_data.proto, and the text that
// HloModule::ToString and BufferAssignment::ToString print.
package hlo

// Module is one optimized module with its buffer assignment.
//
// A Module and every slice and string in it belong to the Reader that made it and
// are valid until the Reader's next read: keep copies (strings.Clone), not the Module.
type Module struct {
	Path string // the file as the user would name it; archive.zip!/member inside archives
	Name string // HloModule name: jit_step

	Entry        int32 // index into Computations
	Computations []Computation
	Instructions []Instruction // of the decoded computations, the last computation's first
	Values       []Value       // their logical buffers, sorted by defining position
	Allocations  []Allocation  // Allocations[i].Index is i

	// Donated lists the entry parameters' leaves that the caller gave away:
	// input_output_alias entries and buffer donors.
	Donated []ParameterLeaf

	Frames FrameTable

	Companions Companions // the files beside it

	in    input  // what the spans of instructions point into
	holes []hole // literals of wire that were left in the file
	file  string // to read them from; empty: they cannot be read again

	// What was flattened so far, by shape.
	leafLists []leafList
	leaves    []Leaf
	numbers   []int64
}

// Computation is one HLO computation. What fusions call holds no buffers that others
// see: unless a custom call stands inside, its instructions are not decoded.
type Computation struct {
	Name     string
	ID       int64
	Fusion   bool
	Decoded  bool
	First    int32 // Instructions[First:End] are this computation's
	End      int32
	Root     int32   // instruction index, -1 where not decoded
	Schedule []int32 // instruction indices in the order of execution; nil: no schedule
	Callers  []int32 // instructions (decoded ones) that call this computation

	// Parameters are the instruction indices of the parameters, by their number.
	Parameters []int32
}

// Instruction is one HLO instruction of a decoded computation.
type Instruction struct {
	Name        string
	Opcode      string
	ID          int64
	Computation int32
	Position    int32   // place in its computation's schedule, -1 without one
	Operands    []int32 // instruction indices
	Control     []int32 // control predecessors, instruction indices
	Called      []int32 // computation indices, in XLA's order (while: body, condition)
	Parameter   int32   // of opcode parameter
	TupleIndex  int32   // of get-tuple-element
	FirstValue  int32   // Values[FirstValue:EndValue] are defined here
	EndValue    int32
	Custom      *CustomCall // custom-call, and async-start that wraps one (with its target)

	shape    span
	leaves   int32 // index into Module.leafLists; equal shapes share one
	literal  span
	metadata span
}

// CustomCall is what a custom-call instruction has beyond its operands.
type CustomCall struct {
	Target        string
	Config        []byte // backend_config as the proto has it
	APIVersion    int32  // 4 is the typed FFI
	HasSideEffect bool
	Declared      []DeclaredPair
}

// DeclaredPair is an entry of output_to_operand_aliasing, as written: nothing says
// that the leaves it names exist.
type DeclaredPair struct {
	Result       ShapeIndex
	Operand      int64
	OperandIndex ShapeIndex
}

// ShapeIndex names a leaf inside nested tuples; empty is the whole shape.
type ShapeIndex []int64

// Leaf is an array inside an instruction's shape.
type Leaf struct {
	Index   ShapeIndex
	Element ElementType
	Dims    []int64
	Bytes   int64 // dense size of the array: elements times element size, 0 for tokens and opaques
}

// Value is a logical buffer: what one instruction defines at one shape index.
type Value struct {
	ID          int64
	Instruction int32
	Index       ShapeIndex
	Allocation  int32 // index into Allocations, -1 where the assignment gives it none
	Offset      int64 // bytes from the allocation's start
	Size        int64 // bytes
	Color       int64
}

// Slice names bytes of an allocation, as reports show them.
type Slice struct {
	Allocation int64 `json:"allocation"`
	Offset     int64 `json:"offset"`
	Size       int64 `json:"size"`
}

// Shares reports whether two slices have a byte in common.
func (s Slice) Shares(t Slice) bool {
	return s.Allocation == t.Allocation && s.Size > 0 && t.Size > 0 &&
		s.Offset < t.Offset+t.Size && t.Offset < s.Offset+s.Size
}

// Allocation is one block of memory that values are laid out in.
type Allocation struct {
	Index            int64
	Size             int64 // bytes
	Color            int64
	ThreadLocal      bool
	Tuple            bool // a tuple table lies in it too; it can hold arrays as well
	EntryParameter   bool
	Constant         bool
	MaybeLiveOut     bool
	Parameter        int64 // of an entry parameter
	ParameterIndex   ShapeIndex
	ParameterAliased bool    // the parameter shares its memory with an output
	Values           []int32 // indices into Module.Values, by offset
}

// ParameterLeaf is a leaf of an entry parameter. As written: nothing says that there is
// such a leaf, nor such an output.
type ParameterLeaf struct {
	Parameter int64
	Index     ShapeIndex
	Aliased   bool       // an input_output_alias entry, no donor
	Output    ShapeIndex // of such: where in the entry's result its memory comes back
}

// Frame is one entry of the stack that made an instruction.
type Frame struct {
	File     string
	Function string
	Line     int32
	Column   int32
}
