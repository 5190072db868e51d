package ptx

// place is a position in a PTX text, both from 1.
type place struct{ line, col int32 }

// location is a .loc: a line of the kernel's source. line 0 means none.
type location struct{ file, line int32 }

// instr is one instruction, its names resolved.
type instr struct {
	at    place
	loc   location
	guard int32 // register, -1 none
	not   bool  // the guard is negated
	name  string
	parts []string // name split at single dots: ld, global, v4, b32
	ops   []operand
}

type operandKind uint8

const (
	opReg     operandKind = iota + 1
	opImm                 // integer or float constant; bits
	opSymbol              // address of a variable
	opLabel               // branch target, value is an instruction index
	opFunc                // call target
	opAddress             // [base + offset], sub holds the base (register, symbol or constant) first, then coordinates
	opVector              // { a, b, ... }
	opPair                // d|p
	opSpecial             // %tid.x
	opSink                // _
	opList                // ( a, b ) of a call
	opName                // not resolved yet
)

type operand struct {
	kind  operandKind
	not   bool // !p or -r
	minus bool
	float bool   // constant written as 0f, 0d or decimal fraction
	reg   int32  // opReg
	imm   uint64 // opImm: bits, two's complement; opLabel: target; opAddress: offset
	name  string // opSpecial, opName
	sym   *variable
	fn    *function
	sub   []operand
	at    place
}

// register is one virtual register of a function.
type register struct {
	name string
	typ  string // as declared: pred, b32, f32, ...
	bits uint8  // 1, 8, 16, 32, 64, 128
}

// variable is a named piece of memory.
type variable struct {
	name   string
	space  string // global, const, shared, local, param
	typ    string
	align  int64
	size   int64 // bytes; 0 for an array of unknown size
	extern bool
	init   []byte
	fixups []fixup
	ptr    bool
	at     place
	index  int   // of a parameter, in order
	offset int64 // in its space, once laid out
}

// fixup is an initializer that is another variable's address.
type fixup struct {
	at, width int64
	name      string
	generic   bool
	add       int64
}

// function is an entry or a .func.
type function struct {
	name   string
	entry  bool
	params []*variable
	rets   []*variable
	locals []*variable // .local and .param of the body
	shared []*variable
	regs   []register
	body   []instr
	at     place
	decl   bool // no body seen yet

	reqThreads, maxThreads, reqCluster [3]uint32
}

// scope is a pair of braces: registers, variables and labels live in it.
type scope struct {
	parent *scope
	regs   map[string]int32
	ranges map[string]regRange // %r<11>
	vars   map[string]*variable
	labels map[string]int
}

type regRange struct {
	typ   string
	bits  uint8
	count int64
}

func newScope(parent *scope) *scope {
	return &scope{parent: parent, regs: map[string]int32{}, ranges: map[string]regRange{},
		vars: map[string]*variable{}, labels: map[string]int{}}
}

func (s *scope) variable(name string) *variable {
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

// typeBits is the width of a fundamental type, 0 when it is none.
func typeBits(t string) int {
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
