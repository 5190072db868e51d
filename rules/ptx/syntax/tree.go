package syntax

// Place is a position in a PTX text, both from 1.
type Place struct{ Line, Column int32 }

// Location is a .loc: a line of the kernel's source. line 0 means none.
type Location struct{ File, Line int32 }

// Instruction is one instruction, its names resolved.
type Instruction struct {
	At       Place
	Source   Location
	Guard    int32 // register, -1 none
	Negated  bool  // the guard is negated
	Name     string
	Words    []string // name split at single dots: ld, global, v4, b32
	Operands []Operand
}

// OperandKind says what an operand is, and so which of its fields count.
type OperandKind uint8

// The kinds.
const (
	KindRegister OperandKind = iota + 1
	KindConstant             // integer or float constant: Bits
	KindSymbol               // address of a variable
	KindLabel                // branch target: Bits is an index into Body; the body's length for its end
	KindFunction             // call target
	KindAddress              // [base + offset], Sub holds the base (register, symbol or constant) first, then coordinates
	KindVector               // { a, b, ... }
	KindPair                 // d|p
	KindSpecial              // %tid.x
	KindSink                 // _
	KindList                 // ( a, b ) of a call
	KindName                 // not resolved yet
)

// Operand is one operand of an instruction.
type Operand struct {
	Kind     OperandKind
	Not      bool // !p or -r
	Minus    bool
	Float    bool   // constant written as 0f, 0d or decimal fraction
	Register int32  // index into the function's Registers
	Bits     uint64 // of a constant, two's complement or of a float; of a label, its target; of an address, the offset in bytes
	Name     string // of a special register, without %; of a constant, f32 or f64 where it is written by its bits
	Variable *Variable
	Function *Function
	Sub      []Operand
	At       Place
}

// Elements lists the registers of a vector operand, or of a single one.
func (op Operand) Elements() []Operand {
	if op.Kind == KindVector {
		return op.Sub
	}
	return []Operand{op}
}

// Register is one virtual register of a function.
type Register struct {
	Name string
	Type string // as declared: pred, b32, f32, ...
	Bits uint8  // 1, 8, 16, 32, 64, 128
}

// Variable is a named piece of memory.
type Variable struct {
	Name   string
	Space  string // global, const, shared, local, param
	Type   string // as declared, such as "b8"; of an array, of an element
	Align  int64  // bytes
	Size   int64  // bytes; 0 for an array of unknown size
	Extern bool
	Init   []byte // little endian; shorter than Size means zero-extended
	Fixups []Fixup
	ptr    bool
	At     Place
	Index  int // of a parameter, in order
}

// Fixup is an initializer that is another variable's address.
type Fixup struct {
	At, Width int64  // bytes of Init
	Name      string // of the variable
	Generic   bool
	Add       int64 // bytes
}

// Function is an entry or a .func.
type Function struct {
	Name      string
	entry     bool
	Params    []*Variable
	Results   []*Variable
	Locals    []*Variable // .local and .param of the body
	Shared    []*Variable
	Registers []Register
	Body      []Instruction
	At        Place
	Declared  bool // no body seen yet

	reqThreads, maxThreads, reqCluster [3]uint32
}

// Callees lists a function and what it calls, directly or not.
func (f *Function) Callees() []*Function {
	out := []*Function{f}
	seen := map[*Function]bool{f: true}
	for i := 0; i < len(out); i++ {
		for j := range out[i].Body {
			for _, op := range out[i].Body[j].Operands {
				if op.Kind == KindFunction && !seen[op.Function] {
					seen[op.Function] = true
					out = append(out, op.Function)
				}
			}
		}
	}
	return out
}

// scope is a pair of braces: registers, variables and labels live in it.
type scope struct {
	parent *scope
	regs   map[string]int32
	ranges map[string]regRange // %r<11>
	vars   map[string]*Variable
	labels map[string]int
}

type regRange struct {
	typ   string
	bits  uint8
	count int64
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, regs: map[string]int32{}, ranges: map[string]regRange{},
		vars: map[string]*Variable{}, labels: map[string]int{}}
}

func (s *scope) variable(name string) *Variable {
	for ; s != nil; s = s.parent {
		if v := s.vars[name]; v != nil {
			return v
		}
	}
	return nil
}

func (s *scope) label(name string) (int, bool) {
	for ; s != nil; s = s.parent {
		if i, ok := s.labels[name]; ok {
			return i, true
		}
	}
	return 0, false
}

// TypeBits is the width of a fundamental type, 0 when it is none.
func TypeBits(t string) int {
	switch t {
	case "pred":
		return 1
	case "b8", "u8", "s8", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1":
		return 8
	case "b16", "u16", "s16", "f16", "bf16", "e4m3x2", "e5m2x2", "e2m1x2":
		return 16
	case "b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32", "u16x2", "s16x2":
		return 32
	case "b64", "u64", "s64", "f64", "f32x2":
		return 64
	case "b128":
		return 128
	}
	return 0
}
