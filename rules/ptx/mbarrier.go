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
	mbCount
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
	m, cl := s.m, s.b.cl
	a := &s.r[c.src[0]]
	if a.taint != 0 {
		m.useAddress(a.taint, c)
	}
	base := c.mem.off
	var out []uint64
	if len(c.dsts) > 0 && c.dsts[0] >= 0 {
		out = m.lane[0][:m.threads]
		if mask.n != s.mask.n {
			copy(out, s.r[c.dsts[0]].spread(m.buf[0][:m.threads], ^uint64(0)))
		}
	}
	var tt taint
	operand := func(k int, i int32) uint64 {
		if len(c.src) <= k {
			return 0
		}
		x := &s.r[c.src[k]]
		tt |= x.taint
		return x.at(int(i), widthMask(m.p.slots[c.src[k]].bits))
	}
	failed := false
	acquired := (*threadSet)(nil)
	var know *vectorClock
	for _, i := range mask.list {
		mb := s.mbarAt(c, a.at(int(i), 0xffffffff)+base, mbarOp(c.imm) == mbInit)
		if mb == nil {
			return
		}
		v := uint64(0)
		switch mbarOp(c.imm) {
		case mbInit:
			n := int64(operand(1, i))
			phase := mb.phase
			if phase > 0 { // a fresh object: phases count on, so that knowledge stays true
				phase = (phase + 2) &^ 1
			}
			*mb = mbar{id: mb.id, count: n, pending: n, phase: phase, last: mb.last}
			cl.version++
		case mbInval:
			cl.version++
		case mbArrive:
			n := int64(1)
			if c.flags&mbExpectTx != 0 {
				mb.tx += int64(operand(1, i))
			} else if c.flags&mbSource != 0 {
				n = int64(operand(1, i))
			}
			v = uint64(mb.phase)
			if c.flags&mbDrop != 0 {
				mb.count -= n
			}
			mb.arrive(s.b, int(i), n)
			mb.advance(cl)
		case mbExpect:
			mb.tx += int64(operand(1, i))
			cl.version++
		case mbComplete:
			mb.tx -= int64(operand(1, i))
			mb.advance(cl)
		case mbCount:
			v = uint64(mb.pending)
		case mbTest:
			ok := false
			if c.flags&mbParity != 0 {
				ok = uint64(mb.phase&1) != operand(1, i)&1
			} else {
				ok = uint32(operand(1, i)) < mb.phase
			}
			v = b2u(ok)
			if !ok {
				failed = true
			} else if c.flags&mbRelaxed == 0 {
				if acquired == nil {
					acquired, know = newSet(m.threads), mb.last
				}
				if mb.last == know {
					acquired.add(int(i))
				} else {
					s.b.acquire(int(i), mb.last)
				}
			}
		}
		if out != nil {
			out[i] = v
		}
	}
	if tt != 0 {
		m.useControl(tt, c, "operand")
	}
	if acquired != nil {
		s.b.acquireAll(acquired, know)
	}
	if failed {
		s.yield, s.test = true, c
	}
	if out == nil {
		return
	}
	x := &s.r[c.dsts[0]]
	copy(x.vec(m.threads), out)
	x.kind, x.t, x.taint = vector, nil, tt
	first := out[mask.list[0]]
	for _, i := range mask.list {
		if out[i] != first {
			return
		}
	}
	if mask.n == s.mask.n {
		x.setU(first, tt)
	}
}
