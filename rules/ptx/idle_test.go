package ptx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBranchesThatOnlyCompute: each kernel reads p0, branches on what it read, and stores
// to its own element of p1, or to where the branch led it. The contents of p0 are not known.
func TestBranchesThatOnlyCompute(t *testing.T) {
	const load = addresses + "ld.global.b32 %r1, [%rd10]; setp.gt.s32 %p1, %r1, 7;\n"
	const store = "E: st.global.b32 [%rd11], %r1; ret;"
	cases := []struct {
		name, body string
		analysed   bool
	}{
		{"arithmetic on one side", load + "@!%p1 bra E; add.s32 %r1, %r1, 1;" + store, true},
		{"arithmetic on both", load + "@!%p1 bra F; add.s32 %r1, %r1, 1; bra E; F: mul.lo.s32 %r1, %r1, %r1;" + store, true},
		{"one in the other", load + "@!%p1 bra E; setp.lt.s32 %p2, %r1, 99; @%p2 bra F; shl.b32 %r1, %r1, 2; bra E; F: neg.s32 %r1, %r1;" + store, true},
		{"a loop until it is small", load + "L: setp.lt.s32 %p2, %r1, 9; @%p2 bra E; shr.u32 %r1, %r1, 1; bra L;" + store, true},
		{"local memory", load + "@!%p1 bra E; st.local.b32 [lo+4], %r1; and.b32 %r2, %r1, 4; mov.u32 %r3, lo; add.s32 %r3, %r3, %r2; ld.local.b32 %r1, [%r3];" + store, true},
		{"local memory by generic addresses", load + "@!%p1 bra E; mov.u64 %rd20, lo; cvta.local.u64 %rd20, %rd20; st.b32 [%rd20+4], %r1; ld.b32 %r1, [%rd20];" + store, true},
		{"a table of the module", load + "@!%p1 bra E; mov.u64 %rd20, table; and.b32 %r2, %r1, 12; cvt.u64.u32 %rd21, %r2; add.s64 %rd20, %rd20, %rd21; ld.global.nc.b32 %r1, [%rd20];" + store, true},
		{"a switch", load + "and.b32 %r2, %r1, 1; ts: .branchtargets A, B; brx.idx %r2, ts; A: add.s32 %r1, %r1, 5; bra E; B: sub.s32 %r1, %r1, 5;" + store, true},
		{"registers used again", load + "@!%p1 bra E; mov.b32 %r10, %r1; mul.lo.s32 %r1, %r10, 3; E: mov.b32 %r10, 5; mul.wide.s32 %rd20, %r10, 4; setp.eq.s32 %p1, %r10, 5; @!%p1 bra F; st.global.b32 [%rd11], %r1; F: ret;", true},

		{"a store on one side", load + "@!%p1 bra E; st.global.b32 [%rd11], 1;" + store, false},
		{"a load on one side", load + "@!%p1 bra E; ld.global.b32 %r1, [%rd10];" + store, false},
		{"a store to shared memory", load + "@!%p1 bra E; st.shared.b32 [smem], %r1;" + store, false},
		{"a barrier", load + "@!%p1 bra E; bar.sync 0;" + store, false},
		{"a shuffle", load + "@!%p1 bra E; shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;" + store, false},
		{"an atomic update", load + "@!%p1 bra E; red.global.add.u32 [%rd11], 1;" + store, false},
		{"the end", load + "@!%p1 bra E; ret;" + store, false},
		{"a trap", load + "@!%p1 bra E; trap;" + store, false},
		{"an address", load + "mov.b32 %r3, 0; @!%p1 bra E; mov.b32 %r3, 4; E: cvt.u64.u32 %rd20, %r3; add.s64 %rd11, %rd11, %rd20; st.global.b32 [%rd11], %r1; ret;", false},
		{"an address through local memory", load + "st.local.b32 [lo], 0; @!%p1 bra E; st.local.b32 [lo], 4; E: ld.local.b32 %r3, [lo]; cvt.u64.u32 %rd20, %r3; add.s64 %rd11, %rd11, %rd20; st.global.b32 [%rd11], %r1; ret;", false},
		{"a guard", load + "setp.eq.s32 %p3, %tid, 0; @!%p1 bra E; setp.eq.s32 %p3, %tid, 1; E: @%p3 st.global.b32 [%rd11], %r1; ret;", false},
		{"another branch", load + "mov.b32 %r3, 0; @!%p1 bra E; mov.b32 %r3, 1; E: setp.eq.s32 %p3, %r3, 1; @%p3 bra F; st.global.b32 [%rd11], %r1; F: ret;", false},
		{"a variable of the module that is written", load + "@!%p1 bra E; mov.u64 %rd20, table; st.global.b32 [%rd20], %r1;" + store, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			body := ".local .align 16 .b8 lo[16]; .global .align 16 .b32 table[4] = {1, 2, 3, 4};\n"
			for _, mode := range []Mode{Sliced, Full} {
				for _, known := range []bool{false, true} {
					l := handLaunch(kernel(t, 2, body+c.body), 4, 32, 64, 1024, 1024)
					if l.Mode = mode; !known {
						l.Buffers[0].Contents = nil
					}
					o := run(t, l)
					if !c.analysed && !known {
						assert.False(t, o.Analysed, "mode %d", mode)
						assert.Contains(t, o.Reason, "not computed")
						continue
					}
					if c.name == "a trap" || !o.Analysed && !c.analysed {
						continue
					}
					require.True(t, o.Analysed, o.Reason)
					assert.Equal(t, c.analysed, o.Complete, "mode %d, known %v", mode, known)
					assert.Equal(t, Safe.String(), o.InPlace(0, 1, 0).Safety.String())
					if c.analysed {
						assert.Equal(t, Unsafe.String(), o.InPlace(0, 1, 4).Safety.String())
					}
				}
			}
		})
	}
}

// TestSkippedValuesAreNotKnown: what an idle branch would have computed is not among the
// contents that are known in the end.
func TestSkippedValuesAreNotKnown(t *testing.T) {
	body := addresses + `.local .align 16 .b8 lo[16]; st.local.b32 [lo], 3; mov.b32 %r2, 5;
ld.global.b32 %r1, [%rd10]; setp.gt.s32 %p1, %r1, 7; @!%p1 bra E; mov.b32 %r2, 6; st.local.b32 [lo], 4;
E: ld.local.b32 %r3, [lo]; st.global.b32 [%rd11], %r2; st.global.b32 [%rd11+128], %r3; st.global.b32 [%rd11+256], 9; ret;`
	l := handLaunch(kernel(t, 2, body), 1, 32, 64, 128, 384)
	l.Mode, l.Buffers[0].Contents = Full, nil
	o := analysed(t, l)
	assert.Equal(t, []Range{{0, 256}}, o.Contents[1].Opaque)
	assert.Equal(t, byte(9), o.Contents[1].Bytes[256])
}
