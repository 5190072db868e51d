package ptx

import "aliascheck/rules/ptx/syntax"

// code is one lowered instruction: registers are slots, constants are slots
// that never change, calls are inlined. Several codes may come of one
// instruction.
type code struct {
	run func(s *threadGroup, c *code)

	// What instructions without side effects need.
	fn         scalar
	loop       func(c *code, out, a, b, d []uint64) bool // the same for a block; false: not for these
	alg        algebra
	cmp        comparison
	bits       uint8 // of the result
	bits0      uint8 // of the sources, where they differ
	fromBits   uint8 // of a conversion
	signed     bool
	fromSigned bool
	flags      uint8
	imm        uint64

	dst     int32
	dsts    []int32 // of instructions with several results; -1 is a sink
	src     []int32
	srcMask [4]uint64
	guard   int32 // slot, -1 none
	not     bool

	index int32               // of this code, for memos
	in    *syntax.Instruction // where it comes from
	orig  int32               // number of the instruction in the program

	mem  *memOp
	sync *syncOp
	bulk *bulkOp

	matrices []sharedMatrix // of wgmma, whose descriptors are src

	term terminator
	to   []int32 // code indices, later blocks
	env  *environment

	effect    bool    // has an effect besides dst: never sliced away
	needs     []int32 // slots that must be computed whatever the mode
	wants     []int32 // of a code with an effect: slots that must be computed where its results must
	needed    bool
	decides   bool // what it loads or stores can reach an address, a guard or a branch
	hoisted   bool
	isNothing bool
	opaque    bool // gives what is not computed
	lanes     bool // the values that a warp-wide instruction gives
}

type terminator uint8

const (
	termNone   terminator = iota
	termJump              // to[0]
	termBranch            // to[0] where the guard holds, else the next code
	termExit
	termIndex // to[src[0]]
)

type comparison uint8

const (
	cmpEQ comparison = iota
	cmpNE
	cmpLT
	cmpLE
	cmpGT
	cmpGE
	cmpEQU // unordered floats count as equal, and so on
	cmpNEU
	cmpLTU
	cmpLEU
	cmpGTU
	cmpGEU
	cmpNUM // neither is NaN
	cmpNAN
)

// basicBlock is a run of codes with one entry and one exit.
type basicBlock struct {
	start, end int32 // codes
	count      int64 // instructions of the kernel as written
	term       terminator
	last       *code
	to         []int32 // blocks
	join       int32   // immediate post-dominator; -1 the exit
	ends       bool    // the exit can be reached from it
	live       []int32 // slots alive at its start; nil: all
	index      int32
	idle       *idleRegion // of the branch at its end, where that is idle
	sliced     []*code     // what runs
}

// program is an entry ready to run.
type program struct {
	entry   *syntax.Entry
	fn      *syntax.Function
	codes   []*code
	blocks  []*basicBlock
	slots   []slotInfo
	consts  []constant            // slots with a fixed value
	instrs  []*syntax.Instruction // by number
	inputs  []int32               // registers that may be read before they are written
	shared  int64                 // bytes of static shared memory, from sharedBase
	frame   int64                 // bytes of local memory per thread
	globals []global
	hasBars bool
	flights bool // there are bulk copies or wgmma
	hasMaps bool // tensor maps are built: shared memory keeps its contents
}

type slotInfo struct {
	bits uint8
	name string
}

// constant presets a slot.
type constant struct {
	slot    int32
	value   uint64
	special string // "tid.x" and so on; empty for a plain number
	param   int    // number of the parameter, -1 none
	off     int64  // bytes in the parameter
	size    int    // bytes
}
