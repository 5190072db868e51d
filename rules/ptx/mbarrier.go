package ptx

// mbarKey names an mbarrier object: the block whose shared memory holds it, and where.
type mbarKey struct {
	rank int
	off  int64
}

// mbar is an mbarrier object (PTX ISA 9.7.13.15).
type mbar struct {
	id      int // of vectorClock.phases
	count   int64
	pending int64
	tx      int64
	phase   uint32
	rel     *clockJoin   // what the arrivals on this phase made known
	last    *vectorClock // what a thread learns that sees the phase before complete
}

// mbarAt finds the mbarrier at an address; nil, and the run stopped, where there is none.
func (s *threadGroup) mbarAt(c *code, a uint64, make bool) *mbar {
	b, off := s.b.sharedBlock(uint32(a))
	if b == nil || off < 0 || off+8 > s.m.shared || off&7 != 0 {
		s.m.stopAt(c.in, "the mbarrier lies outside of shared memory")
		return nil
	}
	cl := s.b.cl
	k := mbarKey{b.rank, off}
	mb := cl.mbars[k]
	if mb == nil && make {
		if len(cl.mbars) > 1<<12 {
			s.m.stopAt(c.in, "too many mbarriers")
			return nil
		}
		if cl.mbars == nil {
			cl.mbars = map[mbarKey]*mbar{}
		}
		mb = &mbar{id: cl.nbars}
		cl.nbars++
		cl.mbars[k] = mb
	}
	if mb == nil {
		s.m.stopAt(c.in, "the mbarrier was never initialized")
	}
	return mb
}

// advance completes the phase when nothing is pending.
func (mb *mbar) advance(cl *clusterRun) {
	cl.version++
	for n := 0; mb.pending <= 0 && mb.tx == 0 && mb.count > 0 && n < 1; n++ {
		mb.phase++
		mb.pending += mb.count
		j := &clockJoin{b: cl.blocks[0]}
		j.add(mb.last)
		if mb.rel != nil {
			j.add(mb.rel.done())
		}
		k := j.done()
		bar := make([]uint32, max(cl.nbars, mb.id+1))
		if k != nil {
			copy(bar, k.phases)
		} else {
			k = &vectorClock{}
		}
		bar[mb.id] = mb.phase
		mb.last = &vectorClock{threads: k.threads, phases: maxInto(bar, nil)}
		mb.rel = nil
	}
}

// arrive counts an arrival by a thread.
func (mb *mbar) arrive(b *block, t int, n int64) {
	if mb.rel == nil {
		mb.rel = &clockJoin{b: b}
	}
	mb.rel.b = b
	mb.rel.release(t)
	mb.pending -= n
}

type mbarOp uint8

const (
	mbInit mbarOp = iota
	mbInval
	mbArrive
	mbExpect
	mbComplete
	mbTest
)

const (
	mbExpectTx = 1 << 0 // arrive.expect_tx
	mbParity   = 1 << 1
	mbDrop     = 1 << 2
	mbRelaxed  = 1 << 3
	mbSource   = 1 << 4 // a count or state operand is there
)

// runMbarrier executes the mbarrier instructions, thread after thread.
func runMbarrier(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	m := s.m
	a := &s.r[c.src[0]]
	if a.taint != 0 {
		m.useAddress(a.taint, c, false)
	}
	x := mbarRun{s: s, c: c, m: m}
	if len(c.dsts) > 0 && c.dsts[0] >= 0 {
		x.out = m.lane[0][:m.threads]
		if mask.n != s.mask.n {
			copy(x.out, s.r[c.dsts[0]].spread(m.buf[0][:m.threads], ^uint64(0)))
		}
	}
	for _, i := range mask.list {
		mb := s.mbarAt(c, a.at(int(i), 0xffffffff)+c.mem.off, mbarOp(c.imm) == mbInit)
		if mb == nil {
			return
		}
		if v := x.one(mb, i); x.out != nil {
			x.out[i] = v
		}
	}
	x.end(mask)
}

// mbarRun is one execution of an mbarrier instruction.
type mbarRun struct {
	s        *threadGroup
	c        *code
	m        *worker
	out      []uint64 // by thread; nil where no result is wanted
	taint    taint    // of the operands
	failed   bool     // some test did
	acquired *threadSet
	clock    *vectorClock // that the threads acquire
}

// operand gives a thread's value of source k, 0 where there is none.
func (x *mbarRun) operand(k int, i int32) uint64 {
	if len(x.c.src) <= k {
		return 0
	}
	v := &x.s.r[x.c.src[k]]
	x.taint |= v.taint
	return v.at(int(i), widthMask(x.m.p.slots[x.c.src[k]].bits))
}

// one executes the instruction for a thread, and gives its result.
func (x *mbarRun) one(mb *mbar, i int32) uint64 {
	cl := x.s.b.cl
	switch mbarOp(x.c.imm) {
	case mbInit:
		mb.init(int64(x.operand(1, i)))
	case mbArrive:
		return x.arrive(mb, i)
	case mbExpect:
		mb.tx += int64(x.operand(1, i))
	case mbComplete:
		mb.tx -= int64(x.operand(1, i))
		mb.advance(cl)
	case mbTest:
		return x.test(mb, i)
	case mbInval:
	}
	cl.version++
	return 0
}

// init makes the object anew: phases count on, so that clocks that know of them stay true.
func (mb *mbar) init(count int64) {
	phase := mb.phase
	if phase > 0 {
		phase = (phase + 2) &^ 1
	}
	*mb = mbar{id: mb.id, count: count, pending: count, phase: phase, last: mb.last}
}

// arrive counts a thread in, and gives the phase that it arrived on.
func (x *mbarRun) arrive(mb *mbar, i int32) uint64 {
	n := int64(1)
	if x.c.flags&mbExpectTx != 0 {
		mb.tx += int64(x.operand(1, i))
	} else if x.c.flags&mbSource != 0 {
		n = int64(x.operand(1, i))
	}
	phase := mb.phase
	if x.c.flags&mbDrop != 0 {
		mb.count -= n
	}
	if x.c.flags&mbRelaxed != 0 || x.s.uncertain() { // orders no memory
		mb.pending -= n
	} else {
		mb.arrive(x.s.b, int(i), n)
	}
	mb.advance(x.s.b.cl)
	return uint64(phase)
}

// test says whether a phase is complete; if it is, the thread acquires what the arrivals released.
func (x *mbarRun) test(mb *mbar, i int32) uint64 {
	ok := uint32(x.operand(1, i)) < mb.phase
	if x.c.flags&mbParity != 0 {
		ok = uint64(mb.phase&1) != x.operand(1, i)&1
	}
	switch {
	case !ok:
		x.failed = true
	case x.c.flags&mbRelaxed == 0 && !x.s.uncertain():
		if x.acquired == nil {
			x.acquired, x.clock = newSet(x.m.threads), mb.last
		}
		if mb.last == x.clock {
			x.acquired.add(int(i))
		} else {
			x.s.b.acquire(int(i), mb.last)
		}
	}
	return b2u(ok)
}

// end gives the threads what they acquired, and the register its values.
func (x *mbarRun) end(mask *threadSet) {
	s, c, m := x.s, x.c, x.m
	if x.taint != 0 {
		m.useControl(x.taint, c, "operand")
	}
	if x.acquired != nil {
		s.b.acquireAll(x.acquired, x.clock)
	}
	if x.failed {
		s.yield, s.test = true, c
	}
	if x.out == nil {
		return
	}
	r := &s.r[c.dsts[0]]
	copy(r.vec(m.threads), x.out)
	r.kind, r.t, r.taint = vector, nil, x.taint
	first := x.out[mask.list[0]]
	for _, i := range mask.list {
		if x.out[i] != first {
			return
		}
	}
	if mask.n == s.mask.n {
		r.setU(first, x.taint)
	}
}
