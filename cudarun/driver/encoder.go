package driver

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// TensorMap are the arguments of cuTensorMapEncodeTiled, or of cuTensorMapEncodeIm2col,
// in the driver's own numbers. Arrays are innermost first, Strides (of dimensions 1
// to Rank-1) in bytes.
type TensorMap struct {
	Im2col bool
	// Skew is how far the CUtensorMap lies past a multiple of 64 bytes.
	Skew uint64
	// Address is the tensor's. The driver is given memory of this process at the same
	// distance from a multiple of 256 bytes; 0 stays NULL.
	Address uint64

	DataType, Rank, Interleave, Swizzle, L2Promotion, OOBFill uint32
	Dims, Strides                                             []uint64
	Box, ElementStrides                                       []uint32
	LowerCorner, UpperCorner                                  []int32
	ChannelsPerPixel, PixelsPerColumn                         uint32
}

// TensorMapEncoder asks the driver about descriptors. It runs host code only: no
// kernel is launched. It belongs to the goroutine that opened it, which stays on its
// OS thread until Close.
type TensorMapEncoder struct {
	card   *card
	tensor Address // device memory that stands for any tensor
}

const (
	EncodeTiled  = "cuTensorMapEncodeTiled"
	encodeIm2col = "cuTensorMapEncodeIm2col"
)

// tensorBytes is the device memory behind the addresses that the driver is given.
const tensorBytes = 512

// OpenTensorMapEncoder opens the driver and the ordinal-th device. The error says in
// one line why the driver cannot be asked.
func OpenTensorMapEncoder(ordinal int) (*TensorMapEncoder, error) {
	lib, err := OpenLibrary(LibraryName)
	if err != nil {
		return nil, err
	}
	return NewTensorMapEncoder(lib, ordinal)
}

// NewTensorMapEncoder opens the ordinal-th device behind an opened library.
func NewTensorMapEncoder(lib Library, ordinal int) (*TensorMapEncoder, error) {
	runtime.LockOSThread()
	e, err := openEncoder(lib, ordinal)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	return e, nil
}

func openEncoder(lib Library, ordinal int) (*TensorMapEncoder, error) {
	d, err := OpenCard(lib, ordinal)
	if err != nil {
		return nil, err
	}
	e := &TensorMapEncoder{card: d.(*card)}
	for _, name := range []string{EncodeTiled, encodeIm2col} {
		at, err := lib.Lookup(name)
		if err != nil || at == 0 {
			e.card.Close()
			return nil, fmt.Errorf("%s has no %s: it came with CUDA 12.0", lib.name, name)
		}
		e.card.d.symbols[name] = at
	}
	if e.tensor, err = e.card.Alloc(tensorBytes); err != nil {
		e.card.Close()
		return nil, err
	}
	return e, nil
}

// Device is the card whose driver is asked.
func (e *TensorMapEncoder) Device() DeviceInfo { return e.card.about }

// Close gives everything back.
func (e *TensorMapEncoder) Close() error {
	err := errors.Join(e.card.Free(e.tensor), e.card.Close())
	runtime.UnlockOSThread()
	return err
}

// mostArray is the room that each array has: more than any rank that the driver
// reads, so that it cannot read past the end.
const mostArray = 8

// encodeArguments are the arrays and the descriptor, in one block that does not move.
type encodeArguments struct {
	tensorMap    [256]byte // 128 used, from a multiple of 64
	dims         [mostArray]uint64
	strides      [mostArray]uint64
	box, steps   [mostArray]uint32
	lower, upper [mostArray]int32
}

// Encode asks the driver, and returns its CUresult: 0 accepted, 1 refused. An error
// says that the arguments cannot be passed at all.
func (e *TensorMapEncoder) Encode(m TensorMap) (int, error) {
	if m.Rank > mostArray || len(m.Dims) > mostArray || len(m.Strides) > mostArray || len(m.Box) > mostArray ||
		len(m.ElementStrides) > mostArray || len(m.LowerCorner) > mostArray || len(m.UpperCorner) > mostArray {
		return 0, fmt.Errorf("tensor map of rank %d: at most %d entries are passed to the driver", m.Rank, mostArray)
	}
	a := new(encodeArguments)
	copy(a.dims[:], m.Dims)
	copy(a.strides[:], m.Strides)
	copy(a.box[:], m.Box)
	copy(a.steps[:], m.ElementStrides)
	copy(a.lower[:], m.LowerCorner)
	copy(a.upper[:], m.UpperCorner)
	start := uintptr(unsafe.Pointer(&a.tensorMap[0]))
	at := (64 - start%64) % 64
	at += uintptr(m.Skew % 64)
	tensor := uintptr(0)
	if m.Address != 0 {
		tensor = uintptr(e.tensor) + uintptr(m.Address%256)
	}
	err := e.encode(a, at, tensor, &m)
	var refused *DriverError
	if errors.As(err, &refused) {
		return refused.Code, nil
	}
	return 0, err
}

func (e *TensorMapEncoder) encode(a *encodeArguments, at, tensor uintptr, m *TensorMap) error {
	if m.Im2col {
		return e.card.d.call(encodeIm2col, uintptr(unsafe.Pointer(&a.tensorMap[at])), uintptr(m.DataType), uintptr(m.Rank), tensor,
			uintptr(unsafe.Pointer(&a.dims[0])), uintptr(unsafe.Pointer(&a.strides[0])),
			uintptr(unsafe.Pointer(&a.lower[0])), uintptr(unsafe.Pointer(&a.upper[0])),
			uintptr(m.ChannelsPerPixel), uintptr(m.PixelsPerColumn), uintptr(unsafe.Pointer(&a.steps[0])),
			uintptr(m.Interleave), uintptr(m.Swizzle), uintptr(m.L2Promotion), uintptr(m.OOBFill))
	}
	return e.card.d.call(EncodeTiled, uintptr(unsafe.Pointer(&a.tensorMap[at])), uintptr(m.DataType), uintptr(m.Rank), tensor,
		uintptr(unsafe.Pointer(&a.dims[0])), uintptr(unsafe.Pointer(&a.strides[0])),
		uintptr(unsafe.Pointer(&a.box[0])), uintptr(unsafe.Pointer(&a.steps[0])),
		uintptr(m.Interleave), uintptr(m.Swizzle), uintptr(m.L2Promotion), uintptr(m.OOBFill))
}
