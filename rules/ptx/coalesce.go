package ptx

// recordShape puts an access of known shape on the record. It coalesces.
//
// Pieces that the same threads touch one after the other, as compilers write a
// vector or a stencil, become one event, as long as nothing orders them and no
// other kind of access comes between.
func (t *touch) recordShape(g *gbuf, d direction, sh *shape, off int64) {
	if g.silent {
		return
	}
	b, m := t.s.b, t.s.m
	now := b.snapshot()
	if n := m.heldCount; n > 0 {
		h := &m.held[0]
		if d != h.d || d == updates || t.async != 0 || h.sync != now || h.ev.rank != uint16(b.rank) {
			m.unhold()
		} else {
			for i := range m.held[:n] {
				if m.held[i].takes(m, t.c, g, sh, off) {
					return
				}
			}
			if n == len(m.held) {
				m.unhold()
			}
		}
	}
	b.cl.seq++
	h := &m.held[m.heldCount]
	m.heldCount++
	h.d, h.first, h.down = d, sh.size, false
	if h.g != g || h.c != t.c || h.sh != sh || h.sync != now || h.more != nil { // blocks are alike: no pointer is written
		h.g, h.c, h.sh, h.sync, h.more = g, t.c, sh, now, nil
	}
	h.ev.cluster, h.ev.seq, h.ev.orig, h.ev.rank = b.cl.number, b.cl.seq, t.c.orig, uint16(b.rank)
	h.ev.async, h.ev.phase, h.ev.base = t.async, t.phase, off
	if d == updates || t.async != 0 {
		m.unhold()
	}
}

// heldEvent is an event that is not yet recorded: the next may add to it.
type heldEvent struct {
	g     *gbuf
	d     direction
	sh    *shape
	first int64 // bytes of a piece
	down  bool  // the pieces come from above
	ev    stored
	c     *code
	sync  *syncState
	more  []int32
}

// maxMerged bounds the bytes that a thread touches in a merged event.
const maxMerged = 32

// takes adds an access by the same threads, to bytes that follow, or go before,
// or are there already; false when it does not fit.
func (h *heldEvent) takes(m *worker, c *code, g *gbuf, sh *shape, off int64) bool {
	if h.g != g || h.sh.t != sh.t || sh.t == nil || h.sh.mask != sh.mask || h.first != sh.size {
		return false
	}
	at := off - h.ev.base
	if at >= 0 && at+sh.size <= h.sh.size {
		return true
	}
	down := at == -sh.size
	if h.sh.size >= maxMerged || !(down && (h.more == nil || h.down) || at == h.sh.size && !h.down) {
		return false
	}
	e := &m.merges[c.index]
	if e.from != h.sh || e.down != down {
		e.from, e.to, e.down = h.sh, m.shapeWide(h.sh, h.sh.size+sh.size), down
		old := h.more
		if old == nil {
			old = []int32{h.ev.orig}
		}
		if down {
			e.more = append([]int32{c.orig}, old...)
		} else {
			e.more = append(append([]int32(nil), old...), c.orig)
		}
	}
	h.sh, h.more, h.ev.base, h.down = e.to, e.more, min(off, h.ev.base), down
	return true
}

// merged remembers what a code made of the event before.
type merged struct {
	from, to *shape
	more     []int32
	down     bool
}

// unhold records the events that are held.
func (m *worker) unhold() {
	n := m.heldCount
	m.heldCount = 0
	for i := range m.held[:n] {
		h := &m.held[i]
		m.note(h.g, h.d, m.inContext(h.c, &h.ev, h.sh.at(h.ev.base&63), h.sync, h.more))
	}
}

// contextKey is a context by value; of more, the first element's address will do:
// the slices are kept by the worker.
type contextKey struct {
	placed *placedShape
	sync   *syncState
	more   *int32
}

type contextEntry struct {
	key contextKey
	id  uint32
	ctx *circumstances
}

// inContext makes an event, its context found or made.
func (m *worker) inContext(c *code, st *stored, p *placedShape, s *syncState, more []int32) event {
	key := contextKey{placed: p, sync: s}
	if len(more) > 0 {
		key.more = &more[0]
	}
	last := &m.lastContext[c.index]
	if p != nil { // which comes again more often than the code
		last = &p.context
	}
	if last.ctx != nil && last.key == key {
		st.context = last.id
		return event{st, last.ctx}
	}
	id, ok := m.contextOf[key]
	if !ok {
		var slot **circumstances
		if id, slot, ok = m.rec.contexts.alloc(); !ok {
			m.stop("the record of accesses is full")
			return event{st, &circumstances{placed: p, sync: s}}
		}
		*slot = &circumstances{placed: p, sync: s, more: more}
		m.memory(200)
		if len(m.contextOf) < maxOffsets {
			m.contextOf[key] = id
		}
	}
	*last = contextEntry{key, id, *m.rec.contexts.get(id)}
	st.context = id
	return event{st, last.ctx}
}

// shapeWide is the shape of the same threads, each touching more bytes.
func (m *worker) shapeWide(sh *shape, size int64) *shape {
	key := shapeKey{sh.t, sh.mask, size}
	w := m.shapes[key]
	if w == nil {
		w = makeShape(sh.t, sh.mask, size)
		if sh.mask.kept && len(m.shapes) < maxOffsets {
			m.shapes[key] = w
		}
	}
	return w
}
