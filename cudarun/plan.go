// Package cudarun runs the kernels of custom calls on a real NVIDIA GPU, with
// their buffers apart and with the sharing that a buffer assignment has, and
// compares the results bit by bit.
//
// In: Plans, plain structs that hold everything a launch needs. Out: Outcomes,
// plain structs of counts. Between them stand a worker process (a fault or a hang
// costs one replay, never the audit), a narrow device interface, and libcuda
// called through purego: no cgo, no CUDA headers. All sizes and offsets are bytes.
//
// The launch convention is jaxlib's (jaxlib/gpu/triton_kernels.cc); the driver API
// is that of cuda.h.
package cudarun

import (
	"aliascheck/cudarun/driver"
	"aliascheck/rules/replay"
)

// Plan is one custom call, ready to be replayed. It is plain data: it can be
// written as JSON (Contents travel beside it) and compared by content.
//
// Buffers are numbered as jaxlib numbers them: the call's operands, then its
// results, flattened; bystanders (see Role) follow after both.
type Plan struct {
	// Name is for people: it takes no part in the comparison of plans.
	Name string `json:"name"`

	// Kernels are the configurations of the call; a call that is not autotuned
	// has one. Each is replayed on its own.
	Kernels []Kernel `json:"kernels"`

	Buffers []Buffer `json:"buffers"`

	// Shared says where each buffer lies in the shared runs: one entry a
	// buffer. nil: there is no shared run.
	Shared []replay.Place `json:"shared,omitempty"`

	// Trials is the autotuner's sequence to replay; nil: none.
	Trials *Trials `json:"trials,omitempty"`

	// FloatAtomics says that the kernel adds floating-point numbers atomically:
	// their order is free, so results are compared within Tolerance.
	FloatAtomics bool `json:"float_atomics,omitempty"`
	// Tolerance is relative to the larger of the two magnitudes and to the
	// largest magnitude of the reference; 0 with FloatAtomics: DefaultTolerance.
	Tolerance float64 `json:"tolerance,omitempty"`
}

// DefaultTolerance is what floating-point atomics get where a plan says nothing:
// room for the different rounding of sums in another order, in float32.
const DefaultTolerance = 1e-4

// Kernel is one configuration: code, and how it is launched.
type Kernel struct {
	Entry       string `json:"entry"`                 // the .entry of the PTX, or the cubin's symbol
	Description string `json:"description,omitempty"` // the autotuner's words for it

	PTX   []byte `json:"ptx,omitempty"`
	Cubin []byte `json:"cubin,omitempty"` // used where it fits the card
	// Capability is that of the code, as 10*major+minor (90), 0 where unknown.
	Capability int `json:"capability,omitempty"`

	Grid    [3]uint32 `json:"grid"`    // blocks
	Block   [3]uint32 `json:"block"`   // threads
	Cluster [3]uint32 `json:"cluster"` // blocks of a cluster; zeros and ones: none
	Shared  uint32    `json:"shared"`  // dynamic shared memory, bytes

	Params []Param `json:"params"`
	// Zero lists the fills that stand before the first instruction (bytes_to_zero).
	Zero []Zero `json:"zero,omitempty"`
}

// ParamKind says what a kernel parameter is.
type ParamKind string

// The kinds of parameters.
const (
	ParamBuffer  ParamKind = "buffer"  // a pointer into a buffer
	ParamScalar  ParamKind = "scalar"  // raw bytes, by value
	ParamScratch ParamKind = "scratch" // a pointer to memory that nobody else uses; null where Bytes is 0
	ParamNull    ParamKind = "null"    // a null pointer (the profiling buffer)
	ParamTensor  ParamKind = "tensor"  // TMA descriptors of buffers, by value
)

// Param is one parameter of the entry, in order.
type Param struct {
	Kind         ParamKind `json:"kind"`
	Buffer       int       `json:"buffer,omitempty"`       // ParamBuffer: which
	Offset       int64     `json:"offset,omitempty"`       // ParamBuffer: bytes from its start
	Divisibility int64     `json:"divisibility,omitempty"` // ParamBuffer: what jaxlib demands of the address; 0: nothing
	Scalar       []byte    `json:"scalar,omitempty"`       // ParamScalar: little-endian, 1, 2, 4 or 8 bytes
	Bytes        int64     `json:"bytes,omitempty"`        // ParamScratch: its size for the whole launch
	Align        int64     `json:"align,omitempty"`        // ParamScratch
	// Tensors are, of a ParamTensor, what the driver encodes with the buffers' addresses:
	// one descriptor after the other.
	Tensors []Tensor `json:"tensors,omitempty"`
}

// Tensor is a TMA descriptor of a buffer.
type Tensor struct {
	Buffer int               `json:"buffer"`
	Offset int64             `json:"offset,omitempty"` // bytes from the buffer's start
	Map    *driver.TensorMap `json:"map"`
}

// Zero is a fill with zeros before a launch.
type Zero struct {
	Buffer int   `json:"buffer"`
	Bytes  int64 `json:"bytes"`
}

// Role says what a buffer is to the call.
type Role string

// The roles of buffers.
const (
	Operand Role = "operand"
	Result  Role = "result"
	// Bystander is memory that the call neither takes nor gives, but that the
	// buffer assignment puts under one of its buffers: an entry parameter
	// whose allocation holds a result (AC302).
	Bystander Role = "bystander"
)

// NoBuffer stands where a buffer number is not given.
const NoBuffer = -1

// Buffer is one array of the call.
type Buffer struct {
	Label   string `json:"label,omitempty"` // for people: "operand 0", "result {1}"
	Role    Role   `json:"role"`
	Bytes   int64  `json:"bytes"`
	Element string `json:"element"` // XLA's name of the element type: f32, bf16, s32, pred, ...

	// Claims is, for a result that a declared pair names, the operand's buffer
	// number; NoBuffer for all others.
	Claims int `json:"claims"`

	// Contents are the initial bytes of an operand or bystander, Bytes long, or
	// nil for a value without contents (AllocateBuffer): it starts poisoned.
	// A result's are nil.
	Contents []byte `json:"-"`
	// Origin says in words where the contents come from (the recipe and seed).
	Origin string `json:"origin,omitempty"`

	// Ready says that the contents are there before the program runs: an entry
	// parameter or a constant. Trials in the initialize phase see only these.
	Ready bool `json:"ready,omitempty"`
}

// Phase says when a call is autotuned.
type Phase string

// The two phases: triton_kernel_call's, and triton_kernel_call_ffi's (jaxlib/gpu/triton.cc).
const (
	PhaseExecute    Phase = "execute"    // when the call executes: contents are there
	PhaseInitialize Phase = "initialize" // before any instruction of the program ran
)

// Trials is how jaxlib's autotuner runs the configurations before it chooses one.
type Trials struct {
	Phase   Phase       `json:"phase"`
	Entries []SaveEntry `json:"entries,omitempty"`
	// Repeats is how often each configuration runs in the second round; jaxlib
	// takes up to 100. 0: DefaultRepeats.
	Repeats int `json:"repeats,omitempty"`
}

// DefaultRepeats is enough to show that trials work on each other's results.
const DefaultRepeats = 3

// SaveEntry is an input_output_aliases entry of an autotuned call: the numbers as
// they are written, nothing says that such buffers exist.
type SaveEntry struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Bytes  int64 `json:"bytes"`
}
