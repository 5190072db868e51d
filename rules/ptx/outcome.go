package ptx

import (
	"fmt"
	"path"

	"aliascheck/rules/ptx/syntax"
)

// Range is a half-open interval of bytes of a buffer.
type Range struct{ Start, End int64 }

// Access is one thread's touch of memory, and where the kernel says it.
type Access struct {
	Block       [3]uint32
	Thread      [3]uint32
	PTXLine     int    // line of the PTX text, from 1
	File        string // of the kernel's source, where .loc says
	Line        int    // of File; 0 where the PTX has no .loc
	Instruction string // such as "ld.global.v4.b32"
}

// place names the line: of the kernel's source and beside it of the PTX, or of
// the PTX alone where it has no .loc.
func (a *Access) place() string {
	if a.Line > 0 && a.File != "" {
		return fmt.Sprintf("%s:%d (PTX line %d)", syntax.Clip(path.Base(a.File)), a.Line, a.PTXLine)
	}
	return fmt.Sprintf("line %d", a.PTXLine)
}

// told is a reason that speaks of the access.
func (a *Access) told(why string) string {
	return a.place() + ": " + syntax.Clip(a.Instruction) + ": " + why
}

// Outcome is what a launch did.
type Outcome struct {
	Analysed bool   // false: Reason says why, and nothing else counts
	Reason   string // names the instruction and its line where there is one
	Line     int    // PTX line that Reason speaks of; 0 where none

	// Complete: every block and thread ran, and no address, guard, branch, trip
	// count, src-size or shuffle source of an access depended on contents.
	Complete    bool
	AddressFrom []int   // buffers whose contents reached one of these, ascending
	Sides       []Side  // where contents decided which way threads went, by line
	Steered     []bool  // by buffer: contents may decide which accesses to it there are
	Sampled     bool    // only some blocks ran
	MemoryOrder *Access // the kernel waits for what another thread stores to memory: order is unknown

	Effects     []Effects // one per buffer
	OutOfBounds []Stray   // touches outside every buffer, the first of each instruction
	Hang        *Hang
	LateCopies  []LateCopy
	Descriptors []Descriptor
	Contents    []Final // Full mode: one per buffer
	Stats       Stats

	record *accessRecord
}

// Effects is what a launch did to one buffer. Ranges are merged and ascending.
type Effects struct {
	Read    []Range // loads and asynchronous reads; atomics are not in here
	Written []Range // plain stores, asynchronous writes, and bytes zeroed before the launch
	Atomic  []Range // atomic updates
	Zeroed  []Range // zeroed before the launch (also in Written)

	// ReadFirst are bytes read or atomically updated although no plain write is
	// ordered before (bytes that are zeroed never are). Elsewhere are those of
	// them where another block's write may come first.
	ReadFirst []Range
	Elsewhere []Range
	FirstRead *Access // one access to ReadFirst without Elsewhere, else to Elsewhere

	OldRead   bool    // some byte's contents from before the launch are read, or may be
	Reaches   bool    // a value read from here reaches a result, an address or a branch
	WrittenBy *Access // one plain store or atomic
	ReadBy    *Access
}

// Untouched says that no byte was read or written.
func (e *Effects) Untouched() bool {
	return len(e.Read) == 0 && len(e.Written) == 0 && len(e.Atomic) == 0
}

// Stray is a touch outside every buffer.
type Stray struct {
	Access
	Space   string // global, shared, local, param
	Address uint64 // as the kernel computed it
	Size    int    // bytes
	Write   bool
	Nearest int   // buffer that the address is next to, or was computed from; -1 unknown
	Offset  int64 // of Address in Nearest
	Count   int64 // touches by this instruction
}

// Hang is a launch that cannot end.
type Hang struct {
	Access         // one thread that waits
	Reason  string // what it waits for
	Waiting int    // threads of the block that wait
}

// LateCopy is shared memory used while an asynchronous access to it may be on its way.
type LateCopy struct {
	Copy   Access // issued the copy, or the wgmma, that nobody has waited for
	Use    Access // stored to, or read, the bytes
	Write  bool   // Use stores
	Reads  bool   // Copy reads the bytes: a bulk copy out of shared memory, or a wgmma
	Matrix bool   // Copy is a wgmma
	Byte   uint64 // offset in the block's shared memory
	Count  int64  // bytes, over the launch, for this pair of instructions
}

// Descriptor is a tensor map that the kernel built and used, in the numbering
// of the PTX ISA's tensormap.replace (not of the driver's API).
type Descriptor struct {
	Access               // the first use of this descriptor
	Address       uint64 // where the descriptor lies (generic)
	GlobalAddress uint64
	Buffer        int   // that GlobalAddress lies in; -1 none
	Offset        int64 // of GlobalAddress in Buffer
	Rank          int   // dimensions, 1 to 5
	ElemType      uint32
	Interleave    uint32
	Swizzle       uint32
	SwizzleAtom   uint32
	Fill          uint32
	GlobalDim     [5]uint64
	GlobalStride  [4]uint64 // bytes
	BoxDim        [5]uint32
	ElementStride [5]uint32
	Missing       []string // fields that were never set
}

// Final is what a buffer holds after the launch.
type Final struct {
	Bytes []byte
	// Opaque are the bytes whose value is not known: never computed, or from
	// unknown contents. Bytes is zero there.
	Opaque []Range
}

// Stats counts work.
type Stats struct {
	Blocks       int64
	Instructions int64 // thread-instructions of the kernel as written
	Executed     int64 // instructions really executed, one per group of threads
	ShadowBytes  int64 // memory of the record
	Full         bool  // the full way ran
}

// Safety is a verdict's word.
type Safety int

// The verdicts.
const (
	Unknown Safety = iota
	Safe
	Unsafe
)

func (s Safety) String() string {
	switch s {
	case Safe:
		return "safe"
	case Unsafe:
		return "unsafe"
	}
	return "unknown"
}

// Verdict says whether an operand and a result may share memory.
type Verdict struct {
	Safety  Safety
	Reason  string // for Unknown, and for Unsafe in one sentence
	Witness *Witness
}

// Witness is a byte that is read through the operand and not before it is
// written through the result.
type Witness struct {
	Byte   int64 // offset in the result, in bytes
	Reader Access
	Writer Access // the zero Access with Zeroed for bytes zeroed before the launch
	Zeroed bool
}
