package ptx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twinKernel is one of two kernels that look alike, of which one is safe in place.
type twinKernel struct {
	name    string
	threads uint32
	body    string
	want    Safety
}

// apart32 puts in %rd10 where the thread reads, 128 elements a block, and in %rd14 the
// place of the thread of another warp: each writes what another warp reads.
const otherWarp = `
mad.lo.s32 %r10, %cta, 128, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12;
xor.b32 %r11, %r10, 127; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd1, %rd13;
mov.b32 %r40, smem; and.b32 %r41, %tid, 31; shr.u32 %r42, %tid, 5;
`

func runTwins(t *testing.T, cases []twinKernel) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 2, c.body), 4, c.threads, 4096, 2048, 2048)
				l.Mode = mode
				o := analysed(t, l)
				require.Nil(t, o.Hang)
				v := o.InPlace(0, 1, 0)
				require.Equal(t, c.want.String(), v.Safety.String(), "mode %d: %+v %+v", mode, v, v.Witness)
			}
		})
	}
}

func TestBarriersInRegisters(t *testing.T) {
	// Warps w and 3-w name barrier 1 + min(w, 3-w).
	const pairs = "sub.s32 %r1, 3, %r42; min.u32 %r2, %r42, %r1; add.s32 %r2, %r2, 1;\n"
	const load, store = otherWarp + "ld.global.b32 %r5, [%rd10];\n", "st.global.b32 [%rd14], %r5; ret;"
	runTwins(t, []twinKernel{
		{"two warps each", 128, load + pairs + "bar.sync %r2, 64;" + store, Safe},
		{"a count in a register", 128, load + pairs + "mov.b32 %r3, 64; barrier.sync %r2, %r3;" + store, Safe},
		{"with the wrong warp", 128, load + "and.b32 %r2, %r42, 1; bar.sync %r2, 64;" + store, Unsafe},
		{"each warp its own", 128, load + "add.s32 %r2, %r42, 1; bar.sync %r2, 32;" + store, Unsafe},
		{"one arrives, one waits", 128, load + pairs + "setp.lt.u32 %p1, %r42, 2; @%p1 bra A; bar.arrive %r2, 64; bra E; A: bar.sync %r2, 64; " + "st.global.b32 [%rd14], %r5; E: ret;", Safe},
		{"the one that arrives writes", 128, load + pairs + "setp.lt.u32 %p1, %r42, 2; @%p1 bra A; bar.arrive %r2, 64; st.global.b32 [%rd14], %r5; bra E; A: bar.sync %r2, 64; E: ret;", Unsafe},
	})
}

func TestRelaxedArrive(t *testing.T) {
	const head = otherWarp + `setp.ne.u32 %p5, %tid, 0; @%p5 bra I; mbarrier.init.shared.b64 [%r40], 64; I: bar.sync 0;
setp.lt.u32 %p1, %r42, 2; @!%p1 bra W; ld.global.b32 %r5, [%rd10];
`
	const wait = "bra E; W: "
	const store = " @!%p6 bra W; st.global.b32 [%rd14], 7; E: ret;"
	runTwins(t, []twinKernel{
		{"release and acquire", 128, head + "mbarrier.arrive.release.cta.shared::cta.b64 _, [%r40];" + wait + "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p6, [%r40], 0;" + store, Safe},
		{"relaxed arrive", 128, head + "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r40];" + wait + "mbarrier.try_wait.parity.shared.b64 %p6, [%r40], 0;" + store, Unsafe},
		{"relaxed wait", 128, head + "mbarrier.arrive.shared.b64 _, [%r40];" + wait + "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p6, [%r40], 0;" + store, Unsafe},
	})
}

func TestClustersThatTheKernelRequires(t *testing.T) {
	// Each block writes what the other block of its pair reads.
	body := `mad.lo.s32 %r10, %cta, 32, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12;
xor.b32 %r11, %r10, 32; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd1, %rd13;
ld.global.b32 %r5, [%rd10]; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; st.global.b32 [%rd14], %r5; ret;`
	for _, c := range []struct {
		name            string
		given, required [3]uint32
		want            Safety
	}{
		{"none", [3]uint32{}, [3]uint32{}, Unsafe},
		{"required", [3]uint32{}, [3]uint32{2, 1, 1}, Safe},
		{"required, and the call names clusters of one", [3]uint32{1, 1, 1}, [3]uint32{2, 1, 1}, Safe},
		{"given", [3]uint32{2, 1, 1}, [3]uint32{}, Safe},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := kernel(t, 2, body)
			e.ReqCluster = c.required
			l := handLaunch(e, 4, 32, 0, 512, 512)
			l.Cluster = c.given
			assert.Equal(t, c.want.String(), analysed(t, l).InPlace(0, 1, 0).Safety.String())
		})
	}
}

func TestOutcomeIsOne(t *testing.T) {
	// Eight stores out of bounds on one line, by 64 blocks that take long enough for
	// several workers.
	stores := ""
	for _, at := range []string{"0", "64", "128", "192", "256", "320", "384", "448"} {
		stores += "st.global.b32 [%rd10+" + at + "], %tid; "
	}
	body := "mov.b32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 400; @%p1 bra L; mul.wide.u32 %rd12, %tid, 4; add.s64 %rd10, %rd0, %rd12; add.s64 %rd10, %rd10, 4096;\n" + stores + "ret;"
	var first []Stray
	for i := range 20 {
		l := handLaunch(kernel(t, 1, body), 64, 64, 0, 64)
		l.Workers = 1 + i%4
		o := analysed(t, l)
		require.Len(t, o.OutOfBounds, 8)
		if i == 0 {
			first = o.OutOfBounds
		}
		require.Equal(t, first, o.OutOfBounds)
	}
}

func TestFirstReasonIsOne(t *testing.T) {
	// Late blocks stop the run at one line or another, whichever worker is faster.
	body := `mov.b32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 400; @%p1 bra L;
setp.lt.u32 %p2, %cta, 40; @%p2 bra E; and.b32 %r2, %cta, 1; setp.eq.u32 %p3, %r2, 0;
@%p3 bra T;
trap;
T:
trap;
E: ret;`
	var first string
	for i := range 12 {
		l := handLaunch(kernel(t, 1, body), 64, 64, 0, 64)
		l.Workers = 1 + i%4
		o := run(t, l)
		require.False(t, o.Analysed)
		if i == 0 {
			first = o.Reason
		}
		require.Equal(t, first, o.Reason)
	}
}
