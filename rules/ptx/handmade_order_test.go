package ptx

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrderOfHandmadeKernels(t *testing.T) {
	// Each kernel reads p0 and writes p1, 32 threads a block unless said; the
	// thread that writes a byte is not the one that reads it, except in "own".
	reversed := addresses + `
xor.b32 %r11, %tid, 31;
mad.lo.s32 %r12, %cta, 32, %r11;
mul.wide.s32 %rd13, %r12, 4;
add.s64 %rd14, %rd1, %rd13;
`
	far := `
xor.b32 %r11, %tid, 63;
mad.lo.s32 %r10, %cta, 64, %tid;
mad.lo.s32 %r12, %cta, 64, %r11;
mul.wide.s32 %rd12, %r10, 4;
mul.wide.s32 %rd13, %r12, 4;
add.s64 %rd10, %rd0, %rd12;
add.s64 %rd14, %rd1, %rd13;
mov.b32 %r40, smem;
`
	cases := []struct {
		name    string
		threads uint32
		body    string
		want    Safety
	}{
		{"own", 32, addresses + "ld.global.b32 %r1, [%rd10]; st.global.b32 [%rd11], %r1; ret;", Safe},
		{"own, written first", 32, addresses + "st.global.b32 [%rd11], %tid; ld.global.b32 %r1, [%rd10]; ret;", Unsafe},
		{"other lane", 32, reversed + "ld.global.b32 %r1, [%rd10]; st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other lane, shuffle", 32, reversed + "ld.global.b32 %r1, [%rd10]; shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1; st.global.b32 [%rd14], %r2; ret;", Safe},
		{"other lane, warp barrier", 32, reversed + "ld.global.b32 %r1, [%rd10]; bar.warp.sync -1; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other lane, vote", 32, reversed + "ld.global.b32 %r1, [%rd10]; setp.ne.b32 %p1, %tid, 77; vote.sync.any.pred %p2, %p1, -1; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other lane, redux of half", 32, reversed + "ld.global.b32 %r1, [%rd10]; setp.lt.u32 %p1, %tid, 16; @!%p1 bra X; redux.sync.add.s32 %r2, %tid, 0xffff; X: st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other lane, block barrier", 32, reversed + "ld.global.b32 %r1, [%rd10]; bar.sync 0; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other warp, shuffle", 64, far + "ld.global.b32 %r1, [%rd10]; shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1; st.global.b32 [%rd14], %r2; ret;", Unsafe},
		{"other warp, block barrier", 64, far + "ld.global.b32 %r1, [%rd10]; bar.sync 0; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other warp, named barrier", 64, far + "ld.global.b32 %r1, [%rd10]; bar.sync 3, 64; st.global.b32 [%rd14], %r1; ret;", Safe},
		{"other warp, barrier before", 64, far + "bar.sync 0; ld.global.b32 %r1, [%rd10]; st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other warp, two barriers of a warp each", 64, far + "ld.global.b32 %r1, [%rd10]; shr.u32 %r2, %tid, 5; add.u32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 1; @%p1 bar.sync 1, 32; @!%p1 bar.sync 2, 32; st.global.b32 [%rd14], %r1; ret;", Unsafe},
		{"other warp, mbarrier", 64, far + `setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 64; bar.sync 0;
ld.global.b32 %r1, [%rd10]; mbarrier.arrive.shared.b64 _, [%r40];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], %r1; ret;`, Safe},
		{"other warp, arrive before reading", 64, far + `setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 64; bar.sync 0;
mbarrier.arrive.shared.b64 _, [%r40]; ld.global.b32 %r1, [%rd10];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], %r1; ret;`, Unsafe},
		{"other lane, mbarrier of odd lanes that read", 32, reversed + oddArrive + `@%p3 ld.global.b32 %r1, [%rd10]; @%p3 mbarrier.arrive.shared.b64 _, [%r40];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], 1; ret;`, Safe},
		{"other lane, mbarrier of odd lanes, all read", 32, reversed + oddArrive + `ld.global.b32 %r1, [%rd10]; @%p3 mbarrier.arrive.shared.b64 _, [%r40];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], 1; ret;`, Unsafe},
		{"copies, waited", 32, addresses + `mov.b32 %r40, smem; mad.lo.s32 %r41, %tid, 4, %r40;
cp.async.ca.shared.global [%r41], [%rd10], 4; cp.async.commit_group; cp.async.wait_group 0; st.global.b32 [%rd11], %tid; ret;`, Safe},
		{"copies, not waited", 32, addresses + `mov.b32 %r40, smem; mad.lo.s32 %r41, %tid, 4, %r40;
cp.async.ca.shared.global [%r41], [%rd10], 4; cp.async.commit_group; cp.async.wait_group 1; st.global.b32 [%rd11], %tid; ret;`, Unsafe},
		{"copies, ended by an mbarrier", 64, far + `setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 64; bar.sync 0;
mad.lo.s32 %r41, %tid, 4, %r40; cp.async.ca.shared.global [%r41+64], [%rd10], 4;
cp.async.mbarrier.arrive.noinc.shared.b64 [%r40];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;
st.global.b32 [%rd14], %tid; ret;`, Safe},
		{"read by nobody whose guard holds", 32, addresses + "setp.gt.u32 %p1, %tid, 99; @%p1 ld.global.b32 %r1, [%rd10+4096]; st.global.b32 [%rd11], %tid; ret;", Safe},
		{"bulk copy, waited", 32, addresses + bulkHead + "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W; st.global.b32 [%rd11], %tid; ret;", Safe},
		{"bulk copy, waited by one warp's elder lanes only", 32, addresses + bulkHead + "setp.lt.u32 %p3, %tid, 8; @%p3 bra X; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W; X: st.global.b32 [%rd11], %tid; ret;", Unsafe},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 2, c.body), 4, c.threads, 4096, 1024, 1024)
				l.Mode = mode
				o := analysed(t, l)
				require.Nil(t, o.Hang)
				v := o.InPlace(0, 1, 0)
				require.Equal(t, c.want.String(), v.Safety.String(), "%+v %+v", v, v.Witness)
				require.True(t, o.Complete)
			}
		})
	}
}

// oddArrive makes an mbarrier of the 16 odd lanes of a warp.
const oddArrive = `mov.b32 %r40, smem; setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 16; bar.sync 0;
and.b32 %r2, %tid, 1; setp.eq.u32 %p3, %r2, 1;
`

const bulkHead = `mov.b32 %r40, smem; setp.eq.b32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 1; bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 128;
add.u32 %r41, %r40, 128;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r41], [%rd10], 128, [%r40];
`

func TestWarpTranspose(t *testing.T) {
	// A 32 x 32 tile a warp, turned by shuffles: 32 loads, then 32 stores.
	body := "mul.wide.u32 %rd12, %cta, 4096; mul.wide.u32 %rd13, %tid, 4; add.s64 %rd10, %rd0, %rd12; add.s64 %rd10, %rd10, %rd13; add.s64 %rd11, %rd1, %rd12; mul.wide.u32 %rd14, %tid, 128; add.s64 %rd11, %rd11, %rd14;\n"
	for i := 0; i < 32; i++ {
		body += fmt.Sprintf("ld.global.b32 %%r%d, [%%rd10+%d];\n", i+20, 128*i)
	}
	body += "shfl.sync.idx.b32 %r1, %r20, 0, 31, -1;\n"
	for i := 0; i < 32; i++ {
		body += fmt.Sprintf("st.global.b32 [%%rd11+%d], %%r%d;\n", 4*i, i+20)
	}
	l := handLaunch(kernel(t, 2, body+"ret;"), 8, 32, 0, 8*4096, 8*4096)
	for i := 0; i < 8*1024; i++ {
		binary.LittleEndian.PutUint32(l.Buffers[0].Contents[4*i:], uint32(i))
	}
	o := analysed(t, l)
	assert.Equal(t, Safe, o.InPlace(0, 1, 0).Safety)
	assert.Equal(t, Unsafe, o.InPlace(0, 1, 64).Safety)
	got := full(t, l, 1)
	for b := 0; b < 8; b++ {
		for r := 0; r < 32; r++ {
			for c := 0; c < 32; c++ {
				require.Equal(t, uint32(b*1024+r*32+c), binary.LittleEndian.Uint32(got[4*(b*1024+c*32+r):]))
			}
		}
	}
}

func TestLookBackIsUnknown(t *testing.T) {
	// Block b waits for flag b-1 in p1, then sets its own.
	body := `
setp.ne.u32 %p1, %tid, 0; @%p1 bra E;
mul.wide.u32 %rd10, %cta, 4; add.s64 %rd11, %rd1, %rd10; add.s64 %rd12, %rd0, %rd10;
ld.global.b32 %r1, [%rd12];
setp.eq.u32 %p2, %cta, 0; @%p2 bra S;
W: ld.volatile.global.b32 %r2, [%rd11+-4]; setp.eq.u32 %p3, %r2, 0; @%p3 bra W;
S: st.volatile.global.b32 [%rd11], 1;
E: ret;`
	for _, weak := range []bool{false, true} {
		if weak {
			body = replaceAll(body, ".volatile", "")
		}
		for _, order := range []Order{Forward, Backward} {
			l := handLaunch(kernel(t, 2, body), 16, 32, 0, 64, 64)
			l.Order = order
			o := run(t, l)
			v := o.InPlace(0, 1, 0)
			assert.Equal(t, Unknown, v.Safety)
			assert.Contains(t, v.Reason, "line ")
			if order == Forward {
				require.NotNil(t, o.MemoryOrder, "weak %v", weak)
				assert.False(t, o.Complete)
			} else {
				assert.False(t, o.Analysed)
				assert.Contains(t, o.Reason, "waits for memory")
			}
		}
	}
}

func replaceAll(s, old, new string) string {
	for i := 0; i+len(old) <= len(s); i++ {
		if s[i:i+len(old)] == old {
			s = s[:i] + new + s[i+len(old):]
		}
	}
	return s
}
