package ptx

// copyOp is one cp.async by some threads that have not all waited for it.
type copyOp struct {
	c      *code
	mask   *mset // threads that have not waited
	dst    value // addresses in shared memory
	src    value // addresses in global memory
	size   int64 // bytes written to shared memory, by each thread
	read   int64 // bytes read
	lo, hi int64 // of the destination, offsets in shared memory
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
func runCopy(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m, b := s.m, s.b
	for _, slot := range c.src[:2] {
		if t := s.r[slot].taint; t != 0 {
			m.useAddress(t, c)
		}
	}
	mask = m.keepSet(mask)
	dst := s.shift(&s.r[c.src[0]], c.mem.off)
	src := s.shift(&s.r[c.src[1]], c.imm)
	start := func(set *mset, n int64) {
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
func (s *strand) shift(x *value, off uint64) value {
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
func (s *strand) readSizes(c *code, mask *mset, x *value) map[int64]*mset {
	out := map[int64]*mset{}
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
func (o *copyOp) issue(s *strand) {
	m, b := s.m, s.b
	t := touch{s: s, c: o.c, mask: o.mask, addr: &o.dst, u: o.dst.u, space: spaceShared}
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
				g.look(t)
				var lt taint
				v, lt = g.load(m, int64(a-g.base)+n, 4)
				tt |= lt
			}
		}
		b.shared.store(m, off+n, 4, v, tt)
	}
}

// apartKey names two accesses to shared memory that may or may not meet.
type apartKey struct {
	a, b   shapeKey
	offset int64
}

// apart says that a copy and an access touch no byte both, remembered for
// accesses of the same form and distance.
func (m *worker) apart(o *copyOp, addr *value, mask *mset, size int64) bool {
	if o.dst.kind == vector || addr.kind == vector || !mask.kept || !o.mask.kept {
		return false
	}
	key := apartKey{shapeKey{o.dst.t, o.mask, o.size}, shapeKey{addr.t, mask, size}, int64(uint32(addr.u)) - int64(uint32(o.dst.u))}
	if key == m.lastApart {
		return m.lastApartIs
	}
	is, ok := m.aparts[key]
	if !ok {
		is = disjoint(key)
		if len(m.aparts) < maxOffsets {
			m.aparts[key] = is
		}
	}
	m.lastApart, m.lastApartIs = key, is
	return is
}

func disjoint(k apartKey) bool {
	used := map[int64]bool{}
	each := func(s shapeKey, by int64, f func(at int64) bool) bool {
		for _, i := range s.mask.list {
			at := by
			if s.t != nil {
				at += s.t.v[i]
			}
			for n := int64(0); n < s.size; n++ {
				if !f(at + n) {
					return false
				}
			}
		}
		return true
	}
	each(k.a, 0, func(at int64) bool { used[at] = true; return true })
	return each(k.b, k.offset, func(at int64) bool { return !used[at] })
}

// use tells of an access to shared memory that copies may still be on their way to.
func (k *copies) use(t *touch, b *block, thread int, off, size int64, write bool) {
	b.m.charge(int64(len(k.list)))
	for _, p := range k.list {
		if p.lo < off+size && off < p.hi {
			p.meets(t, b, thread, off, size, write, 0)
		}
	}
}

// near says that an access to [lo, hi) may touch bytes of a copy that is outstanding.
func (k *copies) near(m *worker, t *touch, lo, hi int64) bool {
	for _, p := range k.list {
		if p.lo >= hi || lo >= p.hi {
			continue
		}
		at := *t.addr
		at.u = t.u
		if !m.apart(p, &at, t.mask, t.c.mem.size) {
			return true
		}
	}
	return false
}

type lateKey struct{ copy, use int32 }

// meets looks for threads whose copy overlaps an access. A copy of the same
// source bytes is no conflict.
func (o *copyOp) meets(t *touch, b *block, thread int, off, size int64, write bool, source uint64) {
	m := t.s.m
	m.charge(int64(o.mask.n))
	for _, i := range o.mask.list {
		at := int64(uint32(o.dst.at(int(i), 0xffffffff))) - sharedBase
		lo, hi := max(at, off), min(at+o.size, off+size)
		if lo >= hi || source != 0 && source-uint64(off) == o.sourceOf(i)-uint64(at) {
			continue
		}
		m.late(o, int(i), t, b, thread, lo, hi-lo, write)
	}
}

func (m *worker) late(o *copyOp, from int, t *touch, b *block, thread int, at, n int64, write bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := lateKey{o.c.orig, t.c.orig}
	l := m.launchState.late[k]
	if l == nil {
		l = &LateCopy{Copy: m.p.access(o.c.orig), Use: m.p.access(t.c.orig), Write: write}
		m.launchState.late[k] = l
	}
	if l.Count == 0 || before(b.id, l.Copy.Block) {
		l.Copy.Block, l.Copy.Thread = b.id, m.threadID(from)
		l.Use.Block, l.Use.Thread = t.s.b.id, m.threadID(thread)
		l.Byte = uint64(at)
	}
	l.Count += n
}

// runCommit executes cp.async.commit_group.
func runCommit(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	k := &s.b.copies
	if mask.n == s.m.threads && k.commits == nil {
		k.commit++
		return
	}
	if k.commits == nil {
		k.commits = make([]uint32, s.m.threads)
		for i := range k.commits {
			k.commits[i] = k.commit
		}
	}
	for _, t := range mask.list {
		k.commits[t]++
	}
}

// runWait executes cp.async.wait_group N and wait_all (N = 0, uncommitted ones too).
func runWait(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	k := &s.b.copies
	s.m.charge(int64(len(k.list)))
	left := k.list[:0]
	for _, o := range k.list {
		if o.end(s, mask, func(t int) bool {
			return c.flags&waitAll != 0 || uint64(o.groupOf(t))+c.imm < uint64(k.groupOf(t))
		}, 0, 0) {
			left = append(left, o)
		} else {
			s.m.overCopies = append(s.m.overCopies, o)
		}
	}
	clear(k.list[len(left):])
	k.list = left
}

const waitAll = 1 << 0

// end ends the copies of those threads of mask for which over holds, and
// records their reads; it says whether any remain.
func (o *copyOp) end(s *strand, mask *mset, over func(t int) bool, async uint16, phase uint32) bool {
	m := s.m
	done, rest := o.mask, (*mset)(nil)
	all := mask == o.mask || mask.n == m.threads
	if all && o.groups == nil && s.b.copies.commits == nil {
		if !over(int(o.mask.list[0])) {
			return true
		}
	} else {
		done, rest = newSet(m.threads), newSet(m.threads)
		for _, t := range o.mask.list {
			if mask.has(int(t)) && over(int(t)) {
				done.add(int(t))
			} else {
				rest.add(int(t))
			}
		}
		if done.n == 0 {
			return true
		}
		if rest.n == 0 {
			done, rest = o.mask, nil
		}
	}
	if o.read > 0 {
		c := o.c
		if o.read != c.mem.size {
			clone, op := *o.c, *o.c.mem
			op.size = o.read
			clone.mem = &op
			c = &clone
		}
		t := touch{s: s, c: c, mask: m.keepSet(done), addr: &o.src, u: o.src.u, space: spaceGlobal}
		t.async, t.phase = async, phase
		m.unhold()
		m.began = &o.began
		t.global(reads, nil)
		m.unhold()
		m.began = nil
	}
	o.mask = rest
	return rest != nil
}

// abandon records the reads of copies that no thread waited for: they never end.
func (k *copies) abandon(b *block) {
	for _, o := range k.list {
		s := &strand{m: b.m, b: b, mask: o.mask}
		o.end(s, b.m.full, func(int) bool { return true }, asyncNever, 0)
	}
	k.list = nil
}

// runCopyArrive executes cp.async.mbarrier.arrive: the copies end with a phase.
func runCopyArrive(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	a := &s.r[c.src[0]]
	for _, i := range mask.list {
		mb := s.mbarAt(c, a.at(int(i), 0xffffffff)+c.mem.off, false)
		if mb == nil {
			return
		}
		one := newSet(s.m.threads)
		one.add(int(i))
		k := &s.b.copies
		left := []*copyOp{}
		for _, o := range k.list {
			if o.end(s, one, func(int) bool { return true }, uint16(mb.id+1), mb.phase) {
				left = append(left, o)
			}
		}
		k.list = left
		n := int64(0)
		if c.flags&copyNoInc != 0 {
			n = 1
		}
		mb.arrive(s.b, int(i), n)
		mb.advance(s.b.cl)
	}
}

const copyNoInc = 1 << 0
