package ptx

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEndlessInBothModes: what a kernel waits for is what its control depends
// on. Values that only the full way computes do not make it wait for memory,
// nor look as if it went on.
func TestEndlessInBothModes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	const smem = "mov.b32 %r40, smem; mad.lo.u32 %r41, %tid, 16, %r40; mul.wide.u32 %rd12, %tid, 4; add.s64 %rd10, %rd0, %rd12; add.s64 %rd11, %rd1, %rd12; mov.b32 %r1, 0;\n"
	const repeats, memory = "it repeats itself for ever", "waits for memory"
	cases := []struct{ name, body, hang, reason string }{
		{"copies that nobody waits for", "L: cp.async.ca.shared.global [%r41], [%rd10], 4; bra L;", repeats, ""},
		{"groups that nobody waits for", "L: cp.async.ca.shared.global [%r41], [%rd10], 4; cp.async.commit_group; bra L;", repeats, ""},
		{"copies that are waited for", "L: cp.async.ca.shared.global [%r41], [%rd10], 4; cp.async.wait_all; bra L;", repeats, ""},
		{"loads for nothing", "L: ld.global.b32 %r2, [%rd10]; bra L;", repeats, ""},
		{"loads that are added up", "L: ld.global.b32 %r2, [%rd10]; add.u32 %r1, %r1, %r2; bra L;", repeats, ""},
		{"loads that decide", "L: ld.volatile.global.b32 %r2, [%rd10]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; ret;", "", memory},
		{"stores that count", "L: add.u32 %r1, %r1, 1; st.global.b32 [%rd11], %r1; bra L;", repeats, ""},
		{"stores to shared memory that count", "L: add.u32 %r1, %r1, 1; st.shared.b32 [%r41], %r1; bra L;", repeats, ""},
		{"matrix stores that count", "L: add.u32 %r1, %r1, 1; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r41], {%r1}; bra L;", repeats, ""},
		{"atomics that count", "L: red.global.add.u32 [%rd11], 1; bra L;", repeats, ""},
		{"atomics of shared memory that count", "L: atom.shared.add.u32 %r2, [%r41], 1; bra L;", repeats, ""},
		{"a counter that decides", "L: atom.global.add.u32 %r2, [%rd11], 1; setp.ne.u32 %p1, %r2, 77777; @%p1 bra L; ret;", "", "steps"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out []*Outcome
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 2, smem+c.body), 2, 32, 4096, 1024, 1024)
				l.Mode, l.Budget.Steps = mode, 1<<28 // that copies pile up counts as steps
				if c.reason == "steps" {
					l.Budget.Steps = 1 << 20
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				o, err := Run(ctx, l)
				require.NoError(t, err)
				require.NoError(t, ctx.Err())
				assert.Contains(t, o.Reason, c.reason)
				if c.hang != "" {
					require.NotNil(t, o.Hang, o.Reason)
					assert.Equal(t, c.hang, o.Hang.Reason)
				}
				out = append(out, o)
			}
			sameRecord(t, out[0], out[1])
		})
	}
}

// TestLoopsCountedInMemory: a loop whose counter is in memory, as compilers
// leave it that do not optimize, ends.
func TestLoopsCountedInMemory(t *testing.T) {
	for name, body := range map[string]string{
		"local":  ".local .align 4 .b8 n[4]; st.local.b32 [n], 0; L: ld.local.b32 %r2, [n]; add.u32 %r2, %r2, 1; st.local.b32 [n], %r2; setp.lt.u32 %p1, %r2, 5000; @%p1 bra L;",
		"shared": "mov.b32 %r40, smem; mad.lo.u32 %r40, %tid, 4, %r40; st.shared.b32 [%r40], 0; L: ld.shared.b32 %r2, [%r40]; add.u32 %r2, %r2, 1; st.shared.b32 [%r40], %r2; setp.lt.u32 %p1, %r2, 5000; @%p1 bra L;",
		"global": "mul.wide.u32 %rd12, %tid, 4; add.s64 %rd11, %rd1, %rd12; L: ld.global.b32 %r2, [%rd11]; add.u32 %r2, %r2, 1; st.global.b32 [%rd11], %r2; setp.lt.u32 %p1, %r2, 5000; @%p1 bra L;",
	} {
		t.Run(name, func(t *testing.T) {
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 2, body+"st.global.b32 [%rd0], 1; ret;"), 1, 32, 4096, 256, 256)
				l.Mode = mode
				o := analysed(t, l)
				assert.Nil(t, o.Hang)
				assert.Equal(t, []Range{{0, 4}}, o.Effects[0].Written)
			}
		})
	}
}

// TestGuardsOfWhatNobodyNeeds: a guard counts where what it guards does.
func TestGuardsOfWhatNobodyNeeds(t *testing.T) {
	body := addresses + "ld.global.b32 %r1, [%rd10]; setp.eq.u32 %p1, %r1, 5; @%p1 activemask.b32 %r3; st.global.b32 [%rd11], %r1; ret;"
	var out []*Outcome
	for _, mode := range []Mode{Sliced, Full} {
		l := handLaunch(kernel(t, 2, body), 2, 32, 0, 256, 256)
		l.Buffers[0].Contents = nil
		l.Mode = mode
		out = append(out, analysed(t, l))
	}
	assert.True(t, out[0].Complete)
	sameRecord(t, out[0], out[1])
}
