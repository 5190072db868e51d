package ptx

import "aliascheck/rules/ptx/syntax"

// Launch is one kernel launch: what the machine runs.
//
// Buffers stand far apart in a virtual address space. In a run "apart" every
// operand and result has a buffer of its own; in a run "shared" several Args
// point into one buffer, at the offsets that the assignment gives them.
type Launch struct {
	Entry         *syntax.Entry
	Grid          [3]uint32 // blocks in x, y and z, clusters counted out
	Block         [3]uint32 // threads of a block; zero values are taken from .reqntid
	Cluster       [3]uint32 // blocks of a cluster; where it names at most one, .reqnctapercluster counts
	DynamicShared uint32    // bytes of dynamic shared memory

	Args    []Arg    // one per parameter of the entry
	Buffers []Buffer // what the Args point into

	Budget       Budget
	Order        Order
	Seed         uint64 // of the shuffled order
	Mode         Mode
	Workers      int // goroutines that run blocks; below 1 means 1
	SampleBlocks int // run about this many blocks, evenly spread; 0 runs all

	// StopOutside ends the run at the first touch outside of the buffers: the Outcome
	// has it, and is not analysed. For contents that were made up, and are no use then.
	StopOutside bool

	// Unrecorded leaves Effects empty, and no pair can be judged: Contents are all that
	// is wanted, which cost a fraction.
	Unrecorded bool
}

// Arg is the value of one parameter: a pointer into a buffer, bytes, or tensor maps.
type Arg struct {
	Buffer int    // index in Launch.Buffers; -1 where it is no pointer
	Offset int64  // bytes from the buffer's start
	Zero   int64  // bytes set to zero through this pointer before the first instruction (bytes_to_zero)
	Bytes  []byte // a scalar's value, little endian; shorter than the parameter means zero-extended

	// Tensors are tensor maps that the host encoded, which the parameter holds by value,
	// one after the other (128 bytes each). Buffer is then -1.
	Tensors []HostMap
}

// HostMap is a tensor map of the memory at Offset bytes of a buffer. The GlobalAddress,
// Buffer and Offset of Map do not count.
type HostMap struct {
	Map    *Descriptor
	Buffer int // index in Launch.Buffers
	Offset int64
}

// Pointer is an Arg that points at the start of a buffer.
func Pointer(buffer int) Arg { return Arg{Buffer: buffer} }

// Scalar is an Arg with a value of its own; Scalar(make([]byte, 8)) is a null pointer.
func Scalar(value []byte) Arg { return Arg{Buffer: -1, Bytes: value} }

// Buffer is a range of global memory.
type Buffer struct {
	Name string
	Size int64 // bytes

	// Contents before the launch, Size bytes, never written to; nil when they
	// are not known. A value read from unknown contents is opaque: if it
	// reaches an address, a guard or a branch, the launch is not analysed.
	Contents []byte

	// Scratch marks memory that belongs to the launch alone (Triton's global
	// scratch): it has no contents and no place in any verdict.
	Scratch bool
}

// Budget bounds a run. Zero values take the defaults below. Time is bounded by
// the context of Run.
type Budget struct {
	Steps  int64 // thread-instructions, counted as the kernel has them
	Memory int64 // bytes of records, registers, shared and written global memory
}

// Defaults of a Budget.
const (
	DefaultSteps  = 40_000_000_000
	DefaultMemory = 2 << 30
)

// Order is the order in which blocks run, one after another.
type Order int

// The orders.
const (
	Forward Order = iota
	Backward
	Shuffled
)

// Mode says how much is computed. The record of reads and writes is the same.
type Mode int

// The modes.
const (
	// Sliced computes only what reaches an address, a guard, a branch or a
	// barrier, and falls back to Full where stores must be kept for later loads.
	Sliced Mode = iota
	// Full computes every value, and keeps the buffers' final contents.
	Full
)
