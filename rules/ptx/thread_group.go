package ptx

// threadGroup is a set of threads of one block that execute together, with
// registers of their own. A block starts as one group; a branch that threads
// answer differently splits it, and the parts meet again at the branch's
// immediate post-dominator, or go on alone where waiting would stall them all.
type threadGroup struct {
	m    *worker
	b    *block
	r    []value
	mask *threadSet
	bb   int32 // block of codes
	pc   int   // in its sliced list
	top  *reconvergence

	state  groupState
	yield  bool
	stuck  uint64 // version at which it was seen to repeat itself, plus one
	watch  int32
	hash   uint64
	seen   uint64 // version at the last look
	looks  int
	global *code // a load of global memory since the last look
	test   *code // a failed test of an mbarrier since the last look
	wait   *code // what it is blocked at
	lanes  bool  // it is blocked until other lanes of its warps come
	tired  *code // where it is not to wait for lanes any more
	guests *guests
	adrift bool // order by memory brought it here, and no place ends that
}

type groupState uint8

const (
	running groupState = iota
	blocked            // at a barrier
	gone               // exited, or merged into another
)

const quantum = 512 // basic blocks a group runs before others do

// run executes until the group exits, waits, or has had its turn.
func (s *threadGroup) run(alone bool) {
	m := s.m
	p := m.p
	for n := 0; s.state == running; n++ {
		b := p.blocks[s.bb]
		if s.pc == 0 {
			if s.top != nil && s.top.bb == s.bb {
				s.arrive()
				return
			}
			if s.yield {
				s.yield = false
				s.watchProgress()
				return
			}
			if n >= quantum {
				if s.watchProgress(); !alone || s.stuck == s.b.cl.version+1 {
					return
				}
				n = 0
			} else if s.watch == s.bb && n > 0 && s.looks > 0 {
				s.watchProgress()
				if s.stuck == s.b.cl.version+1 {
					return
				}
				s.looks--
			}
			m.step(b.count * int64(s.mask.n))
			if m.stopped.Load() {
				return
			}
		}
		list := b.sliced
		for s.pc < len(list) {
			c := list[s.pc]
			s.pc++
			c.run(s, c)
			if s.state != running {
				m.executed += int64(s.pc)
				return
			}
		}
		m.executed += int64(len(list))
		s.pc = 0
		s.next(b)
	}
}

// next takes the block's exit.
func (s *threadGroup) next(b *basicBlock) {
	c := b.last
	switch b.term {
	case termNone, termJump:
		s.bb = b.to[0]
	case termExit:
		s.exit()
	case termBranch:
		p := &s.r[c.guard]
		if b.idle != nil {
			if s.skips(b, p.taint) {
				s.bb = b.join
				return
			}
		} else if p.taint != 0 {
			s.branches(b, p.taint)
		}
		if p.kind == uniform {
			if p.taint&taintBits != 0 && b.idle == nil {
				s.m.decided(c, "branch", int(b2u(p.u != 0 != c.not)), 1)
			}
			if p.u != 0 != c.not {
				s.bb = b.to[0]
			} else {
				s.bb = b.to[1]
			}
			return
		}
		taken := s.m.guardMask(c, s.mask, p)
		if p.taint&taintBits != 0 && b.idle == nil {
			s.m.decided(c, "branch", taken.n, s.mask.n)
		}
		switch taken.n {
		case 0:
			s.bb = b.to[1]
		case s.mask.n:
			s.bb = b.to[0]
		default:
			s.split(b.join, b.to[0], s.m.keepSet(taken), b.to[1])
		}
	case termIndex:
		s.indexed(b, c)
	}
}

// branches notes what a branch depends on.
func (s *threadGroup) branches(b *basicBlock, t taint) {
	s.m.useControl(t, b.last, "branch")
	if t&taintOrder != 0 {
		s.ordersBranch(b, t)
	}
}

// indexed is brx.idx: threads with other indices split off one by one.
func (s *threadGroup) indexed(b *basicBlock, c *code) {
	x := &s.r[c.src[0]]
	if b.idle != nil {
		if s.skips(b, x.taint) {
			s.bb = b.join
			return
		}
	} else if x.taint != 0 {
		s.branches(b, x.taint)
	}
	first := x.at(int(s.mask.list[0]), ^uint64(0))
	if first >= uint64(len(b.to)) {
		s.m.stopAt(c.in, "index %d of %d", first, len(b.to))
		return
	}
	if x.taint&taintBits != 0 && b.idle == nil {
		s.m.went(c, "branch", 1<<min(first, 63), ^uint64(0)>>(64-min(uint64(len(b.to)), 64)))
	}
	same := newSet(s.m.threads)
	for _, t := range s.mask.list {
		if x.at(int(t), widthMask(32)) == first {
			same.add(int(t))
		}
	}
	if same.n == s.mask.n {
		s.bb = b.to[first]
		return
	}
	rest := s.split(b.join, b.to[first], s.m.keepSet(same), s.bb)
	rest.pc = len(b.sliced) // it asks again, and nothing else
}

// registers gives a register file. The constants are in it: no code writes to them.
func (m *worker) registers() []value {
	if n := len(m.pool); n > 0 {
		r := m.pool[n-1]
		m.pool = m.pool[:n-1]
		return r
	}
	m.memory(int64(len(m.template)) * int64(64+8*m.threads))
	if m.stopped.Load() {
		return make([]value, len(m.template))
	}
	r := make([]value, len(m.template))
	for i := range r {
		r[i].copyFrom(&m.template[i])
	}
	return r
}

func (m *worker) release(r []value) {
	if r != nil && len(m.pool) < 64 {
		m.pool = append(m.pool, r)
	}
}

// guarded is active for codes that only give values: these carry the guard's
// taint to where they are used, and what nobody uses does not count.
func (s *threadGroup) guarded(c *code) *threadSet {
	if c.guard < 0 {
		return s.mask
	}
	if mask := s.m.guardMask(c, s.mask, &s.r[c.guard]); mask.n > 0 {
		return mask
	}
	return nil
}
