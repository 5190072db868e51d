package ptx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	memoryHead = "mov.b32 %r40, smem; setp.eq.u32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 1; bar.sync 0;" +
		"add.s32 %r41, %r40, 64; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 256; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; bar.sync 0;" +
		"ld.shared.b32 %r42, [%r41]; tcgen05.fence::after_thread_sync; @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r42], %rd20, %rd21, %r5, 1;"
	memoryCommit = "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r40];"
	memoryRest   = "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;" +
		"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r42]; tcgen05.wait::ld.sync.aligned; mul.wide.u32 %rd12, %tid, 4; add.s64 %rd10, %rd0, %rd12; st.global.u32 [%rd10], %r1;" +
		"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r42, 256; ret;"
	launchControl = "mov.b32 %r40, smem; add.s32 %r41, %r40, 64; setp.eq.u32 %p1, %tid, 0; @%p1 mbarrier.init.shared.b64 [%r40], 1; bar.sync 0; mov.b32 %r10, %cta;" +
		"L: mad.lo.s32 %r11, %r10, 32, %tid; mul.wide.u32 %rd12, %r11, 4; add.s64 %rd10, %rd0, %rd12; st.global.u32 [%rd10], %r10;" +
		"@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r40], 16; @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r41], [%r40];" +
		"W: mbarrier.try_wait.parity.shared.b64 %p2, [%r40], 0; @!%p2 bra W;" +
		"{ .reg .b128 handle; ld.shared.b128 handle, [%r41]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, handle;" +
		"@%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r10, %r12, %r13, _}, handle; } @%p3 bra L; ret;"
)

// TestTensorMemory: a kernel of one warp's MMA, whose commit another waits for before it
// stores what it reads of tensor memory; and one that nobody commits.
func TestTensorMemory(t *testing.T) {
	o := analysed(t, handLaunch(kernel(t, 1, memoryHead+memoryCommit+memoryRest), 2, 64, 1024, 256))
	assert.True(t, o.Complete, "what is in tensor memory moves no address")
	assert.Equal(t, []Range{{0, 256}}, o.Effects[0].Written)
	assert.Nil(t, o.Hang)
	o = analysed(t, handLaunch(kernel(t, 1, memoryHead+memoryRest), 1, 64, 1024, 256))
	require.NotNil(t, o.Hang, "nobody arrives")

	// What tensor memory holds is known to nobody: an address of it is none.
	const wild = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2]; mul.wide.u32 %rd12, %r1, 4; add.s64 %rd10, %rd0, %rd12; st.global.u32 [%rd10], %r1; ret;"
	require.False(t, run(t, handLaunch(kernel(t, 1, wild), 1, 32, 1024, 256)).Analysed)
}

// TestLaunchControl: blocks that ask for the place of another get none, and all of the
// grid runs.
func TestLaunchControl(t *testing.T) {
	o := analysed(t, handLaunch(kernel(t, 1, launchControl), 4, 32, 1024, 512))
	assert.True(t, o.Complete)
	assert.Equal(t, []Range{{0, 512}}, o.Effects[0].Written)
}
