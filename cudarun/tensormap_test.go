//go:build linux

package cudarun

import (
	"testing"

	"aliascheck/cudarun/driver"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Repeated, because a pointer that moves under C shows only now and then.
func TestStubEncodes(t *testing.T) {
	s := openStub(t)
	e, err := driver.NewTensorMapEncoder(s.Library, 0)
	require.NoError(t, err)
	assert.Equal(t, "stub 40", e.Device().Name)
	tiled := driver.TensorMap{DataType: 9, Rank: 3, Address: 0x7f4c49e08808, Skew: 32, Dims: []uint64{128, 1 << 32, 32}, Strides: []uint64{1 << 39, 256},
		Box: []uint32{64, 128, 1}, ElementStrides: []uint32{1, 2, 1}, Swizzle: 3, L2Promotion: 2, OOBFill: 1}
	im2col := driver.TensorMap{Im2col: true, DataType: 6, Rank: 4, Dims: []uint64{64, 32, 32, 8}, Strides: []uint64{128, 4096, 131072},
		ElementStrides: []uint32{1, 1, 1, 1}, LowerCorner: []int32{-1, -2}, UpperCorner: []int32{3, -4}, ChannelsPerPixel: 64,
		PixelsPerColumn: 128, Interleave: 1}
	for range 200 {
		s.log()
		code, err := e.Encode(tiled)
		require.NoError(t, err)
		assert.Zero(t, code)
		code, err = e.Encode(im2col)
		require.NoError(t, err)
		assert.Zero(t, code)
		require.Equal(t, []string{
			"tiled skew 32 type 9 rank 3 tensor 8 dims 128,4294967296,32 strides 549755813888,256 box 64,128,1 steps 1,2,1 0 3 2 1",
			"im2col skew 0 type 6 rank 4 tensor -1 dims 64,32,32,8 strides 128,4096,131072 lower -1,-2 upper 3,-4 channels 64 pixels 128 " +
				"steps 1,1,1,1 1 0 0 0",
		}, s.log())
	}
	tiled.Strides[0] = 2
	code, err := e.Encode(tiled)
	require.NoError(t, err)
	assert.Equal(t, 1, code)
	tiled.Dims = make([]uint64, 9)
	_, err = e.Encode(tiled)
	assert.ErrorContains(t, err, "at most 8 entries")
	require.NoError(t, e.Close())
	assert.Zero(t, s.live())
}

func TestNoEncoderWithoutACard(t *testing.T) {
	s := openStub(t)
	_, err := driver.NewTensorMapEncoder(s.Library, 7)
	assert.ErrorContains(t, err, "device 7")
	assert.Zero(t, s.live())
}
