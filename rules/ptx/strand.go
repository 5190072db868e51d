package ptx

// strand is a set of threads of one block that execute together, with
// registers of their own. A block starts as one strand; a branch that threads
// answer differently splits it, and the parts meet again at the branch's
// immediate post-dominator, or go on alone where waiting would stall them all.
type strand struct {
	m    *worker
	b    *block
	r    []value
	mask *mset
	bb   int32 // block of codes
	pc   int   // in its sliced list
	top  *join

	state  strandState
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
}

type strandState uint8

const (
	running strandState = iota
	blocked             // at a barrier
	gone                // exited, or merged into another
)

// join is a place where the parts of a split strand meet.
type join struct {
	bb      int32
	parent  *join
	pending int     // parts that are still to come
	acc     *strand // those that have come
}

const quantum = 512 // basic blocks a strand runs before others do

// run executes until the strand exits, waits, or has had its turn.
func (s *strand) run(alone bool) {
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
				s.look()
				return
			}
			if n >= quantum {
				if s.look(); !alone || s.stuck == s.b.cl.version+1 {
					return
				}
				n = 0
			} else if s.watch == s.bb && n > 0 && s.looks > 0 {
				s.look()
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
func (s *strand) next(b *basicBlock) {
	c := b.last
	switch b.term {
	case termNone, termJump:
		s.bb = b.to[0]
	case termExit:
		s.exit()
	case termBranch:
		p := &s.r[c.guard]
		if p.taint != 0 {
			s.m.useControl(p.taint, c, "branch")
		}
		if p.kind == uniform {
			if p.u != 0 != c.not {
				s.bb = b.to[0]
			} else {
				s.bb = b.to[1]
			}
			return
		}
		taken := s.m.guardMask(c, s.mask, p)
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

// indexed is brx.idx: threads with other indices split off one by one.
func (s *strand) indexed(b *basicBlock, c *code) {
	x := &s.r[c.src[0]]
	s.m.useControl(x.taint, c, "branch")
	first := x.at(int(s.mask.list[0]), ^uint64(0))
	if first >= uint64(len(b.to)) {
		s.m.stopAt(c.in, "index %d of %d", first, len(b.to))
		return
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

// split leaves the threads of taken to go to one block, the others, which it
// returns, to another.
func (s *strand) split(at, to int32, taken *mset, other int32) *strand {
	m := s.m
	if at >= 0 {
		if s.top != nil && s.top.bb == at {
			s.top.pending++
		} else {
			s.top = &join{bb: at, parent: s.top, pending: 2}
		}
	} else if s.top != nil {
		s.top.pending++
	}
	o := &strand{m: m, b: s.b, mask: m.keepSet(s.mask.minus(taken, m.threads)), bb: other, top: s.top, watch: -1}
	o.r = m.registers()
	for i := range s.r {
		o.r[i].copyFrom(&s.r[i])
	}
	s.mask, s.bb = taken, to
	s.b.cl.strands = append(s.b.cl.strands, o)
	m.memory(0)
	if len(s.b.cl.strands) > maxStrands {
		m.stop("the threads of a block go more than %d ways", maxStrands)
	}
	return o
}

const maxStrands = 2048

// arrive parks the strand at its join; the last one to come goes on for all.
func (s *strand) arrive() {
	j := s.top
	s.state = gone
	if j.acc == nil {
		j.acc = s
	} else {
		s.mergeInto(j.acc)
	}
	j.pending--
	if j.pending <= 0 {
		j.resume()
	}
}

// resume lets the threads that have come to a join go on.
func (j *join) resume() {
	a := j.acc
	j.acc = nil
	if a == nil {
		if j.parent != nil {
			j.parent.leave()
		}
		return
	}
	a.state = running
	a.top = j.parent
	a.b.cl.version++
	a.b.cl.strands = append(a.b.cl.strands, a)
}

// leave notes that a part will never come.
func (j *join) leave() {
	j.pending--
	if j.pending <= 0 {
		j.resume()
	}
}

// mergeInto adds the strand's threads and registers to another's.
func (s *strand) mergeInto(a *strand) {
	m := s.m
	live := m.p.blocks[s.bb].live
	each := func(i int32) {
		x, y := &a.r[i], &s.r[i]
		if x.same(y) {
			return
		}
		tt := x.taint | y.taint
		if x.kind != vector && x.kind == y.kind && x.u == y.u && x.t == y.t {
			x.taint = tt
			return
		}
		w := widthMask(m.p.slots[i].bits)
		old := x.spread(m.buf[0], w)
		v := x.vec(m.threads)
		copy(v, old)
		for _, t := range s.mask.list {
			v[t] = y.at(int(t), w)
		}
		x.kind, x.t, x.taint = vector, nil, tt
	}
	if live == nil {
		for i := range s.r {
			each(int32(i))
		}
	} else {
		for _, i := range live {
			each(i)
		}
	}
	a.mask = m.keepSet(a.mask.union(s.mask, m.threads))
	m.release(s.r)
	s.r = nil
}

// exit ends the strand's threads.
func (s *strand) exit() {
	s.state = gone
	b := s.b
	b.leaveThreads(s.mask)
	b.cl.version++
	s.m.release(s.r)
	s.r = nil
	if s.top != nil {
		s.top.leave()
	}
}

// look compares the strand with what it was at the same place the last time:
// if nothing in it nor in the memory of the cluster has changed, it is stuck.
func (s *strand) look() {
	v := s.b.cl.version
	if s.watch == s.bb && s.seen == v {
		if h := s.fingerprint(); h == s.hash {
			s.stuck = v + 1
			return
		}
	}
	s.stuck = 0
	if s.watch != s.bb {
		s.global, s.test = nil, nil
	}
	s.watch, s.seen, s.hash, s.looks = s.bb, v, s.fingerprint(), 2
}

func (s *strand) fingerprint() uint64 {
	h := uint64(14695981039346656037)
	mix := func(x uint64) { h = (h ^ x) * 1099511628211; h ^= h >> 29 }
	each := func(i int32) {
		if !s.m.plan.control[i] {
			return
		}
		x := &s.r[i]
		mix(uint64(x.kind))
		switch x.kind {
		case uniform:
			mix(x.u)
		case thread:
			mix(x.u)
			mix(uint64(x.t.id))
		default:
			for _, t := range s.mask.list {
				mix(x.v[t])
			}
		}
	}
	if live := s.m.p.blocks[s.bb].live; live != nil {
		for _, i := range live {
			each(i)
		}
	} else {
		for i := range s.r {
			each(int32(i))
		}
	}
	return h
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

// guardMask gives the threads of a set for which a guard holds. The result may
// be the worker's scratch set, good until the next call.
func (m *worker) guardMask(c *code, mask *mset, p *value) *mset {
	if p.kind == uniform {
		if p.u != 0 != c.not {
			return mask
		}
		return m.none()
	}
	if p.kind == thread && p.u == 0 && mask.kept {
		key := guardKey{mask, p.t, c.not}
		last := &m.lastGuard[c.index]
		if last.out != nil && last.key == key {
			return last.out
		}
		out := m.guards[key]
		if out == nil {
			out = newSet(m.threads)
			for _, t := range mask.list {
				if p.t.v[t] != 0 != c.not {
					out.add(int(t))
				}
			}
			out.kept = true
			if out.n == mask.n {
				out = mask
			}
			if len(m.guards) < maxOffsets {
				m.guards[key] = out
			}
		}
		*last = guardEntry{key, out}
		return out
	}
	out := m.scratch
	clear(out.bits)
	out.list, out.n = out.list[:0], 0
	for _, t := range mask.list {
		if p.at(int(t), 1) != 0 != c.not {
			out.add(int(t))
		}
	}
	if out.n == mask.n {
		return mask
	}
	return out
}

func (m *worker) none() *mset {
	out := m.scratch
	clear(out.bits)
	out.list, out.n = out.list[:0], 0
	return out
}

// keepSet gives a set that does not change: a copy of the scratch set.
func (m *worker) keepSet(s *mset) *mset {
	if s != m.scratch {
		s.kept = true
		return s
	}
	c := &mset{bits: append([]uint64(nil), s.bits...), list: append([]int32(nil), s.list...), n: s.n, kept: true}
	return c
}

// active gives the threads that execute a code, nil when there are none.
func (s *strand) active(c *code) *mset {
	if c.guard < 0 {
		return s.mask
	}
	p := &s.r[c.guard]
	if p.taint != 0 {
		s.m.useControl(p.taint, c, "guard")
	}
	return s.guarded(c)
}

// guarded is active for codes that only give values: these carry the guard's
// taint to where they are used, and what nobody uses does not count.
func (s *strand) guarded(c *code) *mset {
	if c.guard < 0 {
		return s.mask
	}
	if mask := s.m.guardMask(c, s.mask, &s.r[c.guard]); mask.n > 0 {
		return mask
	}
	return nil
}
