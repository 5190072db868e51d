package tensormap

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write is one tensormap.replace instruction.
type write struct {
	field   string
	ordinal int
	value   uint64
}

// tmaCopy are the instructions of the dump tma_copy, as Triton 3.6.0 wrote them: a 4096
// by 1024 matrix of f16, boxes of 64 by 64.
func tmaCopy() []write {
	return []write{
		{"global_address", 0, 0x7f4c49e08800}, {"rank", 0, 1}, {"box_dim", 0, 64}, {"box_dim", 1, 64},
		{"global_dim", 0, 1024}, {"global_dim", 1, 4096}, {"global_stride", 0, 2048}, {"element_stride", 0, 1}, {"element_stride", 1, 1},
		{"elemtype", 0, 6}, {"interleave_layout", 0, 0}, {"swizzle_mode", 0, 3}, {"fill_mode", 0, 0},
	}
}

// three adds a third dimension.
func three() []write {
	return append(tmaCopy(), []write{{"rank", 0, 2}, {"box_dim", 2, 1}, {"global_dim", 2, 7}, {"global_stride", 1, 1 << 23},
		{"element_stride", 2, 1}}...)
}

func fields(t *testing.T, writes []write, more ...write) ReplaceFields {
	t.Helper()
	var f ReplaceFields
	for _, w := range append(writes, more...) {
		require.NoError(t, f.Set(w.field, w.ordinal, w.value))
	}
	return f
}

func TestFromReplace(t *testing.T) {
	d := FromReplace(fields(t, tmaCopy()))
	want := Descriptor{Known: TiledFields &^ (FieldTensorMap | FieldL2Promotion), DataType: Float16, Rank: 2, Address: 0x7f4c49e08800,
		Dims: u{1024, 4096}, Strides: u{2048}, Box: u{64, 64}, ElementStrides: u{1, 1}, Swizzle: Swizzle128B}
	assert.Equal(t, want, d)
}

func TestDeviceBuiltDescriptors(t *testing.T) {
	cases := []struct {
		name    string
		writes  []write
		more    []write
		verdict Verdict
		rules   []int
	}{
		{"f16", tmaCopy(), nil, Accepted, nil},
		{"bf16 is 10", tmaCopy(), []write{{"elemtype", 0, 10}}, Accepted, nil},
		{"3-D", three(), nil, Accepted, nil},
		{"stride of 8 bytes", tmaCopy(), []write{{"global_stride", 0, 8}}, Refused, []int{6}},
		{"stride of 8 bytes, bf16", tmaCopy(), []write{{"elemtype", 0, 10}, {"global_stride", 0, 8}}, Refused, []int{6}},
		{"stride of 8 bytes, 3-D", three(), []write{{"global_stride", 1, 8}}, Refused, []int{6}},
		{"f64 is 9: 64 of them are wider than the swizzle", tmaCopy(), []write{{"elemtype", 0, 9}}, Refused, []int{13}},
		{"f32.ftz is 8: 32 of them are not", tmaCopy(), []write{{"elemtype", 0, 8}, {"box_dim", 0, 32}}, Accepted, nil},
		{"rank 0 is one dimension", tmaCopy(), []write{{"rank", 0, 0}}, Accepted, nil},
		{"rank 5 is six dimensions", tmaCopy(), []write{{"rank", 0, 5}}, Refused, []int{2}},
		{"a rank from a wild register", tmaCopy(), []write{{"rank", 0, ^uint64(0)}}, Refused, []int{2}},
		{"an element type of no name", tmaCopy(), []write{{"elemtype", 0, 1 << 40}}, Undecided, nil},
		{"128 bytes with an atomicity of 32", tmaCopy(), []write{{"swizzle_atomicity", 0, 1}}, Accepted, nil},
		{"64 bytes with an atomicity of 32", tmaCopy(), []write{{"swizzle_mode", 0, 2}, {"swizzle_atomicity", 0, 1}}, Undecided, nil},
		{"96 bytes", tmaCopy(), []write{{"swizzle_mode", 0, 4}, {"box_dim", 0, 48}}, Accepted, nil},
		{"96 bytes, box of 128", tmaCopy(), []write{{"swizzle_mode", 0, 4}}, Refused, []int{13}},
		{"NaN fill", tmaCopy(), []write{{"fill_mode", 0, 1}}, Accepted, nil},
		{"only the address", nil, []write{{"global_address", 0, 4096}}, Undecided, nil},
		{"nothing", nil, nil, Undecided, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			j := Judge(FromReplace(fields(t, c.writes, c.more...)))
			assert.Equal(t, c.verdict, j.Verdict, "%+v", j)
			assert.ElementsMatch(t, c.rules, j.Rules())
		})
	}
}

// Every number of the ISA against the driver's.
func TestElementTypes(t *testing.T) {
	for isa, name := range []string{"UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT32_FTZ", "FLOAT64",
		"BFLOAT16", "TFLOAT32", "TFLOAT32_FTZ", "16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B"} {
		assert.Equal(t, name, elemType(uint64(isa)).String())
	}
	for i, s := range []Swizzle{Swizzle128B, Swizzle128BAtom32B, Swizzle128BAtom32BFlip8B, Swizzle128BAtom64B} {
		assert.Equal(t, s, swizzleMode(3, Raw{true, uint64(i)}))
	}
}

// Modules of before PTX 8.5 may count strides in units of 16 bytes.
func TestOldStrides(t *testing.T) {
	f := fields(t, three(), write{"global_stride", 0, 130}, write{"global_stride", 1, 1 << 19})
	f.PTXVersion = 84
	assert.Equal(t, u{2080, 1 << 23}, FromReplace(f).Strides, "130 cannot be bytes")
	f.PTXVersion = 85
	assert.Equal(t, u{130, 1 << 19}, FromReplace(f).Strides)
	f.PTXVersion, f.GlobalStride[0].Value = 83, 2048
	assert.Equal(t, u{2048, 1 << 19}, FromReplace(f).Strides)
}

func TestSetNamesWhatIsWrong(t *testing.T) {
	var f ReplaceFields
	assert.ErrorContains(t, f.Set("colour", 0, 1), `unknown field "colour"`)
	assert.ErrorContains(t, f.Set("global_stride", 4, 1), "ordinal 4 is not 0 to 3")
	assert.ErrorContains(t, f.Set("box_dim", -1, 1), "ordinal -1 is not 0 to 4")
	assert.Equal(t, ReplaceFields{}, f)
}

func TestTritonDescriptors(t *testing.T) {
	legal := func() TritonFields {
		return TritonFields{ElemType: 9, Swizzle: 3, Shape: u{4, 64, 128}, Strides: u{8192, 128, 1}, BlockShape: u{1, 64, 64},
			Address: Raw{true, 4096}}
	}
	d, j := JudgeTriton(legal())
	assert.Equal(t, Accepted, j.Verdict, "%+v", j)
	assert.Equal(t, Descriptor{Known: TiledFields &^ FieldTensorMap, DataType: BFloat16, Rank: 3, Address: 4096, Dims: u{128, 64, 4},
		Strides: u{256, 16384}, Box: u{64, 64, 1}, ElementStrides: u{1, 1, 1}, Swizzle: Swizzle128B, L2Promotion: 2}, d)

	for _, c := range []struct {
		name   string
		change func(*TritonFields)
		rules  []int
		own    string
	}{
		{"stride of 4 elements", func(f *TritonFields) { f.Strides[1] = 4 }, []int{6}, ""},
		{"block wider than the swizzle", func(f *TritonFields) { f.BlockShape[2] = 128 }, []int{13}, ""},
		{"innermost stride 2", func(f *TritonFields) { f.Strides[2] = 2 }, []int{0}, "strides[2]"},
		{"swizzle 4", func(f *TritonFields) { f.Swizzle = 4 }, []int{0}, "swizzle"},
		{"swizzle 96", func(f *TritonFields) { f.Swizzle = 96 }, []int{0}, "swizzle"},
		{"fill 2", func(f *TritonFields) { f.OOBFill = 2 }, []int{0}, "oob_fill"},
		{"packed type", func(f *TritonFields) { f.ElemType = 14 }, []int{0}, "elem_type"},
		{"arrays of unequal length", func(f *TritonFields) { f.Shape = f.Shape[:2] }, []int{0}, "shape, strides, block_shape"},
		{"six dimensions", func(f *TritonFields) { f.Shape, f.Strides, f.BlockShape = make(u, 6), make(u, 6), make(u, 6) }, []int{2}, ""},
		{"no dimension", func(f *TritonFields) { f.Shape, f.Strides, f.BlockShape = nil, nil, nil }, []int{2}, ""},
		{"a stride that overflows", func(f *TritonFields) { f.Strides[0] = 1 << 63 }, []int{6}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := legal()
			c.change(&f)
			_, j := JudgeTriton(f)
			assert.Equal(t, Refused, j.Verdict)
			assert.Contains(t, j.Rules(), c.rules[0], "%+v", j.Violations)
			assert.NotEmpty(t, j.Cause.Text)
			if c.own != "" {
				assert.Equal(t, c.own, j.Violations[0].Parameter)
			}
		})
	}
}
