package cudarun

import (
	"fmt"

	"aliascheck/cudarun/driver"
	"aliascheck/hlo/kernel"
)

// tensorMap turns a call's descriptor into the driver's arguments: innermost
// dimension first, strides in bytes. The promotion to the L2 cache, which jaxlib
// chooses and which changes no result, is left out.
func tensorMap(t *kernel.TensorMap) (*driver.TensorMap, error) {
	rank := len(t.Shape)
	size := tensorElementBytes(t.ElemType)
	if rank < 1 || rank > 5 || len(t.Strides) != rank || len(t.BlockShape) != rank || size == 0 {
		return nil, fmt.Errorf("a TMA descriptor of %d sizes, %d strides, a box of %d and elements of type %d", rank, len(t.Strides), len(t.BlockShape), t.ElemType)
	}
	m := &driver.TensorMap{DataType: t.ElemType, Rank: uint32(rank), Swizzle: t.Swizzle, OOBFill: t.OOBFill}
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
