package emulate

import (
	"context"
	"testing"

	"aliascheck/hlo/kernel"
	"aliascheck/rules/ptx"
	"aliascheck/rules/replay"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostDescriptor(t *testing.T) {
	good := kernel.TensorMap{ElemType: 9, Swizzle: 3, OOBFill: 1, Shape: []uint64{4, 512, 256}, Strides: []uint64{131072, 256, 1},
		BlockShape: []uint32{1, 64, 64}}
	d, err := hostDescriptor(&good)
	require.NoError(t, err)
	assert.Equal(t, &ptx.Descriptor{Rank: 3, ElemType: 10, Swizzle: 3, Fill: 1,
		GlobalDim: [5]uint64{256, 512, 4}, GlobalStride: [4]uint64{512, 262144},
		BoxDim: [5]uint32{64, 64, 1}, ElementStride: [5]uint32{1, 1, 1}}, d)
	for name, change := range map[string]func(d *kernel.TensorMap){
		"no dimensions":      func(d *kernel.TensorMap) { d.Shape, d.Strides, d.BlockShape = nil, nil, nil },
		"lengths differ":     func(d *kernel.TensorMap) { d.Shape = d.Shape[:2] },
		"a stride of 8":      func(d *kernel.TensorMap) { d.Strides = []uint64{131072, 4, 1} },
		"a wide box":         func(d *kernel.TensorMap) { d.BlockShape = []uint32{1, 64, 128} },
		"an unknown type":    func(d *kernel.TensorMap) { d.ElemType = 77 },
		"an unknown swizzle": func(d *kernel.TensorMap) { d.Swizzle = 9 },
	} {
		bad := good
		change(&bad)
		_, err := hostDescriptor(&bad)
		assert.ErrorContains(t, err, "the driver refuses", name)
	}
}

// TestDeviceElement goes through cuda.h's numbers 0 to 12 and one past them.
func TestDeviceElement(t *testing.T) {
	want := []uint32{0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12}
	for driver, isa := range want {
		d := kernel.TensorMap{ElemType: uint32(driver), Shape: []uint64{64}, Strides: []uint64{1}, BlockShape: []uint32{16}}
		got, err := hostDescriptor(&d)
		require.NoError(t, err, "type %d", driver)
		assert.Equal(t, isa, got.ElemType)
	}
	_, ok := deviceElement(13)
	assert.False(t, ok)
}

// TestKernelWithAHostDescriptor runs a kernel whose first parameter is a descriptor.
func TestKernelWithAHostDescriptor(t *testing.T) {
	k := kernel.Configuration{Entry: "k", Block: [3]uint32{32, 1, 1}, Grid: [3]uint32{1, 1, 1}, PTX: []byte(`.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	st.global.b32 [%rd1], 1;
	ret;
}
`), Params: []kernel.Param{{Kind: kernel.TensorMaps, Maps: []kernel.TensorMap{{ElemType: 7, Shape: []uint64{64, 64},
		Strides: []uint64{64, 1}, BlockShape: []uint32{8, 8}}}}, {Kind: kernel.Pointer, Buffer: 1}}}
	f32 := element(t, "f32")
	p := kernelPlan{&replay.Plan{Operands: 1, Call: &kernel.Call{Configurations: []kernel.Configuration{k}}, Pairs: []replay.Pair{{}}, Buffers: []replay.Buffer{
		{Element: f32, Size: 16384, Claimant: -1}, {Element: f32, Size: 16384, Claimant: -1}}}}
	a, err := New(Options{}).analyse(context.Background(), p)
	require.NoError(t, err)
	ok, reason := a.Analysed()
	require.True(t, ok, reason)
	assert.Equal(t, []ptx.Range{{Start: 0, End: 4}}, a.Runs[0].Buffers[1].Written, "the result is the second buffer")
	assert.Equal(t, replay.Safe, a.Pair(0, 0).Verdict)
}
