package ptx

// barrier is one of a block's 16 named barriers.
type barrier struct {
	set     *threadSet // threads that have arrived
	arrived int        // threads, whole warps counted where a count is given
	unsure  bool       // some thread may not come by here in another run
	want    int64      // threads expected, -1: all that live
	waiting []*threadGroup
	sync    *threadSet // of them, those that wait
	rel     *clockJoin // what those made known that only arrived
	early   bool       // some only arrived
	count   uint64     // of a reduction
	total   uint64
}

// runBarrier executes bar.sync, bar.arrive and bar.red.
func runBarrier(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	id, ok := s.uniformOf(c, c.src[0], mask)
	want := int64(-1)
	if c.flags&barCount != 0 {
		n, same := s.uniformOf(c, c.src[1], mask)
		want, ok = int64(n), ok && same
	}
	switch {
	case !ok && !s.apart(c, mask):
		s.m.stopAt(c.in, "threads of a warp name different barriers")
		return
	case !ok:
		return
	case id > 15:
		s.m.stopAt(c.in, "there is no barrier %d", id)
		return
	case want == 0 || want > 1<<16:
		s.m.stopAt(c.in, "bad thread count")
		return
	}
	b := s.b
	if c.flags&(barArrive|barReduce) == 0 && mask == b.live && (b.bars == nil || b.bars[id].arrived == 0) && (want < 0 || want <= int64(mask.n+31)&^31) {
		if !s.uncertain() {
			b.barrierAll()
		}
		b.cl.version++
		return
	}
	mask = s.m.keepSet(mask)
	if b.bars == nil {
		b.bars = make([]barrier, 16)
	}
	bar := &b.bars[id]
	if bar.arrived == 0 {
		bar.set, bar.sync = newSet(s.m.threads), newSet(s.m.threads)
	}
	bar.want = want
	bar.unsure = bar.unsure || s.uncertain()
	bar.set = bar.set.union(mask, s.m.threads)
	bar.arrived = bar.set.n
	b.cl.version++
	if c.flags&barReduce != 0 {
		bar.reduce(s, c, mask)
	}
	if c.flags&barArrive != 0 {
		bar.early = true
		if bar.rel == nil {
			bar.rel = &clockJoin{b: b}
		}
		bar.rel.releaseAll(mask)
	} else {
		bar.sync = bar.sync.union(mask, s.m.threads)
		if mask.n == s.mask.n {
			s.state, s.wait = blocked, c
			bar.waiting = append(bar.waiting, s)
		}
	}
	b.tryBarrier(int(id))
}

// apart lets threads that name other barriers, or counts, than the first come to the
// instruction by themselves: warps may, as CUTLASS has it, the lanes of one may not.
func (s *threadGroup) apart(c *code, mask *threadSet) bool {
	m := s.m
	key := func(t int32) (k [2]uint64) {
		for i, slot := range c.src[:1+int(c.flags&barCount)] {
			k[i] = s.r[slot].at(int(t), widthMask(m.p.slots[slot].bits))
		}
		return k
	}
	same, first := newSet(m.threads), key(mask.list[0])
	for k, t := range mask.list {
		if k > 0 && t>>5 == mask.list[k-1]>>5 && key(t) != key(mask.list[k-1]) {
			return false
		}
		if key(t) == first {
			same.add(int(t))
		}
	}
	at, pc := s.bb, s.pc-1
	rest := s.split(m.p.blocks[at].join, at, m.keepSet(same), at)
	s.pc, rest.pc = pc, pc
	return true
}

const (
	barCount  = 1 << 0
	barArrive = 1 << 1
	barReduce = 1 << 2
	barNot    = 1 << 3
)

// uniformOf reads a value that all threads must agree on.
func (s *threadGroup) uniformOf(c *code, slot int32, mask *threadSet) (uint64, bool) {
	x := &s.r[slot]
	if x.taint != 0 {
		s.m.useControl(x.taint, c, "operand")
	}
	w := widthMask(s.m.p.slots[slot].bits)
	v := x.at(int(mask.list[0]), w)
	if x.kind != uniform {
		for _, i := range mask.list {
			if x.at(int(i), w) != v {
				return 0, false
			}
		}
	}
	return v, true
}

// tryBarrier completes a barrier when all that it expects have arrived.
func (b *block) tryBarrier(id int) {
	bar := &b.bars[id]
	all := true
	for _, t := range b.live.list {
		if !bar.set.has(int(t)) {
			all = false
			break
		}
	}
	if bar.want >= 0 {
		n := int64(0)
		for w := 0; w < b.m.warps; w++ {
			if here := bar.set.warp(w); here != 0 && here == b.live.warp(w)|here {
				n += 32
			}
		}
		if n < bar.want {
			return
		}
	} else if !all {
		return
	}
	done := *bar
	*bar = barrier{}
	if done.unsure {
		b.dirty = true
	} else if !done.early && done.sync.n == b.live.n && all {
		b.barrierAll()
	} else {
		j := done.rel
		if j == nil {
			j = &clockJoin{b: b}
		}
		j.releaseAll(done.sync)
		b.acquireAll(done.sync, j.done())
	}
	b.cl.version++
	for _, s := range done.waiting {
		if s.state == blocked && s.wait != nil {
			if s.wait.flags&barReduce != 0 {
				done.give(s)
			}
			s.state, s.wait = running, nil
		}
	}
}

// reduce counts the threads whose predicate holds.
func (bar *barrier) reduce(s *threadGroup, c *code, mask *threadSet) {
	p := &s.r[c.src[len(c.src)-1]]
	for _, i := range mask.list {
		v := p.at(int(i), 1)
		if c.flags&barNot != 0 {
			v ^= 1
		}
		bar.count += v
		bar.total++
	}
}

// give sets a waiting group's result.
func (bar *barrier) give(s *threadGroup) {
	c := s.wait
	v := bar.count
	switch c.imm {
	case 1:
		v = b2u(bar.count == bar.total)
	case 2:
		v = b2u(bar.count != 0)
	}
	p := &s.r[c.src[len(c.src)-1]]
	s.r[c.dsts[0]].setU(v, p.taint)
}
