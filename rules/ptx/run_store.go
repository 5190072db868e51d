package ptx

import "encoding/binary"

// runStore executes st.
func runStore(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	t := s.aim(c, mask)
	if !t.checked() {
		return
	}
	switch t.space {
	case spaceShared, spaceCluster:
		t.storeShared()
	case spaceLocal:
		t.storeLocal()
	case spaceParam:
		s.m.stopAt(c.in, "parameters cannot be written")
	default:
		t.storeGlobal()
	}
}

func (t *touch) guardTaint() taint {
	tt := t.addr.taint
	if t.c.guard >= 0 {
		tt |= t.s.r[t.c.guard].taint
	}
	return tt
}

func (t *touch) storeGlobal() {
	m, op := t.s.m, t.c.mem
	if !op.keep {
		if t.addr.kind != vector {
			if g := m.find(t.at(t.mask.list[0])); g != nil {
				g.drop(m)
			}
			t.global(writes, nil)
			return
		}
		t.global(writes, func(_ int32, g *gbuf, _ int64) { g.drop(m) })
		return
	}
	each := int(op.bits / 8)
	gt := t.guardTaint()
	changed := false
	watch := t.s.b.cl.many || t.s.looks > 0 // somebody may be waiting for this
	if !watch && t.storeClose(each, gt) {
		return
	}
	t.global(writes, func(i int32, g *gbuf, off int64) {
		for k, slot := range t.c.src[1:] {
			x := &t.s.r[slot]
			v := x.at(int(i), widthMask(m.p.slots[slot].bits))
			if watch && !changed {
				old, _ := g.load(m, off+int64(k*each), each)
				changed = old != v&widthMask(op.bits)
			}
			g.store(m, off+int64(k*each), each, v, x.taint|gt)
		}
	})
	t.stored(changed)
}

// storeClose stores 4-byte elements that lie within one page.
func (t *touch) storeClose(each int, gt taint) bool {
	m := t.s.m
	if t.addr.kind != thread || each != 4 {
		return false
	}
	sh := m.shapeFor(t.c, t.addr.t, t.mask, t.c.mem.size)
	lo := t.u + uint64(sh.lo)
	g := m.find(lo)
	if g == nil || m.locked || int64(lo-g.base)+sh.span > g.size {
		return false
	}
	off := int64(lo - g.base)
	at := off & (1<<dataPageLog - 1)
	if at+sh.span > 1<<dataPageLog {
		return false
	}
	t.recordShape(g, writes, sh, off)
	p := g.page(m, off>>dataPageLog)
	data, tags := p.data[at:at+sh.span], p.tag[at:at+sh.span]
	for k, slot := range t.c.src[1:] {
		x := &t.s.r[slot]
		tag := uint32(m.tags.of(x.taint|gt)) * 0x01010101
		v := x.spread(m.buf[0][:m.threads], widthMask(m.p.slots[slot].bits))
		by := int64(4*k) - sh.lo
		for _, i := range t.mask.list {
			n := t.addr.t.v[i] + by
			binary.LittleEndian.PutUint32(data[n:], uint32(v[i]))
			binary.LittleEndian.PutUint32(tags[n:], tag)
		}
	}
	return true
}

// drop notes that a stored value is not kept.
func (g *gbuf) drop(m *worker) {
	if !g.elided.Load() {
		g.elided.Store(true)
		if g.wanted.Load() {
			m.needsFull.Store(true)
			m.stopped.Store(true)
		}
	}
}
