package tensormap

import "fmt"

// TritonFields are a tensor_descriptor parameter of a Triton kernel call
// (jaxlib/gpu/triton.proto, TritonKernelCall.Parameter field 9, backend nvidia). The
// arrays are row-major, outermost first, and of equal length; strides count
// elements. Type, swizzle and fill are in the driver's numbers.
type TritonFields struct {
	ElemType   uint64
	Swizzle    uint64
	OOBFill    uint64
	Shape      []uint64
	Strides    []uint64
	BlockShape []uint64
	// Address of the buffer, where it is known.
	Address Raw
}

// FromTriton gives the descriptor that jaxlib encodes at launch: arrays reversed,
// strides in bytes without the innermost, no interleave, element strides 1 and L2
// promotion of 128 bytes. The violations are those of jaxlib's own checks that the
// driver does not make; jaxlib makes them before it asks the driver.
func FromTriton(f TritonFields) (Descriptor, []Violation) {
	d := Descriptor{
		Known:    FieldDataType | FieldRank | FieldInterleave | FieldSwizzle | FieldL2Promotion | FieldOOBFill,
		DataType: DataType(small(f.ElemType)), Rank: small(uint64(len(f.BlockShape))),
		Swizzle: Swizzle(small(f.Swizzle)), L2Promotion: 2, OOBFill: OOBFill(small(f.OOBFill)),
	}
	if f.Swizzle > 3 {
		d.Swizzle = 1 << 16 // not the 96 of this package
	}
	if f.Address.Known {
		d.Address, d.Known = f.Address.Value, d.Known|FieldAddress
	}
	var own []Violation
	refuse := func(parameter string, value any, needs string) {
		own = append(own, Violation{Parameter: parameter, Value: fmt.Sprint(value), Needs: needs,
			Why: "jaxlib checks it before it asks the driver", Enforced: true})
	}
	if f.Swizzle > 3 {
		refuse("swizzle", f.Swizzle, "0 to 3")
	}
	if f.OOBFill > 1 {
		refuse("oob_fill", f.OOBFill, "0 or 1")
	}
	if f.ElemType > uint64(TFloat32FTZ) {
		refuse("elem_type", f.ElemType, "0 to 12")
	}
	if len(f.Shape) != len(f.BlockShape) || len(f.Strides) != len(f.BlockShape) {
		refuse("shape, strides, block_shape", fmt.Sprintf("%d, %d and %d entries", len(f.Shape), len(f.Strides), len(f.BlockShape)), "as many entries each")
		return d, own
	}
	if d.Rank < 1 || d.Rank > MaxRank {
		return d, own
	}
	if inner := f.Strides[d.Rank-1]; inner != 1 {
		refuse(index("strides", d.Rank-1), inner, "1: the innermost dimension must be contiguous")
	}
	d.Known |= FieldDims | FieldStrides | FieldBox | FieldElementStrides
	for i := d.Rank - 1; i >= 0; i-- {
		d.Dims = append(d.Dims, f.Shape[i])
		d.Box = append(d.Box, f.BlockShape[i])
		d.ElementStrides = append(d.ElementStrides, 1)
	}
	for i := d.Rank - 2; i >= 0; i-- {
		d.Strides = append(d.Strides, times(f.Strides[i], d.DataType.Bits()/8))
	}
	return d, own
}

// JudgeTriton judges a tensor_descriptor parameter: jaxlib's own checks, then the rules.
func JudgeTriton(f TritonFields) (Descriptor, Judgement) {
	d, own := FromTriton(f)
	j := Judge(d)
	if len(own) > 0 {
		j.Verdict = Refused
		j.Violations = append(own, j.Violations...)
		if j.Cause.Kind == CauseNone {
			j.Cause = Cause{CauseRule, "jaxlib refuses the parameter before it asks the driver"}
		}
	}
	return d, j
}
