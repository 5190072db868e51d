package tensormap

import (
	"fmt"
	"slices"
)

// Raw is one value that a tensormap.replace instruction wrote, in the PTX ISA's
// own numbering.
type Raw struct {
	Known bool
	Value uint64
}

// ReplaceFields are the fields of a descriptor that a kernel built on the device
// with tensormap.replace (PTX ISA 9.7.9.28). What no instruction wrote is not
// known. A rank below five leaves the ordinals above it unused.
type ReplaceFields struct {
	GlobalAddress Raw
	Rank          Raw // the rank minus one
	BoxDim        [MaxRank]Raw
	GlobalDim     [MaxRank]Raw
	GlobalStride  [MaxRank - 1]Raw // ordinal i is the stride of dimension i+1
	ElementStride [MaxRank]Raw

	ElemType         Raw
	InterleaveLayout Raw
	SwizzleMode      Raw
	SwizzleAtomicity Raw // not written: 16 bytes
	FillMode         Raw

	// PTXVersion is the .version of the module, major times ten plus minor, 0 where
	// not known. Assemblers before CUDA 12.5 (PTX 8.5) took global_stride in units of
	// 16 bytes, and compilers of that age wrote it so.
	PTXVersion int
}

// Set records one instruction. The field is the ISA's name without its dot
// ("global_stride"); the ordinal is 0 for fields that have none. An unknown field
// or an ordinal out of range is an error.
func (f *ReplaceFields) Set(field string, ordinal int, value uint64) error {
	if one := f.single(field); one != nil {
		*one = Raw{Known: true, Value: value}
		return nil
	}
	many := f.array(field)
	if many == nil {
		return fmt.Errorf("tensormap.replace: unknown field %q", clip(field))
	}
	if ordinal < 0 || ordinal >= len(many) {
		return fmt.Errorf("tensormap.replace.%s: ordinal %d is not 0 to %d", field, ordinal, len(many)-1)
	}
	many[ordinal] = Raw{Known: true, Value: value}
	return nil
}

func (f *ReplaceFields) single(field string) *Raw {
	switch field {
	case "global_address":
		return &f.GlobalAddress
	case "rank":
		return &f.Rank
	case "elemtype":
		return &f.ElemType
	case "interleave_layout":
		return &f.InterleaveLayout
	case "swizzle_mode":
		return &f.SwizzleMode
	case "swizzle_atomicity":
		return &f.SwizzleAtomicity
	case "fill_mode":
		return &f.FillMode
	}
	return nil
}

func (f *ReplaceFields) array(field string) []Raw {
	switch field {
	case "box_dim":
		return f.BoxDim[:]
	case "global_dim":
		return f.GlobalDim[:]
	case "global_stride":
		return f.GlobalStride[:]
	case "element_stride":
		return f.ElementStride[:]
	}
	return nil
}

// FromReplace translates the ISA's numbers to the driver's. The CUtensorMap's own
// address, and L2 promotion, which no instruction can set, stay unknown.
func FromReplace(f ReplaceFields) Descriptor {
	var d Descriptor
	if f.GlobalAddress.Known {
		d.Address, d.Known = f.GlobalAddress.Value, d.Known|FieldAddress
	}
	if f.ElemType.Known {
		d.DataType, d.Known = elemType(f.ElemType.Value), d.Known|FieldDataType
	}
	if f.InterleaveLayout.Known {
		d.Interleave, d.Known = Interleave(small(f.InterleaveLayout.Value)), d.Known|FieldInterleave
	}
	if f.SwizzleMode.Known {
		d.Swizzle, d.Known = swizzleMode(f.SwizzleMode.Value, f.SwizzleAtomicity), d.Known|FieldSwizzle
	}
	if f.FillMode.Known {
		d.OOBFill, d.Known = OOBFill(small(f.FillMode.Value)), d.Known|FieldOOBFill
	}
	if !f.Rank.Known {
		return d
	}
	d.Rank, d.Known = small(f.Rank.Value)+1, d.Known|FieldRank
	if d.Rank > MaxRank {
		return d
	}
	arrays := []struct {
		field Field
		raw   []Raw
		to    *[]uint64
	}{
		{FieldDims, f.GlobalDim[:d.Rank], &d.Dims},
		{FieldStrides, f.GlobalStride[:d.Rank-1], &d.Strides},
		{FieldBox, f.BoxDim[:d.Rank], &d.Box},
		{FieldElementStrides, f.ElementStride[:d.Rank], &d.ElementStrides},
	}
	for _, a := range arrays {
		if values, ok := known(a.raw); ok {
			*a.to, d.Known = values, d.Known|a.field
		}
	}
	if f.PTXVersion > 0 && f.PTXVersion < 85 {
		d.Strides = oldStrides(d.Strides)
	}
	return d
}

// known gives the values where every one was written.
func known(raw []Raw) ([]uint64, bool) {
	values := make([]uint64, len(raw))
	for i, r := range raw {
		if !r.Known {
			return nil, false
		}
		values[i] = r.Value
	}
	return values, true
}

// oldStrides reads strides of a module older than PTX 8.5: where one of them cannot
// be bytes, all are units of 16 bytes.
func oldStrides(strides []uint64) []uint64 {
	if !slices.ContainsFunc(strides, func(s uint64) bool { return s%16 != 0 }) {
		return strides
	}
	out := make([]uint64, len(strides))
	for i, s := range strides {
		out[i] = times(s, 16)
	}
	return out
}

// small turns a number from a register into an int, past every enumeration where it
// does not fit.
func small(v uint64) int {
	return int(min(v, 1<<16))
}

// elemType translates .elemtype: the same up to 7 and from 11 on; between, the ISA
// has f32.ftz, f64 and bf16 where the driver has FLOAT64, BFLOAT16 and FLOAT32_FTZ.
func elemType(v uint64) DataType {
	switch v {
	case 8:
		return Float32FTZ
	case 9:
		return Float64
	case 10:
		return BFloat16
	}
	return DataType(small(v))
}

// swizzleMode joins .swizzle_mode and .swizzle_atomicity. Only the 128-byte mode has
// an atomicity other than 16 bytes; any other pair is out of every range, so that
// it is left open.
func swizzleMode(mode uint64, atomicity Raw) Swizzle {
	const nothing Swizzle = 1 << 16
	if atomicity.Known && atomicity.Value != 0 {
		if mode != 3 || atomicity.Value > 3 {
			return nothing
		}
		return Swizzle128B + Swizzle(atomicity.Value)
	}
	switch mode {
	case 0, 1, 2, 3:
		return Swizzle(mode)
	case 4:
		return Swizzle96B
	}
	return nothing
}
