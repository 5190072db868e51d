package ptx

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// hostMapKernel copies a box of 16 by 8 floats, from column 4 and row 2 of the
// tensor that its parameter describes, to out.
const hostMapKernel = `
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	.reg .pred %p<4>;
	.shared .align 128 .b8 buf[1024];
	.shared .align 8 .b64 bar;
	mov.b64 %rd1, map;
	cvta.param.u64 %rd2, %rd1;
	mov.u32 %r1, bar;
	mov.u32 %r2, buf;
	mov.u32 %r3, %tid.x;
	setp.eq.u32 %p1, %r3, 0;
	@%p1 mbarrier.init.shared::cta.b64 [%r1], 1;
	bar.sync 0;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 512;
	mov.u32 %r4, 4;
	mov.u32 %r5, 2;
	@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r4, %r5}], [%r1];
W:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
	@!%p2 bra W;
	shl.b32 %r6, %r3, 2;
	add.s32 %r2, %r2, %r6;
	ld.shared.b32 %r7, [%r2];
	ld.param.u64 %rd3, [out];
	cvta.to.global.u64 %rd4, %rd3;
	cvt.u64.u32 %rd5, %r6;
	add.s64 %rd6, %rd4, %rd5;
	st.global.b32 [%rd6], %r7;
	ret;
}
`

func TestHostTensorMap(t *testing.T) {
	m, err := syntax.Parse("k.ptx", []byte(hostMapKernel))
	require.NoError(t, err)
	in := make([]byte, 64*32*4+16)
	for i := range 64 * 32 {
		binary.LittleEndian.PutUint32(in[16+i*4:], uint32(i))
	}
	d := &Descriptor{Rank: 2, ElemType: 7, GlobalDim: [5]uint64{64, 32}, GlobalStride: [4]uint64{256},
		BoxDim: [5]uint32{16, 8}, ElementStride: [5]uint32{1, 1}}
	l := &Launch{Entry: m.Entry("k"), Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{128, 1, 1}, Mode: Full,
		Args:    []Arg{{Buffer: -1, Tensors: []HostMap{{Map: d, Offset: 16}}}, Pointer(1)},
		Buffers: []Buffer{{Size: int64(len(in)), Contents: in}, {Size: 512}}}
	o, err := Run(context.Background(), l)
	require.NoError(t, err)
	require.True(t, o.Analysed, o.Reason)
	assert.True(t, o.Complete)
	require.Empty(t, o.Contents[1].Opaque)
	for i := range 128 {
		want := uint32((2+i/16)*64 + 4 + i%16)
		require.Equal(t, want, binary.LittleEndian.Uint32(o.Contents[1].Bytes[i*4:]), "element %d", i)
	}
	var read int64
	for _, r := range o.Effects[0].Read {
		read += r.End - r.Start
	}
	assert.Equal(t, int64(512), read)
	assert.Equal(t, int64(16+(2*64+4)*4), o.Effects[0].Read[0].Start)
	assert.Empty(t, o.Descriptors, "the host's maps are not the kernel's")

	l.Args[0] = Scalar(make([]byte, 128))
	o, err = Run(context.Background(), l)
	require.NoError(t, err)
	assert.False(t, o.Analysed, "a parameter without a tensor map")

	l.Args[0] = Arg{Buffer: -1, Tensors: []HostMap{{Map: &Descriptor{Rank: 9}}}}
	o, err = Run(context.Background(), l)
	require.NoError(t, err)
	assert.False(t, o.Analysed, "a map of nine dimensions")
}

// TestSeveralHostTensorMaps: the second of two maps in one parameter is the one that the
// kernel uses.
func TestSeveralHostTensorMaps(t *testing.T) {
	text := strings.Replace(hostMapKernel, "map[128]", "map[256]", 1)
	text = strings.Replace(text, "cvta.param.u64 %rd2, %rd1;", "cvta.param.u64 %rd2, %rd1;\n\tadd.s64 %rd2, %rd2, 128;", 1)
	m, err := syntax.Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	in := make([]byte, 64*32*4)
	for i := range 64 * 32 {
		binary.LittleEndian.PutUint32(in[i*4:], uint32(i))
	}
	d := &Descriptor{Rank: 2, ElemType: 7, GlobalDim: [5]uint64{64, 32}, GlobalStride: [4]uint64{256},
		BoxDim: [5]uint32{16, 8}, ElementStride: [5]uint32{1, 1}}
	l := &Launch{Entry: m.Entry("k"), Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{128, 1, 1}, Mode: Full,
		Args:    []Arg{{Buffer: -1, Tensors: []HostMap{{Map: d, Buffer: 2}, {Map: d}}}, Pointer(1)},
		Buffers: []Buffer{{Size: int64(len(in)), Contents: in}, {Size: 512}, {Size: int64(len(in))}}}
	o, err := Run(context.Background(), l)
	require.NoError(t, err)
	require.True(t, o.Analysed, o.Reason)
	assert.Equal(t, uint32(2*64+4), binary.LittleEndian.Uint32(o.Contents[1].Bytes))
	assert.True(t, o.Effects[2].Untouched())

	l.Args[0].Tensors = l.Args[0].Tensors[:1]
	o, err = Run(context.Background(), l)
	require.NoError(t, err)
	assert.False(t, o.Analysed, "there is no second map")

	l.Args[0].Tensors = []HostMap{{Map: d, Buffer: 3}}
	_, err = Run(context.Background(), l)
	assert.ErrorContains(t, err, "argument 0: a tensor map of buffer 3")
}
