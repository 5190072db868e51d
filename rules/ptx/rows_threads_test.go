package ptx

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// out and in leave the address of the thread's word in %rd11 and %rd10.
const rowHead = "mul.wide.u32 %rd12, %tid, 4; add.s64 %rd11, %rd1, %rd12; add.s64 %rd10, %rd0, %rd12; mov.b32 %r40, smem;\n"

// perThread is a kernel of one warp, or more, that leaves %r1 of each thread.
func perThread(name, body string, threads uint32, want func(i int) uint32) kernelCase {
	return kernelCase{name: name, body: rowHead + body + "\nst.global.b32 [%rd11], %r1; ret;", threads: threads, want: want}
}

func same32(x uint32) func(int) uint32 { return func(int) uint32 { return x } }

func pick(ok bool, a, b uint32) uint32 {
	if ok {
		return a
	}
	return b
}

// warpCases: shfl, vote, match, redux, activemask, elect (9.7.9 and 9.7.13).
func warpCases() []kernelCase {
	const tens = "mul.lo.u32 %r2, %tid, 10; "
	ten := func(i int) uint32 { return uint32(10 * i) }
	shfl := func(name, text string, want func(i int) uint32) kernelCase {
		return perThread(name, tens+text, 32, want)
	}
	return []kernelCase{
		shfl("shfl idx", "shfl.sync.idx.b32 %r1, %r2, 5, 31, -1;", same32(50)),
		shfl("shfl idx in parts of 8", "shfl.sync.idx.b32 %r1, %r2, 11, 0x181f, -1;", func(i int) uint32 { return ten(i&^7 + 3) }),
		shfl("shfl up", "shfl.sync.up.b32 %r1, %r2, 3, 0, -1;", func(i int) uint32 { return ten(i - 3*int(pick(i >= 3, 1, 0))) }),
		shfl("shfl up, valid", "shfl.sync.up.b32 %r3|%p1, %r2, 3, 0x1800, -1; selp.u32 %r1, 1, 0, %p1;", func(i int) uint32 { return pick(i%8 >= 3, 1, 0) }),
		shfl("shfl down", "shfl.sync.down.b32 %r1, %r2, 4, 31, -1;", func(i int) uint32 { return pick(i < 28, ten(i+4), ten(i)) }),
		shfl("shfl down in parts of 16", "shfl.sync.down.b32 %r1, %r2, 4, 0x101f, -1;", func(i int) uint32 { return pick(i%16 < 12, ten(i+4), ten(i)) }),
		shfl("shfl bfly", "shfl.sync.bfly.b32 %r1, %r2, 5, 31, -1;", func(i int) uint32 { return ten(i ^ 5) }),
		shfl("shfl bfly in parts of 4", "shfl.sync.bfly.b32 %r3|%p1, %r2, 4, 0x1c03, -1; selp.u32 %r1, %r3, 7, %p1;", func(i int) uint32 { return pick(i&4 != 0, ten(i^4), 7) }),
		shfl("shfl of lanes that differ", "xor.b32 %r3, %tid, 1; shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;", func(i int) uint32 { return ten(i ^ 1) }),
		perThread("vote", "setp.gt.u32 %p1, %tid, 29; vote.sync.ballot.b32 %r1, %p1, -1;", 32, same32(0xc0000000)),
		perThread("vote all, any, uni", "setp.lt.u32 %p1, %tid, 40; vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, !%p1, -1; vote.sync.uni.pred %p4, %p1, -1;"+
			"selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 2, 0, %p3; selp.u32 %r4, 4, 0, %p4; add.u32 %r1, %r2, %r3; add.u32 %r1, %r1, %r4;", 64, func(i int) uint32 { return pick(i < 32, 5, 2) }),
		perThread("vote of half a warp", "mov.b32 %r1, 9; setp.ge.u32 %p1, %tid, 16; @%p1 bra E; setp.eq.u32 %p2, %tid, 3; vote.sync.ballot.b32 %r1, %p2, 0xffff; E:", 32, func(i int) uint32 { return pick(i < 16, 8, 9) }),
		perThread("match any", "and.b32 %r2, %tid, 3; match.any.sync.b32 %r1, %r2, -1;", 32, func(i int) uint32 { return 0x11111111 << (i & 3) }),
		perThread("match all", "shr.u32 %r2, %tid, 5; match.all.sync.b32 %r1|%p1, %r2, -1; @!%p1 mov.b32 %r1, 1;", 64, same32(0xffffffff)),
		perThread("match all of 64 bits", "shr.u32 %r2, %tid, 5; cvt.u64.u32 %rd9, %r2; shl.b64 %rd9, %rd9, 32; match.all.sync.b64 %r1|%p1, %rd9, -1; @!%p1 mov.b32 %r1, 1;", 64, same32(0xffffffff)),
		perThread("match all, one differs", "setp.eq.u32 %p2, %tid, 7; selp.u32 %r2, 1, 0, %p2; match.all.sync.b32 %r1|%p1, %r2, -1; @%p1 mov.b32 %r1, 1;", 32, same32(0)),
		perThread("match any of 64 bits", "shr.u32 %r2, %tid, 4; cvt.u64.u32 %rd9, %r2; shl.b64 %rd9, %rd9, 32; match.any.sync.b64 %r1, %rd9, -1;", 32, func(i int) uint32 { return pick(i < 16, 0xffff, 0xffff0000) }),
		perThread("redux add", "redux.sync.add.s32 %r1, %tid, -1;", 32, same32(496)),
		perThread("redux min, max", "sub.s32 %r2, %tid, 5; redux.sync.min.s32 %r3, %r2, -1; redux.sync.max.u32 %r4, %r2, -1; sub.u32 %r1, %r4, %r3;", 32, same32(4)),
		perThread("redux and, or, xor", "or.b32 %r2, %tid, 64; redux.sync.and.b32 %r3, %r2, -1; redux.sync.or.b32 %r4, %r2, -1; redux.sync.xor.b32 %r5, %tid, 0x1; shl.b32 %r3, %r3, 8; or.b32 %r1, %r3, %r4;", 32, same32(0x405f)),
		perThread("redux min u32, max s32", "sub.s32 %r2, %tid, 5; redux.sync.min.u32 %r3, %r2, -1; redux.sync.max.s32 %r4, %r2, -1; shl.b32 %r4, %r4, 8; or.b32 %r1, %r3, %r4;", 32, same32(26<<8)),
		perThread("redux min, max f32", "cvt.rn.f32.u32 %r2, %tid; redux.sync.max.f32 %r3, %r2, -1; redux.sync.min.f32 %r4, %r2, -1; or.b32 %r1, %r3, %r4;", 32, same32(0x41f80000)),
		perThread("redux of parts", "shr.u32 %r2, %tid, 3; shl.b32 %r2, %r2, 3; shl.b32 %r3, 0xff, %r2; redux.sync.add.u32 %r1, %tid, %r3;", 32, func(i int) uint32 { return uint32(28 + 64*(i/8)) }),
		perThread("activemask", "setp.lt.u32 %p1, %tid, 12; mov.b32 %r1, 0; @!%p1 bra E; activemask.b32 %r1; E:", 32, func(i int) uint32 { return pick(i < 12, 0xfff, 0) }),
		perThread("elect", "elect.sync %r2|%p1, 0xfffffff0; selp.u32 %r1, 100, %r2, %p1;", 32, func(i int) uint32 { return pick(i == 4, 100, 4) }),
	}
}

// memoryCases: ld, st, ldu, vectors, widths, spaces.
func memoryCases() []kernelCase {
	in := []uint32{0x03020180, 0x07060504, 0x0b0a0908, 0x0f0e0d0c}
	with := func(c kernelCase) kernelCase {
		c.in = in
		return c
	}
	return []kernelCase{
		with(perThread("ld s8, u8", "ld.global.s8 %r2, [%rd0]; ld.global.u8 %r3, [%rd0]; sub.u32 %r1, %r3, %r2;", 1, same32(256))),
		with(perThread("ld s16, negative offset", "add.s64 %rd9, %rd0, 8; ld.global.s16 %r1, [%rd9+-8];", 1, same32(0x180))),
		with(perThread("ld v2, v4", "ld.global.v2.b32 {%r2, %r3}, [%rd0+8]; ld.global.v4.b8 {%r4, %r5, %r6, %r7}, [%rd0+4]; shl.b32 %r5, %r5, 8; shl.b32 %r7, %r7, 24; add.u32 %r1, %r2, %r5; add.u32 %r1, %r1, %r7; sub.u32 %r1, %r1, %r4;", 1, same32(0x0b0a0908+0x500+0x07000000-4))),
		with(perThread("ld v4, a register not wanted", "ld.global.v4.u32 {_, _, %r1, _}, [%rd0];", 1, same32(0x0b0a0908))),
		with(perThread("ld b64, v2.b64, b128", ".reg .b128 %y; ld.global.v2.b64 {%rd5, %rd6}, [%rd0]; ld.global.b128 %y, [%rd0]; mov.b128 {%rd7, %rd8}, %y; sub.s64 %rd5, %rd5, %rd7; sub.s64 %rd6, %rd6, %rd8; or.b64 %rd5, %rd5, %rd6; cvt.u32.u64 %r1, %rd6; ld.global.b64 %rd9, [%rd0+4]; shr.u64 %rd9, %rd9, 32; cvt.u32.u64 %r2, %rd9; add.u32 %r1, %r1, %r2;", 1, same32(0x0b0a0908))),
		with(perThread("ldu, ld.nc, ld.volatile, ld.relaxed", "ldu.global.u32 %r2, [%rd0+4]; ld.global.nc.u32 %r3, [%rd0+4]; ld.volatile.global.u32 %r4, [%rd0+4]; ld.relaxed.gpu.global.u32 %r5, [%rd0+4]; xor.b32 %r1, %r2, %r3; xor.b32 %r1, %r1, %r4; xor.b32 %r1, %r1, %r5;", 1, same32(0))),
		with(perThread("guarded load keeps the register", "mov.b32 %r1, 77; setp.eq.u32 %p1, %tid, 1; @%p1 ld.global.u32 %r1, [%rd0+4];", 2, func(i int) uint32 { return pick(i == 1, 0x07060504, 77) })),
		{name: "st of every width", threads: 1, words: 4, body: "mov.b32 %r2, 0x12345678; st.global.b8 [%rd1], %r2; st.global.b16 [%rd1+2], %r2; mov.b64 %rd5, 0x1122334455667788; st.global.b64 [%rd1+8], %rd5; st.global.v2.b8 [%rd1+4], {%r2, 1}; ret;",
			want: func(i int) uint32 { return [...]uint32{0x56780078, 0x178, 0x55667788, 0x11223344}[i] }},
		{name: "st v4 and b128", threads: 1, words: 8, body: ".reg .b128 %y; st.global.v4.b32 [%rd1], {1, 2, 3, 4}; mov.b64 %rd5, 5; mov.b64 %rd6, 6; mov.b128 %y, {%rd5, %rd6}; st.global.b128 [%rd1+16], %y; ret;",
			want: func(i int) uint32 { return [...]uint32{1, 2, 3, 4, 5, 0, 6, 0}[i] }},
		perThread("shared, by another thread's word", "mad.lo.u32 %r41, %tid, 4, %r40; st.shared.b32 [%r41], %tid; bar.sync 0; xor.b32 %r2, %tid, 33; mad.lo.u32 %r41, %r2, 4, %r40; ld.shared.b32 %r1, [%r41];", 64, func(i int) uint32 { return uint32(i ^ 33) }),
		perThread("shared by a generic address", "mov.b64 %rd5, smem; cvta.shared.u64 %rd5, %rd5; add.s64 %rd5, %rd5, %rd12; st.b32 [%rd5], %tid; mad.lo.u32 %r41, %tid, 4, %r40; ld.shared.b32 %r1, [%r41];", 32, func(i int) uint32 { return uint32(i) }),
		perThread("local memory is the thread's own", ".local .align 4 .b8 stack[16]; st.local.b32 [stack+4], %tid; mov.u64 %rd5, stack; cvta.local.u64 %rd5, %rd5; ld.b32 %r1, [%rd5+4];", 32, func(i int) uint32 { return uint32(i) }),
		perThread("hints touch nothing", "prefetch.global.L2 [%rd0+1048576]; prefetchu.L1 [%rd0]; createpolicy.fractional.L2::evict_first.b64 %rd5, 1.0; applypriority.global.L2::evict_normal [%rd0], 128; mov.b32 %r1, 3;", 1, same32(3)),
	}
}

// atomicCases: every thread of a warp on one word, or on its own.
func atomicCases() []kernelCase {
	all := func(name, text string, start, want uint32) kernelCase {
		return kernelCase{name: name, threads: 32, words: 1, want: same32(want),
			body: "setp.eq.u32 %p1, %tid, 0; @%p1 st.global.b32 [%rd1], " + fmt.Sprint(start) + "; bar.sync 0; " + text + " ret;"}
	}
	old := func(name, text string, start, want uint32) kernelCase {
		return kernelCase{name: name + ", old value", threads: 1, words: 1, want: same32(want), in: []uint32{start, 0x40000000},
			body: text + " st.global.b32 [%rd1], %r1; ret;"}
	}
	left := func(name, text string, start, want uint32) kernelCase {
		return old(name, text+" ld.global.b32 %r1, [%rd0];", start, want)
	}
	return []kernelCase{
		all("red add", "red.global.add.u32 [%rd1], %tid;", 4, 500),
		all("red max s32", "sub.s32 %r1, %tid, 40; red.global.max.s32 [%rd1], %r1;", 0xffffff00, neg9()),
		all("red min u32", "add.u32 %r1, %tid, 3; red.global.min.u32 [%rd1], %r1;", 1000, 3),
		all("red and, or, xor", "shl.b32 %r1, 1, %tid; red.global.or.b32 [%rd1], %r1; bar.sync 0; not.b32 %r2, 2; @%p1 red.global.and.b32 [%rd1], %r2; bar.sync 0; @%p1 red.global.xor.b32 [%rd1], 1;", 0, 0xfffffffc),
		all("red inc wraps", "red.global.inc.u32 [%rd1], 9;", 0, 2),
		all("red dec wraps", "red.global.dec.u32 [%rd1], 9;", 0, 8),
		all("red through a generic address", "red.add.u32 [%rd1], 1;", 1, 33),
		all("shared atomics", "mov.b32 %r40, smem; @%p1 st.shared.b32 [%r40], 0; bar.sync 0; atom.shared.add.u32 %r1, [%r40], 2; bar.sync 0; ld.shared.b32 %r2, [%r40]; @%p1 st.global.b32 [%rd1], %r2;", 0, 64),
		old("atom add", "atom.global.add.u32 %r1, [%rd0], 5;", 7, 7),
		old("atom exch", "atom.global.exch.b32 %r1, [%rd0], 5;", 7, 7),
		left("atom exch", "atom.global.exch.b32 %r2, [%rd0], 5;", 7, 5),
		left("atom cas that fits", "atom.global.cas.b32 %r2, [%rd0], 7, 9;", 7, 9),
		left("atom cas that does not", "atom.global.cas.b32 %r2, [%rd0], 6, 9;", 7, 7),
		old("atom cas", "atom.acq_rel.gpu.global.cas.b32 %r1, [%rd0], 6, 9;", 7, 7),
		left("atom add f32", "mov.f32 %f1, 0f3FC00000; atom.global.add.f32 %f2, [%rd0], %f1;", 0x3f800000, 0x40200000),
		left("atom add f16x2", "mov.b32 %r2, 0x3c003c00; atom.global.add.noftz.f16x2 %r3, [%rd0], %r2;", 0x40003c00, 0x42004000),
		left("atom add u64", "atom.global.add.u64 %rd5, [%rd0], 0x100000001; ld.global.b32 %r9, [%rd0+4];", 0xffffffff, 0),
		left("atom min s64", "atom.global.min.s64 %rd5, [%rd0], -2;", 5, 0xfffffffe),
		left("atom inc", "atom.global.inc.u32 %r2, [%rd0], 7;", 7, 0),
		left("atom dec", "atom.global.dec.u32 %r2, [%rd0], 7;", 9, 7),
	}
}

func neg9() uint32 { return 0xfffffff7 }

// controlCases: branches, calls, exits, and what does nothing.
func controlCases() []kernelCase {
	return []kernelCase{
		perThread("bra, both ways", "setp.lt.u32 %p1, %tid, 5; @%p1 bra A; mov.b32 %r1, 2; bra.uni E; A: mov.b32 %r1, 1; E:", 32, func(i int) uint32 { return pick(i < 5, 1, 2) }),
		perThread("a loop of its own length", "mov.b32 %r1, 0; L: add.u32 %r1, %r1, 3; setp.le.u32 %p1, %r1, %tid; @%p1 bra L;", 32, func(i int) uint32 { return uint32(i/3*3 + 3) }),
		perThread("brx.idx", "ts: .branchtargets A, B, C; and.b32 %r2, %tid, 3; min.u32 %r2, %r2, 2; brx.idx %r2, ts; A: mov.b32 %r1, 10; bra E; B: mov.b32 %r1, 20; bra E; C: mov.b32 %r1, 30; E:", 32, func(i int) uint32 { return 10 * uint32(min(i&3, 2)+1) }),
		perThread("exit and ret of some", "mov.b32 %r1, 1; st.global.b32 [%rd11], 9; setp.eq.u32 %p1, %tid, 2; @%p1 exit; setp.eq.u32 %p1, %tid, 3; @%p1 ret;", 8, func(i int) uint32 { return pick(i == 2 || i == 3, 9, 1) }),
		perThread("nothing", "nanosleep.u32 100; brkpt; pmevent 1; setmaxnreg.inc.sync.aligned.u32 32; griddepcontrol.wait; griddepcontrol.launch_dependents; membar.gl; fence.acq_rel.gpu; fence.proxy.async; mov.b32 %r1, 4;", 32, same32(4)),
		perThread("trap that nobody reaches", "setp.gt.u32 %p1, %tid, 99; @%p1 trap; mov.b32 %r1, 4;", 32, same32(4)),
		perThread("bar.red", "setp.lt.u32 %p1, %tid, 3; bar.red.popc.u32 %r1, 0, %p1; barrier.cta.red.and.pred %p2, 1, %p1; bar.red.or.pred %p3, 2, 64, %p1; @%p2 add.u32 %r1, %r1, 100; @%p3 add.u32 %r1, %r1, 1000;", 64, same32(1003)),
		perThread("bar.arrive", "mov.b32 %r1, 1; setp.ge.u32 %p1, %tid, 32; @%p1 bra S; st.shared.b32 [%r40], 7; bar.arrive 3, 64; bra E; S: bar.sync 3, 64; ld.shared.b32 %r1, [%r40]; E:", 64, func(i int) uint32 { return pick(i < 32, 1, 7) }),
	}
}

// callText calls a function for some threads.
func callText() string {
	return `.version 8.7
.target sm_90
.address_size 64
.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }
.entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
mov.u32 %r1, %tid.x; ld.param.u64 %d1, [p]; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; mov.b32 %r3, %r1;
setp.lt.u32 %p1, %r1, 20;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; @%p1 call.uni (y), twice, (x); ld.param.b32 %r4, [y]; selp.b32 %r3, %r4, %r3, %p1; }
st.global.b32 [%d1], %r3; ret; }`
}

func TestRowCall(t *testing.T) {
	m, err := syntax.Parse("call.ptx", []byte(callText()))
	require.NoError(t, err)
	got := full(t, handLaunch(m.Entries[0], 1, 32, 0, 128), 0)
	for i := range 32 {
		assert.Equal(t, pick(i < 20, uint32(2*i), uint32(i)), uint32(little(got, int64(4*i), 4)), "thread %d", i)
	}
}
