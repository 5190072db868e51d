package ptx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pieces of what follows: an mbarrier at smem, a tile of 128 bytes at smem + 1024.
const (
	flightHead = "mov.b32 %r40, smem; add.s32 %r41, %r40, 1024; shl.b32 %r1, %tid, 2; add.s32 %r42, %r41, %r1; setp.eq.u32 %p1, %tid, 0; mov.b32 %r5, 7;" +
		"@%p1 mbarrier.init.shared.b64 [%r40], 1; bar.sync 0;"
	copyIn  = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 128; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r41], [%rd0], 128, [%r40];"
	arrived = "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;"
	copyOut = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r41], 128; cp.async.bulk.commit_group;"
	store   = "st.shared.u32 [%r42], %r5;"
	load    = "ld.shared.u32 %r6, [%r42];"
)

// TestFlights: accesses to a tile that a bulk copy moves, in pairs that differ in one wait.
func TestFlights(t *testing.T) {
	first := "@!%p1 bra S; " + arrived + "S: "
	for _, c := range []struct {
		name, body   string
		late         bool
		write, reads bool
	}{
		{"read after the phase", copyIn + arrived + load, false, false, false},
		{"read before the phase", copyIn + load + arrived, true, false, false},
		{"stored to before the phase", copyIn + store + arrived, true, true, false},
		{"one thread waits, a barrier follows", copyIn + first + "bar.sync 0;" + load, false, false, false},
		{"one thread waits, and no barrier", copyIn + first + load, true, false, false},
		{"one thread waits, and the others that read are of its warp", copyIn + first + "bar.warp.sync -1;" + load, false, false, false},
		{"beside the tile", copyIn + "st.shared.u32 [%r42+128], %r5;" + arrived, false, false, false},
		{"at its last byte", copyIn + "@%p1 st.shared.u8 [%r41+127], %r5;" + arrived, true, true, false},
		{"copied in again after the phase", copyIn + arrived + "bar.sync 0;" + copyIn, false, false, false},
		{"copied in twice", copyIn + "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r40], 128;" + copyInOnly, true, true, false},
		{"stored to after the copy out was waited for", copyOut + "cp.async.bulk.wait_group 0; bar.sync 0;" + store, false, true, true},
		{"after its reading was", copyOut + "cp.async.bulk.wait_group.read 0; bar.sync 0;" + store, false, true, true},
		{"waited for, and no barrier", copyOut + "cp.async.bulk.wait_group.read 0;" + store, true, true, true},
		{"a barrier, and not waited for", copyOut + "bar.sync 0;" + store, true, true, true},
		{"one group may go on", copyOut + "cp.async.bulk.wait_group.read 1; bar.sync 0;" + store, true, true, true},
		{"one group may go on, another follows", copyOut + "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; bar.sync 0;" + store, false, true, true},
		{"read while it is copied out", copyOut + load, false, false, true},
		{"copied in while it is copied out", copyOut + copyIn + arrived, true, true, true},
		{"copied in after it was copied out", copyOut + "cp.async.bulk.wait_group.read 0;" + copyIn + arrived, false, true, true},
		{"never committed", strings.TrimSuffix(copyOut, "cp.async.bulk.commit_group;") + "cp.async.bulk.wait_group.read 0; bar.sync 0;" + store, true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []Mode{Sliced, Full} {
				l := handLaunch(kernel(t, 2, flightHead+c.body+"ret;"), 2, 64, 4096, 4096, 4096)
				l.Mode = mode
				o := analysed(t, l)
				if !c.late {
					require.Empty(t, o.LateCopies)
					continue
				}
				require.NotEmpty(t, o.LateCopies)
				assert.Equal(t, c.write, o.LateCopies[0].Write)
				assert.Equal(t, c.reads, o.LateCopies[0].Reads)
				assert.False(t, o.LateCopies[0].Matrix)
				assert.Equal(t, [3]uint32{}, o.LateCopies[0].Copy.Thread)
			}
		})
	}
}

const copyInOnly = "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r41], [%rd0], 128, [%r40];"

// TestMatrixFlights: a wgmma reads A, 64 rows from byte 3072 of smem on, and B, 8
// columns from 15360 on, and something is copied over them.
func TestMatrixFlights(t *testing.T) {
	const (
		wgmma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r5, %r6, %r7, %r8}, %rd20, %rd21, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;"
		wait  = "wgmma.wait_group.sync.aligned 0;"
	)
	over := func(at int) string {
		return fmt.Sprintf("@%%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%%r40], 128; @%%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r40+%d], [%%rd0], 128, [%%r40];", at)
	}
	for _, c := range []struct {
		name, body string
		late       bool
	}{
		{"over A, waited for", wgmma + wait + "bar.sync 0;" + over(3072), false},
		{"over A by a thread of the warpgroup, without a barrier", wgmma + wait + over(3072), false},
		{"over A, not waited for", wgmma + "bar.sync 0;" + over(3072), true},
		{"over A, one group may go on", wgmma + "wgmma.wait_group.sync.aligned 1; bar.sync 0;" + over(3072), true},
		{"over A of the group before the last", wgmma + "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; bar.sync 0;" + over(3072), false},
		{"over B, not waited for", wgmma + over(15360), true},
		{"after B", wgmma + over(15360+8*128), false},
		{"stored to A", wgmma + "@%p1 st.shared.u32 [%r40+3072], %r5;", true},
		{"stored to A, waited for, no barrier", wgmma + wait + "@%p1 st.shared.u32 [%r40+3072], %r5;", false},
		{"A is read before it arrived", over(3072) + wgmma, true},
		{"A is read after it arrived", over(3072) + arrived + wgmma, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := flightHead + fmt.Sprintf("mov.b64 %%rd20, %#x; mov.b64 %%rd21, %#x;", descriptor(4096, 16, 1024, 1), descriptor(16384, 16, 1024, 1)) + c.body + "ret;"
			o := analysed(t, handLaunch(kernel(t, 1, body), 1, 128, 32768, 4096))
			require.Equal(t, c.late, len(o.LateCopies) > 0, "%+v", o.LateCopies)
		})
	}
}

// TestOneBuffer: kernels that read and write through one pointer.
func TestOneBuffer(t *testing.T) {
	const mine = "mad.lo.s32 %r10, %cta, 64, %tid; mul.wide.s32 %rd12, %r10, 4; add.s64 %rd10, %rd0, %rd12; mov.b32 %r5, 7;"
	for _, c := range []struct {
		name, body string
		want       Safety
	}{
		{"its own element", mine + "ld.global.u32 %r5, [%rd10]; st.global.u32 [%rd10], %r5;", Safe},
		{"its own element, written and read again", mine + "ld.global.u32 %r5, [%rd10]; st.global.u32 [%rd10], %r5; ld.global.u32 %r6, [%rd10]; st.global.u32 [%rd10], %r6;", Safe},
		{"another block's", mine + "xor.b32 %r11, %r10, 64; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd0, %rd13; ld.global.u32 %r5, [%rd14]; st.global.u32 [%rd10], %r5;", Unsafe},
		{"another thread's", mine + "xor.b32 %r11, %r10, 32; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd0, %rd13; ld.global.u32 %r5, [%rd14]; st.global.u32 [%rd10], %r5;", Unsafe},
		{"another thread's, with a barrier", mine + "xor.b32 %r11, %r10, 32; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd0, %rd13; ld.global.u32 %r5, [%rd14]; bar.sync 0; st.global.u32 [%rd10], %r5;", Safe},
		{"another thread's, read again", mine + "xor.b32 %r11, %r10, 32; mul.wide.s32 %rd13, %r11, 4; add.s64 %rd14, %rd0, %rd13; st.global.u32 [%rd10], %r5; bar.sync 0; ld.global.u32 %r6, [%rd14];", Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := analysed(t, handLaunch(kernel(t, 1, c.body+"ret;"), 2, 64, 0, 512))
			v := o.OneBuffer(0)
			assert.Equal(t, c.want, v.Safety, v.Reason)
			assert.Equal(t, c.want == Unsafe, v.Witness != nil)
		})
	}
}
