package ptx

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReasonsNameTheSource: a reason names the line of the kernel's source
// first, and the PTX line beside it; the PTX line alone where there is no .loc.
func TestReasonsNameTheSource(t *testing.T) {
	cases := []struct {
		name, body string
		order      Order
		unknown    bool // contents of p0
		want       string
	}{
		{"a look-back that finds what it waits for", `setp.eq.u32 %p2, %cta, 0; @%p2 bra S;
LOC W: ld.volatile.global.b32 %r2, [%rd10+-4]; setp.eq.u32 %p3, %r2, 0; @%p3 bra W;
S: st.volatile.global.b32 [%rd10], 1; ret;`, Forward, false, "bra: the kernel is ordered by waiting for memory that other threads write"},
		{"a look-back that waits", `setp.eq.u32 %p2, %cta, 0; @%p2 bra S;
LOC W: ld.volatile.global.b32 %r2, [%rd10+-4]; setp.eq.u32 %p3, %r2, 0; @%p3 bra W;
S: st.volatile.global.b32 [%rd10], 1; ret;`, Backward, false, "ld.volatile.global.b32: the kernel waits for memory that another block writes"},
		{"an address", `ld.global.b32 %r1, [%rd0]; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd5, %rd1;
LOC st.global.b32 [%rd5], 1; ret;`, Forward, true, "st.global.b32: the address depends on a value that is not computed (contents of buffer 0 are not known)"},
		{"a branch", `ld.global.b32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0;
LOC @%p1 bra E; st.global.b32 [%rd1], 1; E: ret;`, Forward, true, "bra: the branch depends on a value that is not computed (contents of buffer 0 are not known)"},
		{"an instruction", "\nLOC frobnicate.b32 %r1, %r2; ret;", Forward, false, "frobnicate.b32: unknown instruction"},
		{"an end that never comes", "\nLOC L: bra L;", Forward, false, "bra: the kernel does not end: it repeats itself for ever"},
	}
	for _, c := range cases {
		for _, loc := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, " ", loc), func(t *testing.T) {
				line, want := "\n", "line 12: "+c.want
				if loc {
					line, want = ".loc 1 42 7\n", "kernels.py:42 (PTX line 12): "+c.want
				}
				body := "mul.wide.u32 %rd9, %cta, 4; add.s64 %rd10, %rd1, %rd9; " + replaceAll(c.body, "LOC ", line)
				e := kernel(t, 2, body)
				e.Module.Files = map[int]string{1: "/src/kernels.py"}
				l := handLaunch(e, 4, 1, 0, 64, 64)
				l.Order = c.order
				if c.unknown {
					l.Buffers[0].Contents = nil
				}
				o, err := Run(context.Background(), l)
				require.NoError(t, err)
				assert.Equal(t, want, o.InPlace(0, 1, 0).Reason)
			})
		}
	}
}
