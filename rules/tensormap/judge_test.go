package tensormap

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// base is a legal 2-D descriptor: 64 rows of 128 BF16 elements, swizzle 128B.
func base() Descriptor {
	return Descriptor{Known: TiledFields, TensorMap: 0x7ffd054484c0, DataType: BFloat16, Rank: 2, Address: 0x7f4c49e08800,
		Dims: []uint64{128, 64}, Strides: []uint64{256}, Box: []uint64{64, 64}, ElementStrides: []uint64{1, 1},
		Swizzle: Swizzle128B, L2Promotion: 2}
}

// shaped changes base's arrays.
func shaped(dims, strides, box []uint64) func(*Descriptor) {
	return func(d *Descriptor) {
		d.Rank, d.Dims, d.Strides, d.Box = len(dims), dims, strides, box
		d.ElementStrides = nil
		for range dims {
			d.ElementStrides = append(d.ElementStrides, 1)
		}
	}
}

type u = []uint64

// measured is a row of testdata/measured.json: what driver 580.159 answered (an
// H200, CUDA 13.0), and the rules that explain it.
type measured struct {
	Case           string
	Type           DataType
	Offset         uint64 `json:"address_offset"`
	Dims           []uint64
	Strides        []uint64
	Box            []uint64
	ElementStrides []uint64 `json:"element_strides"`
	Interleave     Interleave
	Swizzle        Swizzle
	L2             L2Promotion
	Fill           OOBFill
	Code           int
	Rules          []int
}

func measuredTable(t *testing.T) []measured {
	t.Helper()
	text, err := os.ReadFile("testdata/measured.json")
	require.NoError(t, err)
	var rows []measured
	require.NoError(t, json.Unmarshal(text, &rows))
	require.Len(t, rows, 22)
	return rows
}

func (m *measured) descriptor() Descriptor {
	d := base()
	d.DataType, d.Rank, d.Address = m.Type, len(m.Dims), d.Address+m.Offset
	d.Dims, d.Strides, d.Box, d.ElementStrides = m.Dims, m.Strides, m.Box, m.ElementStrides
	d.Interleave, d.Swizzle, d.L2Promotion, d.OOBFill = m.Interleave, m.Swizzle, m.L2, m.Fill
	return d
}

func TestMeasuredTable(t *testing.T) {
	for _, c := range measuredTable(t) {
		t.Run(c.Case, func(t *testing.T) {
			j := Judge(c.descriptor())
			want := Accepted
			if c.Code != 0 {
				want = Refused
			}
			assert.Equal(t, want, j.Verdict)
			assert.Equal(t, c.Rules, j.Rules())
			assert.Empty(t, j.Unchecked)
			if want == Refused {
				require.NotNil(t, j.Fix)
				assert.True(t, j.Fix.Legal, "%+v", j.Fix)
				assert.Equal(t, Accepted, Judge(j.Fix.Corrected).Verdict)
				assert.NotEmpty(t, j.Cause.Text)
			}
		})
	}
}

// Rule 12 is documented and not enforced: the verdict is accepted, and it is said.
func TestRuleTwelveIsARemark(t *testing.T) {
	d := base()
	shaped(u{128, 64, 4}, u{256, 16384}, u{16, 64, 1})(&d)
	d.Interleave = Interleave32B
	j := Judge(d)
	require.Len(t, j.Violations, 1)
	assert.Equal(t, 12, j.Violations[0].Rule)
	assert.False(t, j.Violations[0].Enforced)
	require.Len(t, j.Remarks, 1)
	assert.Contains(t, j.Remarks[0].Text, "not enforced")
	assert.Equal(t, Accepted, j.Verdict)
}

// Each documented rule that the measured table leaves out, broken alone.
func TestEachRuleAlone(t *testing.T) {
	packed := func(d *Descriptor, ty DataType) {
		*d = base()
		shaped(u{256, 64}, u{128}, u{128, 64})(d)
		d.DataType = ty
	}
	im2col := func(d *Descriptor) {
		*d = base()
		d.Mode, d.Known = Im2col, Im2colFields
		d.Rank, d.Dims, d.Strides = 4, u{64, 32, 32, 8}, u{128, 4096, 131072}
		d.ElementStrides, d.Box = u{1, 1, 1, 1}, nil
		d.LowerCorner, d.UpperCorner, d.ChannelsPerPixel, d.PixelsPerColumn = []int64{-1, -1}, []int64{-1, -1}, 64, 128
	}
	cases := []struct {
		name   string
		change func(*Descriptor)
		rule   int // 0: legal
		param  string
	}{
		{"descriptor + 32", func(d *Descriptor) { d.TensorMap += 32 }, 1, "tensorMap"},
		{"rank 0", func(d *Descriptor) { d.Rank, d.Dims, d.Strides, d.Box, d.ElementStrides = 0, nil, nil, nil, nil }, 2, "tensorRank"},
		{"rank 6", shaped(u{8, 1, 1, 1, 1, 1}, u{16, 16, 16, 16, 16}, u{8, 1, 1, 1, 1, 1}), 2, "tensorRank"},
		{"1-D", shaped(u{128}, nil, u{64}), 0, ""},
		{"NULL", func(d *Descriptor) { d.Address = 0 }, 17, "globalAddress"},
		{"interleave 32B, address + 16", func(d *Descriptor) {
			shaped(u{128, 64, 4}, u{256, 16384}, u{16, 64, 1})(d)
			d.Interleave, d.Swizzle, d.Address = Interleave32B, Swizzle32B, d.Address+16
		}, 3, "globalAddress"},
		{"interleave 32B, stride 272", func(d *Descriptor) {
			shaped(u{128, 64, 4}, u{272, 17408}, u{16, 64, 1})(d)
			d.Interleave, d.Swizzle = Interleave32B, Swizzle32B
		}, 7, "globalStrides[0]"},
		{"16U4_ALIGN8B", func(d *Descriptor) { packed(d, Packed16U4Align8B) }, 0, ""},
		{"16U4_ALIGN8B, odd row", func(d *Descriptor) { packed(d, Packed16U4Align8B); d.Dims[0] = 255 }, 5, "globalDim[0]"},
		{"16U4_ALIGN16B", func(d *Descriptor) { packed(d, Packed16U4Align16B) }, 0, ""},
		{"16U4_ALIGN16B, row 192", func(d *Descriptor) { packed(d, Packed16U4Align16B); d.Dims[0] = 192 }, 5, "globalDim[0]"},
		{"16U4_ALIGN16B, stride 144", func(d *Descriptor) { packed(d, Packed16U4Align16B); d.Strides[0] = 144 }, 7, "globalStrides[0]"},
		{"16U4_ALIGN16B, box 64", func(d *Descriptor) { packed(d, Packed16U4Align16B); d.Box[0] = 64 }, 16, "boxDim[0]"},
		{"16U4_ALIGN16B, swizzle 64B", func(d *Descriptor) { packed(d, Packed16U4Align16B); d.Swizzle = Swizzle64B }, 14, "swizzle"},
		{"16U4_ALIGN16B, 128B_ATOM_64B", func(d *Descriptor) { packed(d, Packed16U4Align16B); d.Swizzle = Swizzle128BAtom64B }, 14, "swizzle"},
		{"16U6_ALIGN16B, 128B_ATOM_64B stores", func(d *Descriptor) {
			packed(d, Packed16U6Align16B)
			d.Strides[0], d.Swizzle = 192, Swizzle128BAtom64B
		}, 0, ""},
		{"first element stride ignored", func(d *Descriptor) { d.ElementStrides = u{0, 1} }, 0, ""},
		{"element stride 0", func(d *Descriptor) { d.ElementStrides = u{1, 0} }, 11, "elementStrides[1]"},
		{"NaN fill on TF32", func(d *Descriptor) {
			shaped(u{128, 64}, u{512}, u{32, 64})(d)
			d.DataType, d.OOBFill = TFloat32, FillNaN
		}, 0, ""},
		{"im2col", im2col, 0, ""},
		{"im2col rank 2", func(d *Descriptor) {
			im2col(d)
			d.Rank, d.Dims, d.Strides, d.ElementStrides, d.LowerCorner, d.UpperCorner = 2, u{64, 32}, u{128}, u{1, 1}, nil, nil
		}, 18, "tensorRank"},
		{"im2col corner -129 in 4-D", func(d *Descriptor) { im2col(d); d.LowerCorner[0] = -129 }, 18, "pixelBoxLowerCorner[0]"},
		{"im2col corner 128 in 4-D", func(d *Descriptor) { im2col(d); d.UpperCorner[1] = 128 }, 18, "pixelBoxUpperCorner[1]"},
		{"im2col empty box", func(d *Descriptor) { im2col(d); d.UpperCorner = []int64{-33, -1} }, 18, "pixelBoxUpperCorner[0]"},
		{"im2col channels 0", func(d *Descriptor) { im2col(d); d.ChannelsPerPixel = 0 }, 18, "channelsPerPixel"},
		{"im2col channels 257", func(d *Descriptor) { im2col(d); d.ChannelsPerPixel, d.Swizzle = 257, SwizzleNone }, 18, "channelsPerPixel"},
		{"im2col channels wider than the swizzle", func(d *Descriptor) { im2col(d); d.ChannelsPerPixel = 128 }, 13, "channelsPerPixel"},
		{"im2col pixels 1025", func(d *Descriptor) { im2col(d); d.PixelsPerColumn = 1025 }, 18, "pixelsPerColumn"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := base()
			c.change(&d)
			j := Judge(d)
			if c.rule == 0 {
				assert.Equal(t, Accepted, j.Verdict, "%+v", j)
				return
			}
			assert.Equal(t, Refused, j.Verdict)
			require.Equal(t, []int{c.rule}, j.Rules(), "%+v", j.Violations)
			assert.Equal(t, c.param, j.Violations[0].Parameter)
			assert.NotEmpty(t, j.Violations[0].Why)
			assert.NotEmpty(t, RuleText(c.rule))
			if d.Rank >= 1 && d.Rank <= MaxRank && (d.Mode == Tiled || d.Rank >= 3) {
				require.NotNil(t, j.Fix)
				assert.True(t, j.Fix.Legal, "%+v", j.Fix)
			}
		})
	}
}

func TestUnknownIsNeverAccepted(t *testing.T) {
	for f := FieldDataType; f <= FieldOOBFill; f <<= 1 {
		if f == FieldL2Promotion { // no rule speaks of it
			continue
		}
		d := base()
		d.Known &^= f
		j := Judge(d)
		if f == FieldAddress {
			assert.Equal(t, Accepted, j.Verdict)
			assert.NotEmpty(t, j.Conditions)
			continue
		}
		assert.Equal(t, Undecided, j.Verdict, "without %s", f)
		assert.NotEmpty(t, j.Unchecked, "without %s", f)
	}
	odd := base()
	odd.DataType = 16
	assert.Equal(t, Undecided, Judge(odd).Verdict)
	short := base()
	short.Box = u{64}
	assert.Equal(t, Undecided, Judge(short).Verdict)
}

func TestFailureCodes(t *testing.T) {
	for code, kind := range map[Code]CauseKind{700: CauseStaleError, 715: CauseStaleError, 716: CauseStaleError, 719: CauseStaleError,
		3: CauseNoContext, 4: CauseNoContext, 201: CauseNoContext, 999: CauseOtherFailure, 1: CauseUnexplained, 0: CauseNone} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			j := JudgeFailure(base(), code)
			assert.Equal(t, Accepted, j.Verdict)
			assert.Equal(t, kind, j.Cause.Kind)
		})
	}
	d := base()
	d.Address = 0
	assert.Equal(t, CauseNullAddress, JudgeFailure(d, 1).Cause.Kind)
	assert.Contains(t, JudgeFailure(d, 700).Cause.Text, "illegal as well")
}

func TestParseCode(t *testing.T) {
	for text, want := range map[string]Code{" 1": 1, ", error code: 700": 700, " 719 (unspecified launch failure)": 719, " due to invalid argument": 1,
		" due to an illegal instruction was encountered": 715, " CUDA_ERROR_MISALIGNED_ADDRESS": 716, " 999 [repeated 3x across cluster]": 999,
		" due to unspecified launch failure\n": 719} {
		got, ok := parseCode(afterWords(text))
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{" A_desc", " 12,11", " )1", "", " 1Error: Failed", " 12345678"} {
		_, ok := parseCode(afterWords(text))
		assert.False(t, ok, text)
	}
}
