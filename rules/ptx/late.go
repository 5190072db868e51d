package ptx

// apartKey names two accesses to shared memory that may or may not meet.
type apartKey struct {
	a, b   shapeKey
	offset int64
}

// apart says that a copy and an access touch no byte both, remembered for
// accesses of the same form and distance.
func (m *worker) apart(o *copyOp, addr *value, mask *threadSet, size int64) bool {
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
