package cudarun

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"aliascheck/hlo/kernel"
)

// tensorMapBytes is sizeof(CUtensorMap).
const tensorMapBytes = 128

// encode makes the descriptor of a tensor at an address of this card.
func (c *card) encode(m *TensorMap, at address) ([]byte, error) {
	if !c.d.has(encodeTiled) {
		return nil, errors.New("the driver has no " + encodeTiled + ": it came with CUDA 12.0")
	}
	a := new(encodeArguments)
	copy(a.dims[:], m.Dims)
	copy(a.strides[:], m.Strides)
	copy(a.box[:], m.Box)
	copy(a.steps[:], m.ElementStrides)
	start := (64 - uintptr(unsafe.Pointer(&a.tensorMap[0]))%64) % 64
	err := c.d.call(encodeTiled, uintptr(unsafe.Pointer(&a.tensorMap[start])), uintptr(m.DataType), uintptr(m.Rank), uintptr(at),
		uintptr(unsafe.Pointer(&a.dims[0])), uintptr(unsafe.Pointer(&a.strides[0])),
		uintptr(unsafe.Pointer(&a.box[0])), uintptr(unsafe.Pointer(&a.steps[0])),
		uintptr(m.Interleave), uintptr(m.Swizzle), uintptr(m.L2Promotion), uintptr(m.OOBFill))
	if err != nil {
		return nil, fmt.Errorf("the driver refuses a TMA descriptor: %w", err)
	}
	return slices.Clone(a.tensorMap[start : start+tensorMapBytes]), nil
}

// check says what is wrong with a descriptor that a launch is to encode. What the
// driver itself judges is left to it.
func (m *TensorMap) check() error {
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

// tensorMap turns a call's descriptor into the driver's arguments: innermost
// dimension first, strides in bytes. The promotion to the L2 cache, which jaxlib
// chooses and which changes no result, is left out.
func tensorMap(t *kernel.TensorMap) (*TensorMap, error) {
	rank := len(t.Shape)
	size := tensorElementBytes(t.ElemType)
	if rank < 1 || rank > 5 || len(t.Strides) != rank || len(t.BlockShape) != rank || size == 0 {
		return nil, fmt.Errorf("a TMA descriptor of %d sizes, %d strides, a box of %d and elements of type %d", rank, len(t.Strides), len(t.BlockShape), t.ElemType)
	}
	m := &TensorMap{DataType: t.ElemType, Rank: uint32(rank), Swizzle: t.Swizzle, OOBFill: t.OOBFill}
	for i := rank - 1; i >= 0; i-- {
		m.Dims, m.Box, m.ElementStrides = append(m.Dims, t.Shape[i]), append(m.Box, t.BlockShape[i]), append(m.ElementStrides, 1)
		if i < rank-1 {
			if t.Strides[i] > 1<<40 {
				return nil, fmt.Errorf("a TMA descriptor with a stride of %d elements", t.Strides[i])
			}
			m.Strides = append(m.Strides, t.Strides[i]*size)
		}
	}
	return m, nil
}

// tensorElementBytes is the size of a CUtensorMapDataType, 0 for packed and unknown ones.
func tensorElementBytes(t uint32) uint64 {
	switch t {
	case 0: // u8
		return 1
	case 1, 6, 9: // u16, f16, bf16
		return 2
	case 2, 3, 7, 10, 11, 12: // u32, s32, f32 and its kinds
		return 4
	case 4, 5, 8: // u64, s64, f64
		return 8
	}
	return 0
}
