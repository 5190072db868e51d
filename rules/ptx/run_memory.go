package ptx

import (
	"encoding/binary"
	"slices"
)

// runLoad executes ld.
func runLoad(s *strand, c *code) {
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
func (s *strand) keepOld(c *code) {
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
			g.look(t)
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
			g.look(t)
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
	g.look(t)
	off := int64(lo - g.base)
	t.record(g, reads, sh, off)
	out.begin()
	data := g.contents[off : off+sh.span]
	for k := range out.regs {
		v := out.vec[k]
		by := int64(4*k) - sh.lo
		for _, i := range t.mask.list {
			v[i] = uint64(binary.LittleEndian.Uint32(data[t.addr.t.v[i]+by:]))
		}
		out.taints[k] = bufferTaint(g.index)
		if g.private {
			out.taints[k] = 0
		}
	}
	out.end()
	return true
}

// look notes that a value is loaded from the buffer.
func (g *gbuf) look(t *touch) {
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
	if t.c.mem.weak || t.c.mem.atomic {
		return taintOrder | bufferTaint(g.index)
	}
	if !g.dirty.Load() || g.private { // own variables keep no record
		return 0
	}
	m := t.s.m
	found := false
	for _, tab := range []*table{g.writes, g.atomics} { // of the only worker: stores are kept
		line := off >> 6
		m.rec.parts(tab.cell(&m.rec, line), line, func(w part) {
			found = found || w.entry.mask>>(off&63)&1 != 0 && w.cluster != t.s.b.cl.number
		})
	}
	if found {
		return taintOrder | bufferTaint(g.index)
	}
	return 0
}

// results collects what a load gives to its registers.
type results struct {
	s      *strand
	mask   *mset
	regs   []int32
	vec    [][]uint64
	taints []taint
	common taint // of the address and of the guard
	op     *memOp
}

func (t *touch) results() *results {
	m := t.s.m
	r := &m.results
	n := len(t.c.dsts)
	if r.s != t.s || r.mask != t.mask || r.op != t.c.mem { // blocks are alike: no pointer is written
		r.s, r.mask, r.regs, r.op = t.s, t.mask, t.c.dsts, t.c.mem
	}
	r.common = t.guardTaint()
	if t.addr.kind != uniform && slices.Contains(r.regs, t.c.src[0]) { // the address register is loaded into
		m.addrCopy.copyFrom(t.addr)
		t.addr = &m.addrCopy
	}
	if cap(r.taints) < n {
		r.taints, r.vec = make([]taint, n), make([][]uint64, n)
	}
	r.taints, r.vec = r.taints[:n], r.vec[:n]
	clear(r.taints)
	return r
}

func (r *results) extend(v uint64) uint64 {
	if r.op.extend && r.op.dstBits > r.op.bits {
		return uint64(signExtend(v, r.op.bits)) & widthMask(r.op.dstBits)
	}
	return v
}

// set gives a register the same value in all active threads.
func (r *results) set(k int, v uint64, tt taint) {
	d := r.regs[k]
	if d < 0 {
		return
	}
	s := r.s
	x := &s.r[d]
	v = r.extend(v)
	tt |= r.common
	if r.mask.n == s.mask.n {
		x.setU(v, tt)
		return
	}
	old := x.spread(s.m.buf[0][:s.m.threads], widthMask(s.m.p.slots[d].bits))
	vec := x.vec(s.m.threads)
	copy(vec, old)
	for _, i := range r.mask.list {
		vec[i] = v
	}
	x.kind, x.t, x.taint = vector, nil, x.taint|tt
}

// begin prepares the registers for a value per thread.
func (r *results) begin() {
	s := r.s
	m := s.m
	for k, d := range r.regs {
		if d < 0 {
			r.vec[k] = m.sink()
			continue
		}
		x := &s.r[d]
		if r.mask.n != s.mask.n {
			r.taints[k] |= x.taint
			old := x.spread(m.buf[0][:m.threads], widthMask(m.p.slots[d].bits))
			copy(x.vec(m.threads), old)
		}
		r.vec[k] = x.vec(m.threads)
	}
}

func (r *results) put(k int, i int32, v uint64, tt taint) {
	r.vec[k][i] = r.extend(v)
	r.taints[k] |= tt
}

func (r *results) end() {
	for k, d := range r.regs {
		if d >= 0 {
			x := &r.s.r[d]
			x.kind, x.taint = vector, r.taints[k]|r.common
			x.noOffsets()
		}
	}
}

// sink is a vector that nobody reads.
func (m *worker) sink() []uint64 { return m.buf[3][:m.threads] }

// runStore executes st.
func runStore(s *strand, c *code) {
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

// stored notes that memory has changed, where somebody may be waiting for it.
func (t *touch) stored(changed bool) {
	if changed && t.c.decides {
		t.s.b.cl.version++
	}
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
	t.record(g, writes, sh, off)
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
