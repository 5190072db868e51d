package emulate

import (
	"fmt"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"
	"aliascheck/rules/tensormap"
)

// hostDescriptor turns a TMA descriptor that the host encodes before the launch into
// the machine's words: innermost dimension first, strides in bytes, and the numbers
// of the PTX ISA where the driver has others. One that is refused runs nowhere.
func hostDescriptor(t *kernel.TensorMap) (*ptx.Descriptor, error) {
	d, j := replay.JudgeTensorMap(t)
	elemType, ok := deviceElement(d.DataType)
	if j.Verdict == tensormap.Refused || !ok {
		return nil, fmt.Errorf("a TMA descriptor that the driver refuses")
	}
	out := &ptx.Descriptor{Rank: d.Rank, ElemType: elemType, Swizzle: t.Swizzle, Fill: t.OOBFill}
	copy(out.GlobalDim[:], d.Dims)
	copy(out.GlobalStride[:], d.Strides)
	for i := range d.Box {
		out.BoxDim[i], out.ElementStride[i] = uint32(d.Box[i]), 1
	}
	return out, nil
}

// deviceElement translates an element type of the driver's API (cuda.h,
// CUtensorMapDataType) to that of tensormap.replace (PTX ISA, .elemtype).
func deviceElement(t tensormap.DataType) (uint32, bool) {
	switch {
	case t < 0 || t > tensormap.TFloat32FTZ:
		return 0, false
	case t == tensormap.Float64:
		return 9, true
	case t == tensormap.BFloat16:
		return 10, true
	case t == tensormap.Float32FTZ:
		return 8, true
	}
	return uint32(t), true
}
