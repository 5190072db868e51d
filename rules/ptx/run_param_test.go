package ptx

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// paramKernel stores, for each thread, the 32-bit word that body leaves in %r1.
// p holds by value a struct of 32 bytes: words 0x100 to 0x107.
func paramKernel(t *testing.T, body string) *Launch {
	m, err := syntax.Parse("params.ptx", []byte(`.version 8.7
.target sm_90a
.address_size 64
.entry k(.param .u64 out, .param .align 8 .b8 p[32]) {
.reg .b64 %rd<20>; .reg .b32 %r<20>; .reg .pred %p<4>;
mov.u32 %r10, %tid.x; ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r10, 4; add.s64 %rd1, %rd1, %rd2;
`+body+"\nst.global.b32 [%rd1], %r1; ret; }"))
	require.NoError(t, err)
	var words []byte
	for i := range uint32(8) {
		words = binary.LittleEndian.AppendUint32(words, 0x100+i)
	}
	return &Launch{Entry: m.Entries[0], Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{8, 1, 1},
		Args: []Arg{Pointer(0), Scalar(words)}, Buffers: []Buffer{{Size: 32, Contents: make([]byte, 32)}}}
}

// TestParametersByAddress: structs passed by value whose address is taken
// (__grid_constant__), or that are indexed as arrays.
func TestParametersByAddress(t *testing.T) {
	cases := []struct {
		name, body string
		want       func(i int) uint32
	}{
		{"generic, one word for all", "mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; ld.u32 %r1, [%rd6+12];", same32(0x103)},
		{"generic, a word each", "mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; add.s64 %rd6, %rd6, %rd2; ld.u32 %r1, [%rd6];", func(i int) uint32 { return uint32(0x100 + i) }},
		{"generic, a pair", "mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; ld.v2.b32 {%r2, %r1}, [%rd6+16];", same32(0x105)},
		{"generic, a byte", "mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; ld.u8 %r1, [%rd6+9];", same32(1)},
		{"ld.param of a register", "mov.b64 %rd5, p; add.s64 %rd5, %rd5, %rd2; ld.param.b32 %r1, [%rd5];", func(i int) uint32 { return uint32(0x100 + i) }},
		{"ld.param::entry of a register", "mov.b64 %rd5, p; xor.b32 %r2, %r10, 7; mul.wide.u32 %rd6, %r2, 4; add.s64 %rd5, %rd5, %rd6; ld.param::entry.b32 %r1, [%rd5];", func(i int) uint32 { return uint32(0x107 - i) }},
		{"to param and back", "mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; cvta.to.param.u64 %rd7, %rd6; ld.param.b32 %r1, [%rd7+4];", same32(0x101)},
		{"guarded", "mov.b32 %r1, 5; mov.b64 %rd5, p; setp.lt.u32 %p1, %r10, 3; @%p1 ld.param.b32 %r1, [%rd5+8];", func(i int) uint32 { return pick(i < 3, 0x102, 5) }},
		{"decides a branch", "mov.b32 %r1, 1; mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; ld.u32 %r2, [%rd6]; setp.eq.u32 %p1, %r2, 0x100; @%p1 bra E; mov.b32 %r1, 2; E:", same32(1)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := paramKernel(t, c.body)
			o := analysed(t, l)
			assert.True(t, o.Complete)
			assert.Empty(t, o.OutOfBounds)
			got := full(t, l, 0)
			for i := range 8 {
				assert.Equal(t, fmt.Sprintf("%#x", c.want(i)), fmt.Sprintf("%#x", binary.LittleEndian.Uint32(got[4*i:])), "thread %d", i)
			}
			all := analysed(t, l)
			sameRecord(t, o, all)
		})
	}
}

// TestParametersOutside: an address past the struct is no parameter's.
func TestParametersOutside(t *testing.T) {
	for _, c := range []struct {
		body  string
		count int64
	}{
		{"mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; ld.u32 %r1, [%rd6+32];", 8},
		{"mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; add.s64 %rd6, %rd6, %rd2; ld.u32 %r1, [%rd6+16];", 4},
		{"mov.b64 %rd5, 77; ld.param.b32 %r1, [%rd5];", 8},
	} {
		for _, mode := range []Mode{Sliced, Full} {
			l := paramKernel(t, c.body)
			l.Mode = mode
			o := analysed(t, l)
			require.Len(t, o.OutOfBounds, 1)
			assert.Equal(t, "param", o.OutOfBounds[0].Space)
			assert.Equal(t, c.count, o.OutOfBounds[0].Count)
		}
	}
	l := paramKernel(t, "mov.b64 %rd5, p; cvta.param.u64 %rd6, %rd5; st.b32 [%rd6], 1;")
	o, err := Run(context.Background(), l)
	require.NoError(t, err)
	assert.Contains(t, o.Reason, "parameters cannot be written")
}

// TestAsyncStores: the two blocks of a cluster store into each other's shared
// memory, and wait for the bytes at their own mbarrier.
func TestAsyncStores(t *testing.T) {
	// %r43, %r44: the data and the mbarrier of the other block.
	const head = `mov.b32 %r40, smem; mov.u32 %r41, %cluster_ctarank; xor.b32 %r42, %r41, 1; add.u32 %r45, %r40, 64; mad.lo.u32 %r45, %tid, 16, %r45;
mapa.shared::cluster.u32 %r43, %r45, %r42; mapa.shared::cluster.u32 %r44, %r40, %r42; setp.eq.u32 %p1, %tid, 0; mad.lo.u32 %r46, %cta, 100, %tid;
st.shared.v4.b32 [%r45], {7, 7, 7, 7}; @%p1 mbarrier.init.shared.b64 [%r40], 1; barrier.cluster.arrive; barrier.cluster.wait;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], BYTES;
`
	const tail = `
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
ld.shared.b32 %r1, [%r45+AT]; mad.lo.u32 %r2, %cta, 32, %tid; mul.wide.u32 %rd12, %r2, 4; add.s64 %rd11, %rd0, %rd12; st.global.b32 [%rd11], %r1; barrier.cluster.arrive; barrier.cluster.wait; ret;`
	cases := []struct {
		name, text string
		bytes, at  string
		want       func(cta, i int) uint32
	}{
		{"st.async", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r43], %r46, [%r44];", "128", "0", func(cta, i int) uint32 { return uint32(100*(cta^1) + i) }},
		{"st.async of a pair", "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r43], {%r41, %r46}, [%r44];", "256", "4", func(cta, i int) uint32 { return uint32(100*(cta^1) + i) }},
		{"st.async of 64 bits", "cvt.u64.u32 %rd5, %r46; shl.b64 %rd5, %rd5, 32; st.async.mbarrier::complete_tx::bytes.b64 [%r43], %rd5, [%r44];", "256", "4", func(cta, i int) uint32 { return uint32(100*(cta^1) + i) }},
		{"red.async add", "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r43], %r46, [%r44];", "128", "0", func(cta, i int) uint32 { return uint32(7 + 100*(cta^1) + i) }},
		{"red.async max", "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%r43], %r46, [%r44];", "128", "0", func(cta, i int) uint32 { return uint32(max(7, 100*(cta^1)+i)) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body := replaceAll(head, "BYTES", c.bytes) + c.text + replaceAll(tail, "AT", c.at)
			l := handLaunch(kernel(t, 1, body), 2, 32, 4096, 256)
			l.Cluster = [3]uint32{2, 1, 1}
			o := analysed(t, l)
			require.Nil(t, o.Hang)
			assert.True(t, o.Complete)
			got := full(t, l, 0)
			for i := range 64 {
				assert.Equal(t, c.want(i/32, i%32), binary.LittleEndian.Uint32(got[4*i:]), "block %d thread %d", i/32, i%32)
			}
			sameRecord(t, o, analysed(t, l))
			late := replaceAll(body, "_, [%r40], "+c.bytes, "_, [%r40], 4096") // more than ever come
			l = handLaunch(kernel(t, 1, late), 2, 32, 4096, 256)
			l.Cluster = [3]uint32{2, 1, 1}
			require.NotNil(t, run(t, l).Hang)
		})
	}
}
