// Package triton reads the kernel calls inside the custom calls that jaxlib makes
// for Triton kernels.
//
// In: a custom call's target and its backend_config. Out: a Call, with every kernel
// that the call may launch, its grid and its parameters, and Bind, which says which
// buffer each pointer stands for. Sizes are bytes.
//
// The bytes of a Call come from an untrusted file: they are decoded within a limit
// and counted before they are kept, but numbers such as the grid are handed on as
// written. Geometry and Bind check them.
//
// Formats: jaxlib/gpu/triton.proto and jaxlib/gpu/triton_kernels.cc; MLIR's
// attribute dictionaries (mlir.llvm.org/docs/LangRef, "Dictionary Attribute").
package triton

import (
	"fmt"
	"math"
)

// Target names a custom call whose backend_config this package decodes.
type Target string

// The two conventions.
const (
	TargetRaw Target = "triton_kernel_call"     // API version 2: the compressed bytes as they are
	TargetFFI Target = "triton_kernel_call_ffi" // typed FFI: a dictionary that holds them as a string
)

// IsTarget reports whether a custom call of this target carries a Triton call.
func IsTarget(target string) bool {
	return target == string(TargetRaw) || target == string(TargetFFI)
}

// Call is a kernel call: one kernel, or the configurations of an autotuned one.
type Call struct {
	Name      string
	Autotuned bool     // a single configuration is tuned too
	Kernels   []Kernel // never empty
	Aliases   []InOut  // what the autotuner was told of shared buffers
}

// InOut is an entry of the autotuner's input_output_aliases, as written. Both
// numbers count in operands followed by results, flattened.
type InOut struct {
	Input, Output int64
	Size          uint64 // bytes that are saved and put back
}

// Kernel is one compiled kernel with the launch that runs it.
type Kernel struct {
	Name        string // the entry's name in PTX
	Description string // of a configuration
	PTX         []byte
	TTIR        []byte
	Cubin       []byte // compiled ahead of time, mostly absent
	CubinEntry  string
	CubinShared uint32

	Capability   int32 // 90 is sm_90
	Warps        uint32
	SharedBytes  uint32    // dynamic shared memory of a block
	NumCTAs      uint32    // blocks of a cluster, along x
	ClusterDims  [3]uint32 // older jaxlib's clusters; zero where absent
	ScratchSize  uint32    // global scratch of one block
	ScratchAlign uint32

	Grid   [3]uint32 // clusters in x, y, z
	Params []Param
}

// Pointers counts the parameters that take a buffer: the k-th of them takes the
// k-th buffer, operands first. There may be fewer than buffers.
func (k *Kernel) Pointers() int {
	n := 0
	for _, p := range k.Params {
		if p.Kind == Array || p.Kind == Descriptor {
			n++
		}
	}
	return n
}

// ParamKind is what a kernel parameter is.
type ParamKind uint8

// The kinds. Other is one that this package does not know.
const (
	Other ParamKind = iota
	Array           // a pointer to a buffer
	Scalar
	Descriptor // a TMA descriptor of a buffer, by value
)

// Param is one kernel parameter.
type Param struct {
	Kind         ParamKind
	Type         string // of a scalar: bool, i32, u32, i64, u64, f32, f64; of another: what the file calls it
	Bits         uint64 // of a scalar, little-endian in its low Size bytes
	Size         uint8  // of a scalar
	BytesToZero  uint64 // of an array: a memset before the kernel's first instruction
	Divisibility uint64 // of an array: what the pointer must be a multiple of
	Tensor       *TensorDescriptor
}

// TensorDescriptor has the numbers of a TMA descriptor that jaxlib encodes on the
// host, outermost dimension first, as written: rank and ranges are not checked.
// ElemType and Swizzle count as cuTensorMapEncodeTiled does.
type TensorDescriptor struct {
	ElemType, Swizzle, OOBFill uint32
	Shape                      []uint64
	Strides                    []uint64 // in elements
	BlockShape                 []uint32
}

// Geometry is a launch's shape, checked against CUDA's limits.
type Geometry struct {
	Grid    [3]uint32 // blocks
	Block   [3]uint32 // threads
	Cluster [3]uint32 // blocks of a cluster; {1,1,1} without
	Blocks  int64
	Threads int64 // of a block
}

// CUDA's limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
const (
	maxGridX   = math.MaxInt32
	maxGridYZ  = 65535
	maxWarps   = 32
	maxCluster = 16 // 8 is portable, 16 an opt-in
	warpSize   = 32
)

// Geometry gives the launch as jaxlib makes it: blocks of 32×Warps threads, and a
// grid of clusters. It fails where the driver would refuse the numbers.
func (k *Kernel) Geometry() (Geometry, error) {
	g := Geometry{Cluster: [3]uint32{1, 1, 1}}
	switch {
	case k.NumCTAs > 1:
		g.Cluster[0] = k.NumCTAs
	case k.ClusterDims != [3]uint32{}:
		g.Cluster = k.ClusterDims
	}
	if n := uint64(g.Cluster[0]) * uint64(g.Cluster[1]); n == 0 || n > maxCluster ||
		g.Cluster[2] == 0 || n*uint64(g.Cluster[2]) > maxCluster {
		return Geometry{}, fmt.Errorf("kernel %s: a cluster of %v blocks; CUDA allows 1 to %d", k.Name, g.Cluster, maxCluster)
	}
	if k.Warps == 0 || k.Warps > maxWarps {
		return Geometry{}, fmt.Errorf("kernel %s: %d warps; CUDA allows 1 to %d", k.Name, k.Warps, maxWarps)
	}
	g.Block = [3]uint32{warpSize * k.Warps, 1, 1}
	g.Threads = int64(g.Block[0])
	g.Blocks = 1
	for i, limit := range [3]uint64{maxGridX, maxGridYZ, maxGridYZ} {
		n := uint64(k.Grid[i]) * uint64(g.Cluster[i])
		if n == 0 || n > limit {
			return Geometry{}, fmt.Errorf("kernel %s: grid %v with clusters of %v; CUDA allows 1 to %d blocks along %c",
				k.Name, k.Grid, g.Cluster, limit, "xyz"[i])
		}
		g.Grid[i] = uint32(n)
		if g.Blocks > math.MaxInt64/int64(n) {
			return Geometry{}, fmt.Errorf("kernel %s: grid %v: too many blocks to count", k.Name, k.Grid)
		}
		g.Blocks *= int64(n)
	}
	return g, nil
}
