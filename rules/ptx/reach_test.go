package ptx

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"aliascheck/rules/ptx/syntax"
)

// reachHolds holds what the program says to what a run of it does.
func reachHolds(l *Launch, o *Outcome) (proved int, err error) {
	r, err := ReachOf(l)
	if err != nil {
		return 0, err
	}
	for i := range l.Buffers {
		e := &o.Effects[i]
		if !r.Read[i] {
			if proved++; len(e.Read)+len(e.Atomic) > 0 {
				return proved, fmt.Errorf("buffer %d is read, and no load's address can come from it: %+v", i, e.ReadBy)
			}
		}
		if !r.Written[i] {
			if proved++; len(e.Written)+len(e.Atomic) > 0 {
				return proved, fmt.Errorf("buffer %d is written, and no store's address can come from it: %+v", i, e.WrittenBy)
			}
		}
	}
	return proved, nil
}

func TestReachOfGeneratedKernels(t *testing.T) {
	n := uint64(1500)
	if testing.Short() {
		n = 150
	}
	proved := 0
	for seed := range n {
		l, err := generateKernel(seed).launch()
		require.NoError(t, err)
		o, err := Run(context.Background(), l)
		require.NoError(t, err)
		require.True(t, o.Analysed, "seed %d: %s", seed, o.Reason)
		k, err := reachHolds(l, o)
		require.NoError(t, err, "seed %d", seed)
		proved += k
	}
	assert.Greater(t, proved, int(n)/2, "these kernels use one register for many pointers, and yet something is told of most")
}

// reachKernel is a kernel of three pointers and a body.
const reachKernel = `.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr .global .align 16 b, .param .u64 .ptr .global .align 16 c)
{
	.reg .pred %%p<4>; .reg .b32 %%r<16>; .reg .b64 %%rd<24>;
	.shared .align 8 .b8 tile[256];
	.local .align 8 .b8 own[64];
	ld.param.b64 %%rd1, [a]; ld.param.b64 %%rd2, [b]; ld.param.b64 %%rd3, [c];
	mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd4, %%r1, 4;
	add.s64 %%rd5, %%rd1, %%rd4; add.s64 %%rd6, %%rd2, %%rd4; add.s64 %%rd7, %%rd3, %%rd4;
	%s
	ret;
}
`

// reachLaunch is one warp of the kernel with a body, and 4 KiB for each pointer.
func reachLaunch(t *testing.T, body string) *Launch {
	m, err := syntax.Parse("reach.ptx", fmt.Appendf(nil, reachKernel, body))
	require.NoError(t, err)
	l := &Launch{Entry: m.Entries[0], Block: [3]uint32{32, 1, 1}}
	for range 3 {
		l.Args = append(l.Args, Pointer(len(l.Buffers)))
		l.Buffers = append(l.Buffers, Buffer{Size: 4096, Contents: make([]byte, 4096)})
	}
	return l
}

func TestReach(t *testing.T) {
	const all = "abc"
	for _, c := range []struct{ name, body, read, written string }{
		{"plain", "ld.global.b32 %r2, [%rd5]; st.global.b32 [%rd7], %r2;", "a", "c"},
		{"looked up", "ld.global.b32 %r2, [%rd5]; mul.wide.s32 %rd8, %r2, 4; add.s64 %rd9, %rd2, %rd8; ld.global.b32 %r3, [%rd9]; st.global.b32 [%rd7], %r3;", "ab", "c"},
		{"stored where it is looked up", "ld.global.b32 %r2, [%rd5]; mad.wide.s32 %rd9, %r2, 4, %rd3; st.global.b32 [%rd9], %r2;", "a", "c"},
		{"an index of 64 bits", "ld.global.b64 %rd8, [%rd1]; shl.b64 %rd8, %rd8, 2; add.s64 %rd9, %rd2, %rd8; ld.global.b32 %r3, [%rd9];", "ab", ""},
		{"a pointer in memory", "ld.global.b64 %rd8, [%rd1]; ld.global.b32 %r2, [%rd8]; st.global.b32 [%rd7], %r2;", all, "c"},
		{"a pointer in two halves", "ld.global.v2.b32 {%r2, %r3}, [%rd1]; mov.b64 %rd8, {%r2, %r3}; st.global.b32 [%rd8], %r1;", "a", all},
		{"a pointer in memory, moved", "ld.global.b64 %rd8, [%rd1]; add.s64 %rd9, %rd8, %rd4; ld.global.b32 %r2, [%rd9];", all, ""},
		{"one of two", "setp.eq.s32 %p1, %r1, 0; selp.b64 %rd8, %rd5, %rd6, %p1; ld.global.b32 %r2, [%rd8]; st.global.b32 [%rd7], %r2;", "ab", "c"},
		{"one of two, by a branch", "setp.eq.s32 %p1, %r1, 0; mov.b64 %rd8, %rd5; @%p1 mov.b64 %rd8, %rd6; st.global.b32 [%rd8], %r1;", "", "ab"},
		{"perhaps a pointer in memory", "ld.global.b64 %rd8, [%rd1]; setp.eq.s32 %p1, %r1, 0; selp.b64 %rd9, %rd2, %rd8, %p1; ld.global.b32 %r2, [%rd9];", all, ""},
		{"perhaps nothing, and an index", "setp.eq.s32 %p1, %r1, 0; selp.b64 %rd8, %rd2, 0, %p1; ld.global.b64 %rd9, [%rd1]; add.s64 %rd10, %rd8, %rd9; ld.global.b32 %r2, [%rd10];", all, ""},
		{"through shared memory", "mov.u64 %rd8, tile; st.shared.b64 [%rd8], %rd6; ld.shared.b64 %rd9, [%rd8]; ld.global.b32 %r2, [%rd9];", "b", ""},
		{"through shared memory, among what was loaded", "mov.u64 %rd8, tile; ld.global.b64 %rd10, [%rd1]; st.shared.b64 [%rd8+8], %rd10; st.shared.b64 [%rd8], %rd6; ld.shared.b64 %rd9, [%rd8]; ld.global.b32 %r2, [%rd9];", all, ""},
		{"spilled", "mov.u64 %rd8, own; st.local.b64 [%rd8], %rd7; ld.local.b64 %rd9, [%rd8]; st.global.b32 [%rd9], %r1;", "", "c"},
		{"through global memory", "st.global.b64 [%rd3], %rd6; ld.global.b64 %rd9, [%rd3]; st.global.b32 [%rd9], %r1;", "c", all},
		{"moved by a loop", "mov.b64 %rd8, %rd5; mov.u32 %r3, 0; $L: ld.global.b32 %r2, [%rd8]; mul.wide.s32 %rd9, %r2, 4; add.s64 %rd8, %rd8, %rd9; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 4; @%p1 bra $L;", "a", ""},
		{"an update", "red.global.add.u32 [%rd6], %r1;", "b", "b"},
		{"a copy", "mov.u64 %rd8, tile; cvt.u32.u64 %r4, %rd8; cp.async.ca.shared.global [%r4], [%rd6], 4;", "b", ""},
		{"a bulk copy out", "mov.u64 %rd8, tile; cvt.u32.u64 %r4, %rd8; cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r4], 16;", "", "c"},
		{"generic", "ld.b32 %r2, [%rd5]; st.b32 [%rd7], %r2;", "a", "c"},
		{"a guard", "ld.global.b32 %r2, [%rd5]; setp.eq.s32 %p1, %r2, 0; @%p1 st.global.b32 [%rd7], %r2;", "a", "c"},
		{"the distance of two", "sub.s64 %rd8, %rd2, %rd1; add.s64 %rd9, %rd5, %rd8; ld.global.b32 %r2, [%rd9];", "ab", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ReachOf(reachLaunch(t, c.body))
			require.NoError(t, err)
			name := func(list []bool) (out string) {
				for i, yes := range list {
					if yes {
						out += string("abc"[i])
					}
				}
				return out
			}
			assert.Equal(t, c.read, name(r.Read), "read")
			assert.Equal(t, c.written, name(r.Written), "written")
		})
	}
}

// TestReachOfTriton holds real kernels to their runs.
func TestReachOfTriton(t *testing.T) {
	l := sortLaunch(t)
	_, err := reachHolds(l, analysed(t, l))
	require.NoError(t, err)
	r, err := ReachOf(l)
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true, false}, r.Read)
	assert.Equal(t, []bool{false, false, true}, r.Written)
}
