package ptx

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLanesMeetAtTwoPlaces: lanes below 16 go one way, the others another, and each thread
// then writes what the lane 31 - lane has read.
func TestLanesMeetAtTwoPlaces(t *testing.T) {
	const head = `mad.lo.s32 %r10, %cta, 128, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12;
xor.b32 %r11, %r10, 31; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd1, %rd13; and.b32 %r41, %tid, 31; shr.u32 %r42, %tid, 5;
ld.global.b32 %r5, [%rd10]; setp.lt.u32 %p1, %r41, 16;
`
	ways := func(low, high string) string {
		return head + "@%p1 bra LO; " + high + " bra J; LO: " + low + " J: st.global.b32 [%rd14], %r5; ret;"
	}
	runTwins(t, []twinKernel{
		{"of one mask", 128, ways("bar.warp.sync 0xffffffff;", "bar.warp.sync 0xffffffff;"), Safe},
		{"of one mask in registers", 128, ways("mov.b32 %r1, -1; bar.warp.sync %r1;", "mov.b32 %r2, 0xffffffff; bar.warp.sync %r2;"), Safe},
		{"each half for itself", 128, ways("bar.warp.sync 0xffff;", "bar.warp.sync 0xffff0000;"), Unsafe},
		{"twice, one of them before the read", 128, "bar.warp.sync -1;" + ways("bar.warp.sync -1;", "bar.warp.sync -1;"), Safe},
		{"by guards", 128, head + "@%p1 bar.warp.sync -1; @!%p1 bar.warp.sync -1; st.global.b32 [%rd14], %r5; ret;", Safe},
		{"by guards of halves", 128, head + "@%p1 bar.warp.sync 0xffff; @!%p1 bar.warp.sync 0xffff0000; st.global.b32 [%rd14], %r5; ret;", Unsafe},
		{"by shuffles", 128, ways("shfl.sync.bfly.b32 %r6, %r5, 31, 31, -1;", "shfl.sync.bfly.b32 %r7, %r5, 31, 31, -1;"), Safe},
		{"by votes", 128, ways("vote.sync.any.pred %p2, %p1, -1;", "vote.sync.any.pred %p3, %p1, -1;"), Safe},
		{"at three places", 128, head + `setp.lt.u32 %p2, %r41, 8; @%p2 bra A; @%p1 bra B; bar.warp.sync -1; bra J;
A: bar.warp.sync -1; bra J; B: bar.warp.sync -1; J: st.global.b32 [%rd14], %r5; ret;`, Safe},
		{"in the warps' own time", 128, head + `setp.lt.u32 %p2, %r42, 2; @%p2 bra X; bar.warp.sync -1; X: @%p1 bra LO; bar.warp.sync -1; bra J; LO: bar.warp.sync -1;
J: st.global.b32 [%rd14], %r5; ret;`, Safe},
		{"after more on one side", 128, ways("bar.warp.sync 0xffff; bar.warp.sync 0xffff; bar.warp.sync -1;", "bar.warp.sync -1;"), Safe},
		{"another warp's lanes", 128, `mad.lo.s32 %r10, %cta, 128, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12;
xor.b32 %r11, %r10, 63; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd1, %rd13; and.b32 %r41, %tid, 31;
ld.global.b32 %r5, [%rd10]; setp.lt.u32 %p1, %r41, 16; @%p1 bra LO; bar.warp.sync -1; bra J; LO: bar.warp.sync -1; J: st.global.b32 [%rd14], %r5; ret;`, Unsafe},
	})
}

// TestShuffleAtTwoPlaces: lanes give their values to lanes that stand elsewhere.
func TestShuffleAtTwoPlaces(t *testing.T) {
	body := addresses + `mul.lo.u32 %r1, %tid, 3; setp.lt.u32 %p1, %tid, 16; @%p1 bra LO;
shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1; bra J; LO: add.u32 %r1, %r1, 100; shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1; J: st.global.b32 [%rd11], %r2; ret;`
	l := handLaunch(kernel(t, 2, body), 1, 32, 0, 128, 128)
	got := full(t, l, 1)
	for i := range 32 {
		want := 3 * (31 - i)
		if 31-i < 16 {
			want += 100
		}
		assert.Equal(t, uint32(want), binary.LittleEndian.Uint32(got[4*i:]), "lane %d", i)
	}
}
