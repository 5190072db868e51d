package driver

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// TensorMapBytes is sizeof(CUtensorMap).
const TensorMapBytes = 128

// Encode makes the descriptor of a tensor at an address of this card.
func (c *card) Encode(m *TensorMap, at Address) ([]byte, error) {
	if !c.d.has(EncodeTiled) {
		return nil, errors.New("the driver has no " + EncodeTiled + ": it came with CUDA 12.0")
	}
	a := new(encodeArguments)
	copy(a.dims[:], m.Dims)
	copy(a.strides[:], m.Strides)
	copy(a.box[:], m.Box)
	copy(a.steps[:], m.ElementStrides)
	start := (64 - uintptr(unsafe.Pointer(&a.tensorMap[0]))%64) % 64
	err := c.d.call(EncodeTiled, uintptr(unsafe.Pointer(&a.tensorMap[start])), uintptr(m.DataType), uintptr(m.Rank), uintptr(at),
		uintptr(unsafe.Pointer(&a.dims[0])), uintptr(unsafe.Pointer(&a.strides[0])),
		uintptr(unsafe.Pointer(&a.box[0])), uintptr(unsafe.Pointer(&a.steps[0])),
		uintptr(m.Interleave), uintptr(m.Swizzle), uintptr(m.L2Promotion), uintptr(m.OOBFill))
	if err != nil {
		return nil, fmt.Errorf("the driver refuses a TMA descriptor: %w", err)
	}
	return slices.Clone(a.tensorMap[start : start+TensorMapBytes]), nil
}

// Check says what is wrong with a descriptor that a launch is to encode. What the
// driver itself judges is left to it.
func (m *TensorMap) Check() error {
	switch {
	case m == nil:
		return errors.New("no TMA descriptor")
	case m.Im2col:
		return errors.New("an im2col descriptor: jaxlib encodes tiled ones")
	case m.Rank < 1 || m.Rank > 5:
		return fmt.Errorf("a TMA descriptor of rank %d", m.Rank)
	case len(m.Dims) != int(m.Rank) || len(m.Strides) != int(m.Rank)-1 || len(m.Box) != int(m.Rank) || len(m.ElementStrides) != int(m.Rank):
		return fmt.Errorf("a TMA descriptor of rank %d with %d sizes, %d strides, a box of %d, %d element strides",
			m.Rank, len(m.Dims), len(m.Strides), len(m.Box), len(m.ElementStrides))
	}
	return nil
}
