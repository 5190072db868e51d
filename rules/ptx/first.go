package ptx

// markFirst marks the bytes of a read that no earlier write of its own cluster covers.
func (m *worker) markFirst(g *gbuf, ev event) {
	first := ev.base >> 6
	if ev.plan == nil {
		for line := first; line<<6 < ev.base+int64(ev.size); line++ {
			m.markLine(g, line, part{ev, entry{mask: ev.lineMask(line), thread: anyThread}})
		}
		return
	}
	for i := range ev.plan.lines {
		l := &ev.plan.lines[i]
		m.markLine(g, first+l.delta, part{ev, entry{mask: l.mask, thread: anyThread}})
	}
}

// markFirstBytes is markFirst for one thread.
func (m *worker) markFirstBytes(g *gbuf, ev event, thread int, off, size int64) {
	for end := off + size; off < end; {
		line := off >> 6
		stop := min(end, (line+1)<<6)
		en := entry{mask: widthMask(uint8(stop-off)) << (off & 63), thread: int16(thread), first: uint8(off & 63), how: 6 + 1<<4}
		m.markLine(g, line, part{ev, en})
		off = stop
	}
}

func (m *worker) markLine(g *gbuf, line int64, read part) {
	left := read.entry.mask
	if m.began != nil { // recorded when it ends, but it may read as soon as it is issued
		at, when := *read.stored, *read.circumstances
		at.seq, when.sync = m.began.seq, m.began.sync
		read.event = event{&at, &when}
	}
	if pg := g.writes.pages[line>>(pageLog-6)].Load(); pg != nil {
		if m.locked {
			pg.mu.Lock()
		}
		m.rec.parts(pg.cells[line&(pageLines-1)], line, func(w part) {
			if both := w.entry.mask & left; both != 0 && w.cluster == read.cluster {
				left &^= m.rec.before(w, read, line, both)
			}
		})
		if m.locked {
			pg.mu.Unlock()
		}
	}
	g.first.mark(m, line, left)
}

// parts calls f for each part of a line's cell.
func (r *recorder) parts(cell uint32, line int64, f func(p part)) {
	if cell == 0 {
		return
	}
	if cell&chainFlag == 0 {
		ev := r.event(cell - 1)
		f(part{ev, entry{mask: ev.lineMask(line), ev: cell, thread: anyThread}})
		return
	}
	r.each(cell, func(en *entry, ev event) bool {
		if en.mask != 0 {
			f(part{ev, *en})
		}
		return true
	})
}

// note records an event and what it means for reads that come first.
//
// As long as nothing writes to a buffer, every byte read counts as read first,
// and nothing is kept for it. The first write turns what was read into marks.
func (m *worker) note(g *gbuf, d direction, ev event) {
	was := g.writes.any.Load()
	if d == writes {
		if !was {
			g.turn(m)
		}
		m.rec.add(g.writes, ev)
		return
	}
	if was {
		m.markFirst(g, ev)
	}
	m.saw(g.index, ev.orig)
	for _, orig := range ev.more {
		m.saw(g.index, orig)
	}
	m.rec.add(g.table(d), ev)
	if !was && g.writes.any.Load() {
		m.markFirst(g, ev)
	}
}

// turn marks everything read so far.
func (g *gbuf) turn(m *worker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writes.any.Swap(true) {
		return
	}
	for _, t := range []*table{g.reads, g.atomics} {
		t.masks(&m.rec, func(line int64, mask uint64) { g.first.mark(m, line, mask) })
	}
}

// masks calls f with the bytes touched of each line, ascending.
func (t *table) masks(r *recorder, f func(line int64, mask uint64)) {
	if !t.any.Load() {
		return
	}
	for n := range t.pages {
		pg := t.pages[n].Load()
		if pg == nil {
			continue
		}
		if r.shared {
			pg.mu.Lock()
		}
		last, ev := uint32(0), event{}
		for i, cell := range pg.cells {
			if cell == 0 {
				continue
			}
			line := int64(n)<<(pageLog-6) + int64(i)
			if cell&chainFlag != 0 {
				f(line, r.entries.a.get(cell&indexBits).all)
				continue
			}
			if cell != last {
				last, ev = cell, r.event(cell-1)
			}
			f(line, ev.lineMask(line))
		}
		if r.shared {
			pg.mu.Unlock()
		}
	}
}

// saw notes that an instruction reads a buffer.
func (m *worker) saw(buffer int, orig int32) {
	if m.lastSaw[orig] == int32(buffer)+1 {
		return
	}
	m.lastSaw[orig] = int32(buffer) + 1
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seenBy == nil {
		m.seenBy = map[int]map[int32]bool{}
	}
	if m.seenBy[buffer] == nil {
		m.seenBy[buffer] = map[int32]bool{}
	}
	m.seenBy[buffer][orig] = true
}

func (s *launchState) readBy(buffer int) map[int32]bool { return s.seenBy[buffer] }
