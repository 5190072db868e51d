package ptx

import "encoding/binary"

// runLoad executes ld.
func runLoad(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	t := s.aim(c, mask)
	if !t.checked() {
		return
	}
	switch t.space {
	case spaceShared, spaceCluster:
		t.loadShared()
	case spaceLocal:
		t.loadLocal()
	case spaceParam:
		t.loadParam()
	default:
		t.loadGlobal()
	}
}

// keepOld is a load that no thread executes: the registers stay, but now
// depend on the guard.
func (s *threadGroup) keepOld(c *code) {
	if c.guard >= 0 {
		if tt := s.r[c.guard].taint; tt != 0 {
			for _, d := range c.dsts {
				if d >= 0 {
					s.r[d].taint |= tt
				}
			}
		}
	}
}

func (t *touch) loadGlobal() {
	if !t.c.mem.want {
		t.global(reads, nil)
		return
	}
	out := t.results()
	m := t.s.m
	op := t.c.mem
	each := int(op.bits / 8)
	if t.addr.kind == uniform { // one load serves all
		done := false
		t.global(reads, nil)
		if g := m.find(t.u); g != nil && int64(t.u-g.base)+op.size <= g.size {
			g.noteLoad(t)
			for k := range out.regs {
				v, tt := g.load(m, int64(t.u-g.base)+int64(k*each), each)
				out.set(k, v, tt|g.order(t, int64(t.u-g.base)))
			}
			done = true
		}
		if !done {
			for k := range out.regs {
				out.set(k, 0, taintOpaque)
			}
		}
		return
	}
	if t.loadKnown(out, each) {
		return
	}
	out.begin()
	seen := (*gbuf)(nil)
	t.global(reads, func(i int32, g *gbuf, off int64) {
		if g != seen {
			g.noteLoad(t)
			seen = g
		}
		ot := g.order(t, off)
		for k := range out.regs {
			v, tt := g.load(m, off+int64(k*each), each)
			out.put(k, i, v, tt|ot)
		}
	})
	out.end()
}

// loadKnown loads 4-byte elements of known contents.
func (t *touch) loadKnown(out *results, each int) bool {
	m := t.s.m
	if t.addr.kind != thread || each != 4 || len(out.regs) > 4 || t.c.mem.extend && t.c.mem.dstBits > 32 {
		return false
	}
	sh := m.shapeFor(t.c, t.addr.t, t.mask, t.c.mem.size)
	lo := t.u + uint64(sh.lo)
	g := m.find(lo)
	if g == nil || g.dirty.Load() || len(g.zero) > 0 || g.contents == nil || int64(lo-g.base)+sh.span > g.size {
		return false
	}
	g.noteLoad(t)
	off := int64(lo - g.base)
	t.recordShape(g, reads, sh, off)
	out.begin()
	data := g.contents[off : off+sh.span]
	for k := range out.regs {
		v := out.vec[k]
		by := int64(4*k) - sh.lo
		if sh.tight && sh.size == 4 && t.mask.n == len(v) { // one after the other
			for i := range v {
				v[i] = uint64(binary.LittleEndian.Uint32(data[4*i : 4*i+4]))
			}
		} else {
			for _, i := range t.mask.list {
				v[i] = uint64(binary.LittleEndian.Uint32(data[t.addr.t.v[i]+by:]))
			}
		}
		out.taints[k] = bufferTaint(g.index)
		if g.private {
			out.taints[k] = 0
		}
	}
	out.end()
	return true
}

// noteLoad notes that a value is loaded from the buffer.
func (g *gbuf) noteLoad(t *touch) {
	if !g.wanted.Load() {
		g.wanted.Store(true)
	}
	if g.elided.Load() {
		t.s.m.needsFull.Store(true)
		t.s.m.stopped.Store(true)
	}
	if t.c.decides {
		t.s.global = t.c
	}
}

// order gives taintOrder where the value may be another block's, stored
// without an order that the machine knows.
func (g *gbuf) order(t *touch, off int64) taint {
	if t.s.m.plain {
		return 0
	}
	if t.c.mem.weak || t.c.mem.atomic {
		return taintOrder | bufferTaint(g.index)
	}
	if !g.dirty.Load() || g.private { // own variables keep no record
		return 0
	}
	m := t.s.m
	found := false
	for _, tab := range []*shadow{g.writes, g.atomics} { // of the only worker: stores are kept
		line := off >> 6
		m.rec.parts(tab.cellWhileRunning(&m.rec, line), line, func(w part) {
			found = found || w.entry.mask>>(off&63)&1 != 0 && w.cluster != t.s.b.cl.number
		})
	}
	if found {
		return taintOrder | bufferTaint(g.index)
	}
	return 0
}

// stored notes that memory has changed, where somebody may be waiting for it.
func (t *touch) stored(changed bool) {
	if changed && t.c.decides {
		t.s.b.cl.version++
	}
}
