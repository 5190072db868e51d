package ptx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waits are kernels of blocks of 128 threads in which one warp waits for others, or asks
// who came last, by shared memory.
func TestWaitsOnSharedMemory(t *testing.T) {
	const head = otherWarp + `setp.ne.u32 %p5, %tid, 0; @!%p5 st.shared.u32 [%r40], 0; bar.sync 0;
mul.wide.s32 %rd15, %r10, 4; add.s64 %rd15, %rd1, %rd15; setp.eq.u32 %p1, %r42, 0;
`
	const flag = head + "@!%p1 bra W; ld.global.b32 %r5, [%rd10+256]; bar.warp.sync -1; membar.cta; @!%p5 st.volatile.shared.u32 [%r40], 1; bra E;\n" +
		"W: setp.ne.u32 %p2, %r42, 2; @%p2 bra E;\n"
	const ticket = head + "ld.global.b32 %r5, [%rd10]; bar.warp.sync -1; membar.cta; setp.eq.u32 %p4, %r41, 0; mov.u32 %r24, 0; @%p4 atom.acq_rel.cta.shared.add.u32 %r24, [%r40], 1; shfl.sync.idx.b32 %r24, %r24, 0, 31, -1; setp.ne.u32 %p6, %r24, 3;\n"
	runTwins(t, []twinKernel{
		{"a flag, waited for", 128, flag + "L: ld.volatile.shared.u32 %r23, [%r40]; setp.eq.u32 %p3, %r23, 0; @%p3 bra L; membar.cta; st.global.b32 [%rd15], 1; E: ret;", Unknown},
		{"a flag, waited for by acquire", 128, flag + "L: ld.acquire.cta.shared.u32 %r23, [%r40]; setp.eq.u32 %p3, %r23, 0; @%p3 bra L; st.global.b32 [%rd15], 1; E: ret;", Unknown},
		{"a flag, waited for by plain loads", 128, flag + "L: ld.shared.u32 %r23, [%r40]; setp.eq.u32 %p3, %r23, 0; @%p3 bra L; st.global.b32 [%rd15], 1; E: ret;", Unknown},
		{"a flag, waited for by atomics", 128, flag + "L: atom.shared.or.b32 %r23, [%r40], 0; setp.eq.u32 %p3, %r23, 0; @%p3 bra L; st.global.b32 [%rd15], 1; E: ret;", Unknown},
		{"nobody waits", 128, flag + "st.global.b32 [%rd15], 1; E: ret;", Unsafe},
		{"a barrier beside the flag", 128, head + "ld.global.b32 %r5, [%rd10]; bar.sync 0; @!%p5 st.volatile.shared.u32 [%r40], 1; L: ld.volatile.shared.u32 %r23, [%r40]; setp.eq.u32 %p3, %r23, 0; @%p3 bra L; st.global.b32 [%rd14], %r5; ret;", Safe},
		{"its own bytes beside the flag", 128, head + "ld.global.b32 %r5, [%rd10]; bar.warp.sync -1; @!%p5 st.volatile.shared.u32 [%r40], 1; L: ld.volatile.shared.u32 %r23, [%r40]; setp.eq.u32 %p3, %r23, 0; @%p3 bra L; st.global.b32 [%rd15], %r5; ret;", Safe},
		{"another block's bytes beside the flag", 128, head + "ld.global.b32 %r5, [%rd10]; bar.warp.sync -1; @!%p5 st.volatile.shared.u32 [%r40], 1; L: ld.volatile.shared.u32 %r23, [%r40]; setp.eq.u32 %p3, %r23, 0; @%p3 bra L; xor.b32 %r11, %r10, 128; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd1, %rd13; st.global.b32 [%rd14], %r5; ret;", Unsafe},
		{"a barrier that the waiting may go around", 128, head + "ld.global.b32 %r5, [%rd10]; @!%p5 st.volatile.shared.u32 [%r40], 1; ld.volatile.shared.u32 %r23, [%r40+4]; setp.eq.u32 %p3, %r23, 7; @%p3 bra X; bar.sync 0; X: st.global.b32 [%rd14], %r5; ret;", Unknown},
		{"a ticket, and the last warp writes", 128, ticket + "@%p6 bra E; membar.cta; shl.b32 %r25, %r41, 4; cvt.u64.u32 %rd9, %r25; add.s64 %rd16, %rd1, %rd9; st.global.v4.b32 [%rd16], {%r5, %r5, %r5, %r5}; E: ret;", Unknown},
		{"a ticket as an address", 128, ticket + "mul.wide.u32 %rd9, %r24, 4; add.s64 %rd16, %rd1, %rd9; st.global.b32 [%rd16], %r5; ret;", Unknown},
		{"a ticket that nothing asks", 128, ticket + "st.global.b32 [%rd15], %r24; ret;", Safe},
		{"a table handed over by a barrier", 128, head + "mad.lo.u32 %r20, %tid, 4, %r40; st.shared.b32 [%r20], %r10; bar.sync 0; xor.b32 %r21, %tid, 127; mad.lo.u32 %r20, %r21, 4, %r40; ld.shared.b32 %r22, [%r20]; mul.wide.s32 %rd16, %r22, 4; add.s64 %rd17, %rd0, %rd16; ld.global.b32 %r5, [%rd17]; bar.sync 0; st.global.b32 [%rd15], %r5; ret;", Safe},
	})
}

// TestNobodyWritesTheFlag: a length that is loaded like a flag, and that no thread writes,
// decides whether threads go on, and a barrier between: nothing about it is in doubt.
func TestNobodyWritesTheFlag(t *testing.T) {
	const body = `mad.lo.s32 %r10, %cta, 128, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12;
xor.b32 %r11, %r10, 127; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd1, %rd13;
ld.volatile.global.b32 %r1, [%rd2]; setp.ne.s32 %p1, %r1, 0; @%p1 bra E;
ld.global.b32 %r5, [%rd10]; `
	for _, c := range []struct {
		name, end string
		want      Safety
	}{
		{"a barrier between", "bar.sync 0; st.global.b32 [%rd14], %r5; E: ret;", Safe},
		{"none", "st.global.b32 [%rd14], %r5; E: ret;", Unsafe},
		{"a barrier between, and it is written", "bar.sync 0; st.global.b32 [%rd14], %r5; st.global.b32 [%rd2], 0; E: ret;", Unknown},
	} {
		for _, mode := range []Mode{Sliced, Full} {
			l := handLaunch(kernel(t, 3, body+c.end), 4, 128, 0, 2048, 2048, 4)
			l.Mode = mode
			assert.Equal(t, c.want.String(), analysed(t, l).InPlace(0, 1, 0).Safety.String(), "%s, mode %d", c.name, mode)
		}
	}
}

// TestOrderElsewhere: blocks look back at each other's flags, or lock a count, in buffers
// of their own; what they read and write besides is theirs alone, or is not.
func TestOrderElsewhere(t *testing.T) {
	const place = `mad.lo.s32 %r10, %cta, 32, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12; add.s64 %rd11, %rd1, %rd12;
setp.ne.u32 %p5, %tid, 0; mul.wide.u32 %rd20, %cta, 4; add.s64 %rd21, %rd2, %rd20;
`
	const lookBack = place + `ld.global.b32 %r5, [%rd10]; @%p5 bra S; setp.eq.u32 %p2, %cta, 0; @%p2 bra P;
W: ld.acquire.gpu.global.b32 %r2, [%rd21+-4]; setp.eq.u32 %p3, %r2, 0; @%p3 bra W;
P: st.release.gpu.global.b32 [%rd21], 1;
S: bar.sync 0;
`
	const lock = place + `ld.global.b32 %r5, [%rd10];
@%p5 bra S; W: atom.acquire.gpu.global.cas.b32 %r2, [%rd2], 0, 1; setp.ne.u32 %p3, %r2, 0; @%p3 bra W;
S: bar.sync 0; ld.global.b32 %r6, [%rd2+4]; setp.ne.u32 %p6, %r6, 0; @%p6 bra N;
N: bar.sync 0; @!%p5 st.global.b32 [%rd2+4], 1; @!%p5 atom.release.gpu.global.exch.b32 %r7, [%rd2], 0;
`
	for _, c := range []struct {
		name, body string
		want       Safety
	}{
		{"look-back, its own bytes", lookBack + "st.global.b32 [%rd11], %r5; ret;", Safe},
		{"look-back, the bytes of the one before", lookBack + "st.global.b32 [%rd11+-128], %r5; ret;", Unknown},
		{"a lock, its own bytes", lock + "st.global.b32 [%rd11], %r5; ret;", Safe},
		{"a lock, and who holds it writes elsewhere", lock + "cvt.u64.u32 %rd22, %r6; add.s64 %rd11, %rd11, %rd22; st.global.b32 [%rd11], %r5; ret;", Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 3, c.body), 4, 32, 0, 1024, 1024, 256)
				l.Mode, l.Args[1].Offset = mode, 128
				o := analysed(t, l)
				require.NotNil(t, o.MemoryOrder)
				assert.False(t, o.Complete)
				v := o.InPlace(0, 1, -128)
				assert.Equal(t, c.want.String(), v.Safety.String(), "mode %d: %+v %+v", mode, v, v.Witness)
				assert.Equal(t, Unknown.String(), o.InPlace(2, 2, 0).Safety.String())
			}
		})
	}
}
