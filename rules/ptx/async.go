package ptx

// copyOp is one cp.async by some threads that have not all waited for it.
type copyOp struct {
	c      *code
	mask   *threadSet // threads that have not waited
	dst    value      // addresses in shared memory
	src    value      // addresses in global memory
	size   int64      // bytes written to shared memory, by each thread
	read   int64      // bytes read
	lo, hi int64      // of the destination, offsets in shared memory
	group  uint32
	groups []uint32 // by thread, where they differ
	began  began
}

// began is when a copy was issued: from then on it may read.
type began struct {
	sync *syncState
	seq  uint32
}

// copies is what a block's threads have outstanding.
type copies struct {
	list    []*copyOp
	commit  uint32   // groups that every thread has committed
	commits []uint32 // by thread, where they differ
}

func (k *copies) outstanding() int { return len(k.list) }

func (k *copies) groupOf(t int) uint32 {
	if k.commits != nil {
		return k.commits[t]
	}
	return k.commit
}

func (o *copyOp) groupOf(t int) uint32 {
	if o.groups != nil {
		return o.groups[t]
	}
	return o.group
}

// runCopy executes cp.async: global to shared memory, 4, 8 or 16 bytes a
// thread. The read lasts until the thread waits for its group.
func runCopy(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m, b := s.m, s.b
	if t := s.r[c.src[0]].taint; t != 0 {
		m.useAddress(t, c, false)
	}
	mask = m.keepSet(mask)
	dst := s.shift(&s.r[c.src[0]], c.mem.off)
	src := s.shift(&s.r[c.src[1]], c.imm)
	start := func(set *threadSet, n int64) {
		if n > 0 && src.taint != 0 { // what reads nothing has no address
			m.useAddress(src.taint, c, true)
		}
		o := m.newCopy()
		*o = copyOp{c: c, mask: set, dst: dst, src: src, size: c.mem.size, read: n, group: b.copies.commit}
		if b.copies.commits != nil {
			o.groups = append([]uint32(nil), b.copies.commits...)
		}
		o.issue(s)
	}
	if len(c.src) <= 2 {
		start(mask, c.mem.size)
		return
	}
	x := &s.r[c.src[2]]
	if x.taint != 0 {
		m.useControl(x.taint, c, "source size")
	}
	if x.taint&taintBits != 0 {
		reading := 0
		for _, i := range mask.list {
			reading += int(b2u(c.readSize(x.at(int(i), 0xffffffff)) > 0))
		}
		m.decided(c, "source size", reading, mask.n)
	}
	if x.kind == uniform {
		start(mask, c.readSize(x.u))
		return
	}
	sizes := s.readSizes(c, mask, x)
	for n := c.mem.size; n >= 0; n-- { // in a fixed order
		if set := sizes[n]; set != nil {
			start(m.keepSet(set), n)
		}
	}
}

// newCopy gives a copyOp, of one that is over where there is one.
func (m *worker) newCopy() *copyOp {
	if n := len(m.overCopies); n > 0 {
		o := m.overCopies[n-1]
		m.overCopies = m.overCopies[:n-1]
		return o
	}
	return new(copyOp)
}

// shift copies a register's value, an offset added.
func (s *threadGroup) shift(x *value, off uint64) value {
	v := value{kind: x.kind, u: x.u + off, t: x.t, taint: x.taint}
	if x.kind == vector {
		v.u = 0
		v.v = append([]uint64(nil), x.v...)
		for i := range v.v {
			v.v[i] += off
		}
	}
	return v
}

// readSize is the bytes that a thread reads, of its third operand: src-size, or
// none where the ignore predicate holds.
func (c *code) readSize(v uint64) int64 {
	if c.flags&copyIgnore == 0 {
		return int64(min(v&0xffffffff, uint64(c.mem.size)))
	}
	if v != 0 {
		return 0
	}
	return c.mem.size
}

// readSizes sorts threads by the bytes that they read.
func (s *threadGroup) readSizes(c *code, mask *threadSet, x *value) map[int64]*threadSet {
	out := map[int64]*threadSet{}
	for _, i := range mask.list {
		n := c.readSize(x.at(int(i), 0xffffffff))
		if out[n] == nil {
			out[n] = newSet(s.m.threads)
		}
		out[n].add(int(i))
	}
	return out
}

const copyIgnore = 1 << 0

// issue checks the destination, copies the bytes where they are needed, and
// makes the copy outstanding.
func (o *copyOp) issue(s *threadGroup) {
	m, b := s.m, s.b
	t := touch{s: s, c: o.c, mask: o.mask, addr: &o.dst, u: o.dst.u, space: spaceShared}
	if m.p.flights && len(b.flights.list) > 0 {
		t.early(true)
	}
	first := true
	span := func(off int64) {
		if first || off < o.lo {
			o.lo = off
		}
		if first || off+o.size > o.hi {
			o.hi = off + o.size
		}
		first = false
	}
	if o.dst.kind != vector && !o.c.mem.keep {
		sh := m.shapeFor(o.c, o.dst.t, o.mask, o.size)
		lo := int64(uint32(o.dst.u)) + sh.lo - sharedBase
		if lo >= 0 && lo+sh.span <= m.shared {
			m.charge(int64(len(b.copies.list)))
			o.lo, o.hi, first = lo, lo+sh.span, false
			for _, p := range b.copies.list {
				if p.lo < o.hi && o.lo < p.hi && !m.apart(p, &o.dst, o.mask, o.size) {
					first = true // look closer
				}
			}
		}
	}
	if first {
		o.eachByte(&t, b, span)
	}
	o.began = began{b.snapshot(), b.cl.seq + 1}
	b.copies.list = append(b.copies.list, o)
	if len(b.copies.list) > 1<<14 {
		m.stopAt(o.c.in, "too many copies are outstanding")
	}
	m.memory(64)
}

func (o *copyOp) eachByte(t *touch, b *block, span func(off int64)) {
	m := t.s.m
	for _, i := range o.mask.list {
		if m.charge(int64(len(b.copies.list))); m.stopped.Load() {
			return
		}
		own, off := b.sharedBlock(uint32(t.at(i)))
		if own != b || off < 0 || off+o.size > m.shared {
			m.stray(t, i, t.at(i), o.size, true)
			continue
		}
		span(off)
		for _, p := range b.copies.list {
			if p.lo < off+o.size && off < p.hi {
				p.meets(t, b, int(i), off, o.size, true, o.sourceOf(i))
			}
		}
		if o.c.mem.keep {
			o.move(t, b, i, off)
		}
	}
}

func (o *copyOp) sourceOf(i int32) uint64 { return o.src.at(int(i), ^uint64(0)) }

// move copies one thread's bytes; what is not read becomes zero.
func (o *copyOp) move(t *touch, b *block, i int32, off int64) {
	m := t.s.m
	a := o.sourceOf(i)
	g := m.find(a)
	for n := int64(0); n < o.size; n += 4 {
		v, tt := uint64(0), o.src.taint
		if n < o.read {
			if g == nil || int64(a-g.base)+n+4 > g.size {
				tt |= taintOpaque
			} else {
				g.noteLoad(t)
				var lt taint
				v, lt = g.load(m, int64(a-g.base)+n, 4)
				tt |= lt
			}
		}
		b.shared.store(m, off+n, 4, v, tt)
	}
}
