package ptx

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asyncCases: cp.async, cp.async.bulk and mbarrier (9.7.9.25, 9.7.13.15).
func asyncCases() []kernelCase {
	in := make([]uint32, 64)
	for i := range in {
		in[i] = uint32(0x100 + i)
	}
	with := func(c kernelCase) kernelCase {
		c.in = in
		return c
	}
	const own = "mad.lo.u32 %r41, %tid, 16, %r40; st.shared.v4.b32 [%r41], {-1, -1, -1, -1}; "
	const bar = "setp.eq.u32 %p9, %tid, 0; @%p9 mbarrier.init.shared.b64 [%r40], 1; bar.sync 0; "
	flags := func(n int) string {
		text := "mov.b32 %r1, 0; "
		for i := 1; i <= n; i++ {
			text += fmt.Sprintf("@%%p%d or.b32 %%r1, %%r1, %d; ", i, 1<<i)
		}
		return text
	}
	return []kernelCase{
		with(perThread("cp.async", own+"cp.async.ca.shared.global [%r41], [%rd10], 4; cp.async.commit_group; cp.async.wait_group 0; ld.shared.b32 %r1, [%r41];", 32, func(i int) uint32 { return uint32(0x100 + i) })),
		with(perThread("cp.async beyond source size is zero", own+"and.b32 %r2, %tid, 4; add.s64 %rd9, %rd0, 4; cp.async.ca.shared.global [%r41], [%rd9+4], 8, %r2; cp.async.wait_all; ld.shared.v2.b32 {%r3, %r4}, [%r41]; shl.b32 %r4, %r4, 16; add.u32 %r1, %r3, %r4;", 8, func(i int) uint32 { return pick(i&4 != 0, 0x102, 0) })),
		with(perThread("cp.async ignores the source", own+"setp.lt.u32 %p1, %tid, 2; cp.async.cg.shared.global [%r41], [%rd0], 16, %p1; cp.async.commit_group; cp.async.wait_group 0; ld.shared.b32 %r1, [%r41+12];", 4, func(i int) uint32 { return pick(i < 2, 0, 0x103) })),
		with(perThread("cp.async of some", own+"setp.lt.u32 %p1, %tid, 2; @%p1 cp.async.cg.shared.global [%r41], [%rd0], 16; cp.async.wait_all; ld.shared.b32 %r1, [%r41+8];", 4, func(i int) uint32 { return pick(i < 2, 0x102, 0xffffffff) })),
		with(perThread("cp.async.mbarrier.arrive", "mad.lo.u32 %r41, %tid, 16, %r40; setp.eq.u32 %p9, %tid, 0; @%p9 mbarrier.init.shared.b64 [%r40], 32; bar.sync 0;"+
			"cp.async.ca.shared.global [%r41+64], [%rd10], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%r40]; W: mbarrier.try_wait.parity.shared.b64 %p1, [%r40], 0; @!%p1 bra W;"+
			"xor.b32 %r2, %tid, 1; mad.lo.u32 %r41, %r2, 16, %r40; ld.shared.b32 %r1, [%r41+64];", 32, func(i int) uint32 { return uint32(0x100 + i ^ 1) })),
		with(perThread("cp.async.bulk", bar+"@%p9 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 128; add.u32 %r41, %r40, 128;"+
			"@%p9 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r41], [%rd0+64], 128, [%r40];"+
			"W: mbarrier.try_wait.parity.shared.b64 %p1, [%r40], 0; @!%p1 bra W; mad.lo.u32 %r41, %tid, 4, %r41; ld.shared.b32 %r1, [%r41];", 32, func(i int) uint32 { return uint32(0x110 + i) })),
		{name: "cp.async.bulk to global memory", threads: 32, words: 32, want: func(i int) uint32 { return uint32(3 * i) },
			body: rowHead + "mul.lo.u32 %r2, %tid, 3; mad.lo.u32 %r41, %tid, 4, %r40; st.shared.b32 [%r41], %r2; bar.sync 0; fence.proxy.async.shared::cta; setp.eq.u32 %p1, %tid, 0;" +
				"@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r40], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"},
		// A phase of two arrivals; the parity asked for is the last complete phase's, or the present one's.
		perThread("mbarrier phases", "mbarrier.init.shared.b64 [%r40], 2; mbarrier.arrive.shared.b64 %rd5, [%r40]; mbarrier.test_wait.shared.b64 %p1, [%r40], %rd5;"+
			"mbarrier.test_wait.parity.shared.b64 %p2, [%r40], 1; mbarrier.test_wait.parity.shared.b64 %p3, [%r40], 0; mbarrier.arrive.shared.b64 %rd6, [%r40];"+
			"mbarrier.test_wait.shared.b64 %p4, [%r40], %rd5; mbarrier.test_wait.parity.shared.b64 %p5, [%r40], 0; mbarrier.test_wait.parity.shared.b64 %p6, [%r40], 1;"+
			flags(6), 1, same32(1<<2|1<<4|1<<5)),
		perThread("mbarrier arrive with a count", "mbarrier.init.shared.b64 [%r40], 5; mbarrier.arrive.shared.b64 %rd5, [%r40], 3; mbarrier.test_wait.shared.b64 %p1, [%r40], %rd5;"+
			"mbarrier.arrive.shared.b64 %rd6, [%r40], 2; mbarrier.test_wait.shared.b64 %p2, [%r40], %rd5;"+flags(2), 1, same32(1<<2)),
		perThread("mbarrier arrive_drop", "mbarrier.init.shared.b64 [%r40], 2; mbarrier.arrive_drop.shared.b64 %rd5, [%r40]; mbarrier.test_wait.shared.b64 %p1, [%r40], %rd5; mbarrier.arrive.shared.b64 %rd6, [%r40];"+
			"mbarrier.test_wait.shared.b64 %p2, [%r40], %rd5; mbarrier.arrive.shared.b64 %rd7, [%r40]; mbarrier.test_wait.shared.b64 %p3, [%r40], %rd7;"+flags(3), 1, same32(1<<2|1<<3)),
		perThread("mbarrier expects bytes", "mbarrier.init.shared.b64 [%r40], 1; mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r40], 16; mbarrier.test_wait.shared.b64 %p1, [%r40], %rd5;"+
			"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r40+64], [%rd0], 16, [%r40]; W: mbarrier.try_wait.shared.b64 %p2, [%r40], %rd5; @!%p2 bra W; mbarrier.inval.shared.b64 [%r40];"+flags(2), 1, same32(1<<2)),
	}
}

// matrixCases: ldmatrix, stmatrix, movmatrix (9.7.14). Matrices are of 8 x 8
// halves; lane i holds row i/4, columns 2(i%4) and the next. Half n holds n.
func matrixCases() []kernelCase {
	pair := func(lo, hi int) uint32 { return uint32(lo | hi<<16) }
	const halves = "shl.b32 %r2, %tid, 1; add.u32 %r3, %r2, 1; shl.b32 %r3, %r3, 16; or.b32 %r2, %r2, %r3; mad.lo.u32 %r41, %tid, 4, %r40;" +
		"st.shared.b32 [%r41], %r2; add.u32 %r3, %r2, 0x00400040; st.shared.b32 [%r41+128], %r3; add.u32 %r3, %r3, 0x00400040; st.shared.b32 [%r41+256], %r3; add.u32 %r3, %r3, 0x00400040; st.shared.b32 [%r41+384], %r3;" +
		"bar.sync 0; and.b32 %r4, %tid, 7; "
	const row = "mad.lo.u32 %r42, %tid, 16, %r40; "
	const back = "bar.sync 0; ld.shared.b32 %r1, [%r41];"
	turned := func(i int) uint32 { return pair(16*(i%4)+i/4, 16*(i%4)+8+i/4) }
	return []kernelCase{
		perThread("ldmatrix x1, rows upside down", halves+"sub.u32 %r4, 7, %r4; mad.lo.u32 %r42, %r4, 16, %r40; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r42];", 32,
			func(i int) uint32 { n := 8*(7-i/4) + 2*(i%4); return pair(n, n+1) }),
		perThread("ldmatrix x1 trans", halves+"mad.lo.u32 %r42, %r4, 16, %r40; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%r42];", 32, turned),
		perThread("ldmatrix x2", halves+row+"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5, %r1}, [%r42];", 32, func(i int) uint32 { return pair(64+2*i, 65+2*i) }),
		perThread("ldmatrix x4", halves+row+"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r1}, [%r42];", 32, func(i int) uint32 { return pair(192+2*i, 193+2*i) }),
		perThread("ldmatrix x4 trans", halves+row+"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r5, %r6, %r1, %r7}, [%r42];", 32, func(i int) uint32 { return turned(i) + 0x00800080 }),
		perThread("stmatrix x1, rows upside down", halves+"sub.u32 %r4, 7, %r4; mad.lo.u32 %r42, %r4, 16, %r40; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r42], {%r2};"+back, 32,
			func(i int) uint32 { n := 8*(7-i/4) + 2*(i%4); return pair(n, n+1) }),
		perThread("stmatrix x2 trans", halves+row+"add.u32 %r3, %r2, 0x00400040; stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r42], {%r3, %r2};"+back, 32, func(i int) uint32 { return turned(i) + 0x00400040 }),
		perThread("stmatrix x4", halves+row+"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r42], {%r3, %r2, %r2, %r2};"+"bar.sync 0; ld.shared.b32 %r1, [%r41+256];", 32, func(i int) uint32 { return pair(2*i, 2*i+1) }),
		perThread("movmatrix", halves+"movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", 32, turned),
	}
}

// effectCases: what computes no values, and what makes a launch not analysed.
func effectCases() []effectCase {
	const crossed = rowHead + "xor.b32 %r2, %tid, 31; mul.wide.u32 %rd13, %r2, 4; add.s64 %rd14, %rd1, %rd13; ld.global.b32 %r1, [%rd10]; "
	const mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r5, %r6, %r7, %r8}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1, %r1, %r1, %r1}; "
	const wgmma = "wgmma.fence.sync.aligned; mov.b64 %rd20, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r5, %r6, %r7, %r8}, %rd20, %rd20, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; "
	opaque := func(want Safety) func(t *testing.T, o *Outcome) {
		return func(t *testing.T, o *Outcome) {
			require.True(t, o.Analysed, o.Reason)
			assert.True(t, o.Complete)
			assert.Equal(t, want, o.InPlace(0, 1, 0).Safety)
			assert.Equal(t, []Range{{0, 512}}, o.Effects[0].Read)
			assert.Equal(t, []Range{{0, 512}}, o.Effects[1].Written)
			if o.Stats.Full && len(o.Contents) > 0 {
				assert.Equal(t, []Range{{0, 512}}, o.Contents[1].Opaque)
			}
		}
	}
	refused := func(reason string) func(t *testing.T, o *Outcome) {
		return func(t *testing.T, o *Outcome) {
			assert.False(t, o.Analysed)
			assert.Contains(t, o.Reason, reason)
			assert.Equal(t, Unknown, o.InPlace(0, 1, 0).Safety)
		}
	}
	return []effectCase{
		{"mma orders the lanes of a warp", crossed + mma + "st.global.b32 [%rd14], %r5; ret;", opaque(Safe)},
		{"wgmma orders nothing", crossed + wgmma + "st.global.b32 [%rd14], %r5; ret;", opaque(Unsafe)},
		{"an address from mma", crossed + mma + "mul.wide.u32 %rd20, %r5, 4; add.s64 %rd20, %rd1, %rd20; st.global.b32 [%rd20], 1; ret;", refused("not computed")},
		{"a branch on mma", crossed + mma + "setp.eq.u32 %p1, %r5, 0; @%p1 bra E; st.global.b32 [%rd14], 1; E: ret;", refused("not computed")},
		{"a trap", rowHead + "setp.eq.u32 %p1, %tid, 3; @%p1 trap; ret;", refused("trap")},
		{"alloca", "alloca.u64 %rd5, 16; ret;", refused("alloca")},
		{"multimem", "multimem.red.relaxed.sys.global.add.u32 [%rd1], 1; ret;", refused("several devices")},
		{"discard", "discard.global.L2 [%rd1], 128; ret;", refused("discard")},
		{"cp.async.bulk, read and written", rowHead + `setp.eq.u32 %p1, %tid, 0; @!%p1 bra E; mbarrier.init.shared.b64 [%r40], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 256;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r40+128], [%rd0+512], 256, [%r40]; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
cp.async.bulk.global.shared::cta.bulk_group [%rd1+1024], [%r40+128], 256; cp.async.bulk.commit_group; E: ret;`, func(t *testing.T, o *Outcome) {
			require.True(t, o.Analysed, o.Reason)
			assert.Equal(t, []Range{{512, 768}}, o.Effects[0].Read)
			assert.Equal(t, []Range{{1024, 1280}}, o.Effects[1].Written)
			assert.Equal(t, Safe, o.InPlace(0, 1, -512).Safety) // the same bytes: read before they are written
		}},
		{"cp.reduce.async.bulk", rowHead + "setp.eq.u32 %p1, %tid, 0; @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1+16], [%r40], 64; ret;", func(t *testing.T, o *Outcome) {
			require.True(t, o.Analysed, o.Reason)
			assert.Equal(t, []Range{{16, 80}}, o.Effects[1].Atomic)
			assert.Empty(t, o.Effects[1].Written)
		}},
		{"a tensor map is copied to global memory", rowHead + `setp.lt.u32 %p1, %tid, 32; @!%p1 bra E; mov.b64 %rd5, smem; tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd5], 1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1+128], [%rd5], 0x80; E: ret;`, func(t *testing.T, o *Outcome) {
			require.True(t, o.Analysed, o.Reason)
			assert.Equal(t, []Range{{128, 256}}, o.Effects[1].Written)
			assert.Empty(t, o.Descriptors) // nothing was copied by it
		}},
	}
}
