package ptx

import (
	"fmt"
	"strings"
)

// gWriter writes a generated kernel as PTX.
type gWriter struct {
	k      *gKernel
	out    strings.Builder
	lines  int
	labels int
}

// Registers: r0 tid, r1 lane, r2 warp, r3 block, r4 sum, r5.. counters; d0.. buffers, d40.. mbarrier tokens.
const gHeader = `.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4)
{
.reg .pred %p<4>;
.reg .b32 %r<40>;
.reg .b64 %d<60>;
.shared .align 16 .b8 mb[64];
.shared .align 16 .b8 fl[32];
.local .align 16 .b8 lo[16];
.shared .align 16 .b8 sm[1024];
mov.u32 %r0, %tid.x;
mov.u32 %r10, %tid.y;
mov.u32 %r11, %ntid.x;
mad.lo.s32 %r0, %r10, %r11, %r0;
mov.u32 %r12, %tid.z;
mov.u32 %r10, %ntid.y;
mul.lo.s32 %r10, %r10, %r11;
mad.lo.s32 %r0, %r12, %r10, %r0;
and.b32 %r1, %r0, 31;
shr.u32 %r2, %r0, 5;
mov.u32 %r3, %ctaid.y;
mov.u32 %r10, %nctaid.x;
mov.u32 %r11, %ctaid.x;
mad.lo.s32 %r3, %r3, %r10, %r11;
mul.lo.s32 %r4, %r3, 1000;
mad.lo.s32 %r4, %r0, 7, %r4;
add.s32 %r4, %r4, 1;
`

func (k *gKernel) text() string {
	w := &gWriter{k: k}
	for _, line := range strings.Split(strings.TrimSuffix(gHeader, "\n"), "\n") {
		w.put("%s", line)
	}
	for i := range k.bufs {
		w.put("ld.param.u64 %%d%d, [p%d];", i, i)
		w.put("cvta.to.global.u64 %%d%d, %%d%d;", i, i)
	}
	if k.waits && len(k.mbars) == 0 {
		w.put("bar.sync 0;") // flags are zero from the start: as if somebody had cleared them
	}
	if len(k.mbars) > 0 {
		w.put("setp.eq.u32 %%p0, %%r0, 0;")
		for i, n := range k.mbars {
			w.put("@%%p0 mbarrier.init.shared.b64 [mb+%d], %d;", 8*i, n)
		}
		w.put("bar.sync 0;")
	}
	w.block(k.body)
	w.put("mad.lo.s32 %%r10, %%r3, %d, %%r0;", k.threads())
	w.put("mul.wide.u32 %%d8, %%r10, 4;")
	w.put("add.s64 %%d8, %%d%d, %%d8;", k.out)
	w.put("st.global.b32 [%%d8], %%r4;")
	k.lastLine = w.lines
	w.put("ret;")
	w.put("}")
	return w.out.String()
}

func (w *gWriter) put(format string, args ...any) {
	w.lines++
	fmt.Fprintf(&w.out, format+"\n", args...)
}

func (w *gWriter) label() string {
	w.labels++
	return fmt.Sprintf("L%d", w.labels)
}

func (w *gWriter) block(body []gStmt) {
	for i := range body {
		w.stmt(&body[i])
	}
}

func (w *gWriter) stmt(s *gStmt) {
	switch s.kind {
	case gAccess:
		w.access(s)
	case gLoop:
		l := w.label()
		w.put("mov.u32 %%r%d, 0;", 5+s.loop)
		w.put("%s:", l)
		w.block(s.body)
		w.put("add.s32 %%r%d, %%r%d, 1;", 5+s.loop, 5+s.loop)
		w.put("setp.lt.u32 %%p2, %%r%d, %d;", 5+s.loop, s.n)
		w.put("@%%p2 bra %s;", l)
	case gBranch:
		no, end := w.label(), w.label()
		w.cond(s.cond)
		w.put("@!%%p1 bra %s;", no)
		w.block(s.body)
		w.put("bra %s;", end)
		w.put("%s:", no)
		w.block(s.other)
		w.put("%s:", end)
	case gBarrier:
		w.barrier(s)
	case gSplit:
		sync, end := w.label(), w.label()
		name := [...]string{"bar", "barrier"}[s.form]
		w.put("setp.ge.u32 %%p1, %%r2, %d;", s.mid)
		w.put("@%%p1 bra %s;", sync)
		w.put("%s.arrive %d, %d;", name, s.id, 32*(s.hi-s.lo))
		w.put("bra %s;", end)
		w.put("%s:", sync)
		w.put("%s.sync %d, %d;", name, s.id, 32*(s.hi-s.lo))
		w.put("%s:", end)
	case gWarp:
		w.warp(s)
	case gArrive:
		w.put("mbarrier.arrive%s.b64 %%d%d, [mb+%d];", [...]string{".shared", ".release.cta.shared::cta"}[s.form], 40+s.id, 8*s.id)
	case gWait:
		l := w.label()
		w.put("%s:", l)
		switch s.form {
		case 0:
			w.put("mbarrier.try_wait.shared.b64 %%p3, [mb+%d], %%d%d;", 8*s.id, 40+s.id)
		case 1:
			w.put("mbarrier.test_wait.shared.b64 %%p3, [mb+%d], %%d%d;", 8*s.id, 40+s.id)
		case 2:
			w.put("mbarrier.try_wait.parity.shared.b64 %%p3, [mb+%d], 0;", 8*s.id)
		}
		w.put("@!%%p3 bra %s;", l)
	case gPairs:
		w.put("sub.u32 %%r15, %%r2, %d;", s.lo)
		w.put("sub.u32 %%r14, %d, %%r2;", s.hi-1)
		w.put("min.u32 %%r15, %%r15, %%r14;")
		w.put("add.u32 %%r15, %%r15, %d;", s.id)
		w.put("bar.sync %%r15, 64;")
	case gFlag:
		l := w.label()
		w.put("setp.eq.u32 %%p1, %%r0, 0;")
		w.put("@%%p1 st%s.shared.u32 [fl+%d], 1;", [...]string{".volatile", ".release.cta", ""}[s.form], 4*s.id)
		w.put("%s:", l)
		w.put("ld%s.shared.u32 %%r14, [fl+%d];", [...]string{".volatile", ".acquire.cta", ""}[s.form], 4*s.id)
		w.put("setp.eq.u32 %%p1, %%r14, 0;")
		w.put("@%%p1 bra %s;", l)
	case gTicket:
		l := w.label()
		w.put("atom%s.shared.add.u32 %%r14, [fl+%d], 1;", [...]string{"", ".acq_rel.cta", ".relaxed.cta"}[s.form], 4*s.id)
		w.put("setp.ne.u32 %%p1, %%r14, %d;", w.k.threads()-1)
		w.put("@%%p1 bra %s;", l)
		w.block(s.body)
		w.put("%s:", l)
	case gIdle:
		w.idle(s)
	case gCopy:
		w.copy(s)
	case gCommit:
		w.put("cp.async.commit_group;")
	case gWaitGroup:
		w.put("cp.async.wait_group %d;", s.n)
	case gCluster:
		w.put("barrier.cluster.arrive%s;", [...]string{"", ".release.aligned"}[s.form])
		w.put("barrier.cluster.wait%s;", [...]string{"", ".acquire.aligned"}[s.form])
	}
}

// idle writes what gStmt.idle computes.
func (w *gWriter) idle(s *gStmt) {
	odd, end, again := w.label(), w.label(), w.label()
	w.put("and.b32 %%r10, %%r4, %d;", s.n)
	w.put("setp.ne.u32 %%p1, %%r10, 0;")
	switch s.form {
	case 0:
		w.put("@%%p1 bra %s;", odd)
		w.put("mad.lo.u32 %%r4, %%r4, 3, 1;")
		w.put("bra %s;", end)
		w.put("%s:", odd)
		w.put("xor.b32 %%r4, %%r4, 5;")
	case 1:
		w.put("%s:", again)
		w.put("and.b32 %%r10, %%r4, 7;")
		w.put("setp.eq.u32 %%p1, %%r10, 0;")
		w.put("@%%p1 bra %s;", end)
		w.put("add.u32 %%r4, %%r4, 1;")
		w.put("bra %s;", again)
	case 2:
		w.put("mov.u32 %%r11, lo;")
		w.put("@%%p1 bra %s;", end)
		w.put("st.local.b32 [%%r11+4], %%r4;")
		w.put("ld.local.b32 %%r10, [lo+4];")
		w.put("add.u32 %%r4, %%r10, 9;")
	case 3:
		w.put("@!%%p1 bra %s;", end)
		w.put("%s:", again)
		w.put("add.u32 %%r4, %%r4, 3;")
		w.put("and.b32 %%r10, %%r4, 4;")
		w.put("setp.ne.u32 %%p1, %%r10, 0;")
		w.put("@%%p1 bra %s;", again)
		w.put("and.b32 %%r10, %%r4, 1;")
		w.put("setp.eq.u32 %%p1, %%r10, 0;")
		w.put("@%%p1 bra %s;", end)
		w.put("xor.b32 %%r4, %%r4, %d;", s.n)
	}
	w.put("%s:", end)
}

// cond leaves a condition in p1.
func (w *gWriter) cond(c gCond) {
	reg, cmp := 0, [...]string{"lt", "ge"}
	switch c.what {
	case onLane:
		reg = 1
	case onLaneBit:
		w.put("and.b32 %%r10, %%r1, %d;", 1<<c.k)
		w.put("setp.%s.u32 %%p1, %%r10, 0;", [...]string{"ne", "eq"}[b2u(c.not)])
		return
	case onMask:
		w.put("shr.u32 %%r10, 0x%x, %%r1;", uint32(c.k))
		w.put("and.b32 %%r10, %%r10, 1;")
		w.put("setp.%s.u32 %%p1, %%r10, 0;", [...]string{"ne", "eq"}[b2u(c.not)])
		return
	case onWarp:
		reg = 2
	case onCta:
		reg, cmp = 3, [...]string{"eq", "ne"}
	case onIter:
		reg = 5 + c.loop
	}
	w.put("setp.%s.u32 %%p1, %%r%d, %d;", cmp[b2u(c.not)], reg, c.k)
}

func (w *gWriter) barrier(s *gStmt) {
	id := fmt.Sprint(s.id)
	if w.k.threads()%32 == 0 && (s.id != 0 || s.form%2 == 1) {
		id = fmt.Sprintf("%d, %d", s.id, 32*(s.hi-s.lo))
	}
	switch s.form {
	case 0:
		w.put("bar.sync %s;", id)
	case 1:
		w.put("barrier.sync %s;", id)
	case 2:
		w.put("barrier.cta.sync.aligned %s;", id)
	case 3:
		w.odd()
		w.put("bar.red.popc.u32 %%r14, %s, %%p1;", id)
		w.put("add.s32 %%r4, %%r4, %%r14;")
	case 4:
		w.odd()
		w.put("barrier.cta.red.or.pred %%p1, %s, %%p1;", id)
		w.put("selp.u32 %%r14, 3, 5, %%p1;")
		w.put("add.s32 %%r4, %%r4, %%r14;")
	}
}

// odd leaves in p1 whether the sum is odd.
func (w *gWriter) odd() {
	w.put("and.b32 %%r14, %%r4, 1;")
	w.put("setp.ne.u32 %%p1, %%r14, 0;")
}

func (w *gWriter) warp(s *gStmt) {
	mask := fmt.Sprintf("0x%x", s.lanes)
	if s.group != 32 {
		w.put("and.b32 %%r12, %%r1, %d;", 32-s.group)
		w.put("mov.u32 %%r13, 0x%x;", uint32(1)<<s.group-1)
		w.put("shl.b32 %%r13, %%r13, %%r12;")
		w.put("and.b32 %%r13, %%r13, 0x%x;", s.lanes)
		mask = "%r13"
	}
	switch s.form {
	case 0:
		w.put("bar.warp.sync %s;", mask)
		return
	case 5, 6: // at two places
		low, join := w.label(), w.label()
		w.put("setp.lt.u32 %%p1, %%r1, %d;", s.mid)
		w.put("@%%p1 bra %s;", low)
		for i, end := range []string{"bra " + join + ";", join + ":"} {
			if s.form == 5 {
				w.put("bar.warp.sync %s;", mask)
			} else {
				w.put("shfl.sync.bfly.b32 %%r%d, %%r4, %d, 31, %s;", 14+i, s.n, mask)
				w.put("add.s32 %%r4, %%r4, %%r%d;", 14+i)
			}
			w.put("%s", end)
			if i == 0 {
				w.put("%s:", low)
			}
		}
		return
	case 1:
		w.put("shfl.sync.bfly.b32 %%r14, %%r4, %d, 31, %s;", s.n, mask)
	case 2:
		w.odd()
		w.put("vote.sync.ballot.b32 %%r14, %%p1, %s;", mask)
	case 3:
		w.put("redux.sync.add.u32 %%r14, %%r4, %s;", mask)
	case 4:
		w.odd()
		w.put("vote.sync.any.pred %%p1, %%p1, %s;", mask)
		w.put("selp.u32 %%r14, 3, 5, %%p1;")
	}
	w.put("add.s32 %%r4, %%r4, %%r14;")
}
