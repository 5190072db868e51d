package ptx

// sharedBlock gives the block that a shared::cluster address belongs to.
func (b *block) sharedBlock(a uint32) (*block, int64) {
	r := a >> clusterShift
	off := int64(a&(1<<clusterShift-1)) - sharedBase
	if r == 0 {
		return b, off
	}
	if int(r) > len(b.cl.blocks) {
		return nil, off
	}
	return b.cl.blocks[r-1], off
}

// sharedEach calls each with every thread whose access lies in shared memory, and
// tells of those that do not, and of copies on their way. each may be nil.
func (t *touch) sharedEach(write bool, each func(i int32, b *block, off int64)) {
	m, size := t.s.m, t.c.mem.size
	own := t.s.b
	late := own.copies.outstanding() > 0
	if m.p.flights {
		t.early(write)
	}
	if t.addr.kind != vector && len(own.cl.blocks) == 1 {
		sh := m.shapeFor(t.c, t.addr.t, t.mask, size)
		lo := int64(uint32(t.u)) + sh.lo - sharedBase
		inside := lo >= 0 && lo+sh.span <= m.shared
		late = late && own.copies.near(m, t, lo, lo+sh.span)
		if inside && !late {
			for _, i := range t.mask.list {
				if each == nil {
					return
				}
				each(i, own, int64(uint32(t.at(i)))-sharedBase)
			}
			return
		}
	}
	for _, i := range t.mask.list {
		b, off := own.sharedBlock(uint32(t.at(i)))
		if b == nil || off < 0 || off+size > m.shared {
			m.stray(t, i, t.at(i), size, write)
			continue
		}
		if late || b != own && b.copies.outstanding() > 0 {
			b.copies.use(t, b, int(i), off, size, write)
		}
		if each != nil {
			each(i, b, off)
		}
	}
}

func (t *touch) loadShared() {
	op := t.c.mem
	if !op.want {
		t.sharedEach(false, nil)
		return
	}
	m := t.s.m
	each := int(op.bits / 8)
	out := t.results()
	if t.addr.kind == uniform {
		t.sharedEach(false, nil)
		b, off := t.s.b.sharedBlock(uint32(t.u))
		for k := range out.regs {
			if b == nil || off < 0 || off+op.size > m.shared {
				out.set(k, 0, taintOpaque)
				continue
			}
			v, tt := b.shared.load(m, off+int64(k*each), each)
			out.set(k, v, tt|t.sharedOrder(b, off, op.size))
		}
		return
	}
	out.begin()
	t.sharedEach(false, func(i int32, b *block, off int64) {
		order := t.threadOrder(b, off, op.size, i)
		for k := range out.regs {
			v, tt := b.shared.load(m, off+int64(k*each), each)
			out.put(k, i, v, tt|order)
		}
	})
	out.end()
}

// threadOrder gives taintOrder where a thread may load what another stores without an order.
func (t *touch) threadOrder(b *block, off, size int64, i int32) taint {
	if t.c.mem.weak {
		return taintOrder
	}
	return t.s.b.unordered(b, off, size, int(i))
}

// sharedOrder is threadOrder for all threads, which load the same.
func (t *touch) sharedOrder(b *block, off, size int64) taint {
	if t.c.mem.weak {
		return taintOrder
	}
	if b.shared.owner != nil {
		for _, i := range t.mask.list {
			if t.s.b.unordered(b, off, size, int(i)) != 0 {
				return taintOrder
			}
		}
	}
	return 0
}

func (t *touch) storeShared() {
	op := t.c.mem
	t.s.b.cl.seq++
	if !op.keep {
		t.sharedEach(true, nil)
		return
	}
	m := t.s.m
	each := int(op.bits / 8)
	gt := t.guardTaint()
	changed := false
	t.sharedEach(true, func(i int32, b *block, off int64) {
		for k, slot := range t.c.src[1:] {
			x := &t.s.r[slot]
			v := x.at(int(i), widthMask(m.p.slots[slot].bits)) & widthMask(op.bits)
			if !changed {
				old := little(b.shared.data, off+int64(k*each), each)
				changed = old != v
			}
			b.shared.store(m, off+int64(k*each), each, v, x.taint|gt)
		}
		b.shared.wrote(off, op.size, t.s.b.rank*m.threads+int(i), t.s.b.cl.seq)
	})
	t.stored(changed)
}

// localEach calls each with the place of every thread's access in the block's local memory.
func (t *touch) localEach(write bool, each func(i int32, at int64)) {
	m, b, size := t.s.m, t.s.b, t.c.mem.size
	if !b.openLocal() {
		return
	}
	for _, i := range t.mask.list {
		off := int64(t.at(i))
		if off < 0 || off+size > m.p.frame || off+size < off {
			m.stray(t, i, t.at(i), size, write)
			continue
		}
		each(i, int64(i)*m.p.frame+off)
	}
}

// openLocal makes the block's local memory where there is none; false where that is too much.
func (b *block) openLocal() bool {
	if b.local == nil {
		n := b.m.p.frame * int64(b.m.threads)
		b.m.memory(2 * n)
		if b.m.stopped.Load() {
			return false
		}
		b.local, b.ltags = make([]byte, n), make([]uint8, n)
	}
	return true
}

func (t *touch) loadLocal() {
	op := t.c.mem
	m, b := t.s.m, t.s.b
	each := int64(op.bits / 8)
	if !op.want {
		t.localEach(false, func(int32, int64) {})
		return
	}
	out := t.results()
	out.begin()
	t.localEach(false, func(i int32, at int64) {
		for k := range out.regs {
			o := at + int64(k)*each
			var tt taint
			for _, g := range b.ltags[o : o+each] {
				tt |= m.tags.taints[g]
			}
			out.put(k, i, little(b.local, o, int(each)), tt)
		}
	})
	out.end()
}

func (t *touch) storeLocal() {
	op := t.c.mem
	m, b := t.s.m, t.s.b
	each := int64(op.bits / 8)
	gt := t.guardTaint()
	watch, changed := b.cl.many || t.s.looks > 0, false // it may be a loop's counter
	t.localEach(true, func(i int32, at int64) {
		if !op.keep {
			return
		}
		for k, slot := range t.c.src[1:] {
			x := &t.s.r[slot]
			o := at + int64(k)*each
			v := x.at(int(i), widthMask(m.p.slots[slot].bits))
			changed = changed || watch && little(b.local, o, int(each)) != v&widthMask(op.bits)
			putLittle(b.local[o:], v, int(each))
			tag := m.tags.of(x.taint | gt)
			for j := o; j < o+each; j++ {
				b.ltags[j] = tag
			}
		}
	})
	t.stored(changed)
}
