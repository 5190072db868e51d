package tensormap

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCauses(t *testing.T) {
	cases := []struct {
		name    string
		change  func(*Descriptor)
		kind    CauseKind
		strides []uint64 // corrected, nil: not strides
	}{
		{"size one", shaped(u{128, 1, 32}, u{2, 256}, u{64, 128, 1}), CauseSizeOneStride, u{8192, 256}},
		{"size one, outermost", shaped(u{128, 64, 1}, u{256, 2}, u{64, 64, 1}), CauseSizeOneStride, u{256, 16384}},
		{"two of size one", shaped(u{128, 1, 32, 1}, u{2, 256, 6}, u{64, 1, 1, 1}), CauseSizeOneStride, u{8192, 256, 8192}},
		{"element stride first, 2-D", shaped(u{128, 64}, u{2}, u{64, 64}), CauseElementStrideFirst, u{256}},
		{"element stride first, 3-D", shaped(u{128, 64, 4}, u{2, 256}, u{64, 64, 1}), CauseElementStrideFirst, u{256, 16384}},
		{"element stride first, 5-D", shaped(u{128, 64, 4, 2, 2}, u{2, 256, 16384, 65536}, u{64, 64, 1, 1, 1}),
			CauseElementStrideFirst, u{256, 16384, 65536, 131072}},
		{"element stride first, f32 4-D", func(d *Descriptor) {
			shaped(u{64, 16, 3, 9}, u{4, 256, 4096}, u{32, 16, 1, 1})(d)
			d.DataType = Float32
		}, CauseElementStrideFirst, u{256, 4096, 12288}},
		{"strides in elements", shaped(u{104, 64}, u{104}, u{64, 64}), CauseStridesInElements, u{208}},
		{"strides in elements, 3-D", shaped(u{200, 5, 7}, u{200, 1000}, u{64, 5, 1}), CauseStridesInElements, u{400, 2000}},
		{"negative stride", shaped(u{192, 131072, 128}, u{49152, 2305843007066210304}, u{64, 128, 1}), CauseStrideOverflow, nil},
		{"-1", shaped(u{128, 64}, u{^uint64(0)}, u{64, 64}), CauseStrideOverflow, u{256}},
		{"unpadded row", shaped(u{100, 64}, u{200}, u{64, 64}), CauseUnpaddedRow, u{208}},
		{"NULL", func(d *Descriptor) { d.Address = 0 }, CauseNullAddress, nil},
		{"empty", func(d *Descriptor) { d.Dims = u{128, 0} }, CauseEmptyTensor, nil},
		{"view", func(d *Descriptor) { d.Address += 2 }, CauseMisalignedView, nil},
		{"wide box", func(d *Descriptor) { d.Box[0] = 128 }, CauseBoxWiderThanSwizzle, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := base()
			c.change(&d)
			j := Judge(d)
			require.Equal(t, Refused, j.Verdict)
			assert.Equal(t, c.kind, j.Cause.Kind, j.Cause.Text)
			require.NotNil(t, j.Fix)
			assert.True(t, j.Fix.Legal)
			if c.strides != nil {
				assert.Equal(t, c.strides, j.Fix.Corrected.Strides)
			}
		})
	}
}

// A wide box goes under a wider swizzle where one fits, and is narrowed where none does.
func TestWideBox(t *testing.T) {
	d := base()
	d.Box[0], d.Swizzle = 64, Swizzle64B
	j := Judge(d)
	require.NotNil(t, j.Fix)
	assert.Equal(t, Swizzle128B, j.Fix.Corrected.Swizzle)
	assert.Equal(t, u{64, 64}, j.Fix.Corrected.Box)

	d.Box[0], d.Swizzle = 128, Swizzle128B
	j = Judge(d)
	assert.Equal(t, u{64, 64}, j.Fix.Corrected.Box)
	assert.Contains(t, j.Fix.Changes[0].Note, "2 boxes")
}

// The judged descriptor itself is never changed by the repair.
func TestRepairCopies(t *testing.T) {
	d := base()
	shaped(u{128, 1, 32}, u{2, 256}, u{64, 128, 1})(&d)
	Judge(d)
	assert.Equal(t, u{2, 256}, d.Strides)
}
