package ptx

// firstReads marks the bytes read before any write that is ordered before: one
// word a line, once the buffer's shadow has a write.
type firstReads struct {
	on    bool
	count int64 // of pages, once there is one
	pages []*firstPage
}

type firstPage [pageLines]uint64

const firstBytes = 8 * pageLines

func newFirst(size int64) *firstReads {
	return &firstReads{count: size>>pageLog + 1}
}

func (f *firstReads) mark(m *worker, line, n int64, mask uint64) {
	for end := line + n; line < end && mask != 0; line++ {
		if f.pages == nil {
			m.memory(8 * f.count)
			f.pages = make([]*firstPage, f.count)
		}
		p := f.pages[line/pageLines]
		if p == nil {
			p = new(firstPage)
			f.pages[line/pageLines] = p
			m.memory(firstBytes)
		}
		p[line%pageLines] |= mask
	}
}

// add takes the marks of another worker.
func (f *firstReads) add(o *firstReads) {
	if f.pages == nil {
		f.pages = o.pages
		return
	}
	for n, p := range o.pages {
		switch {
		case p == nil || p == f.pages[n]:
		case f.pages[n] == nil:
			f.pages[n] = p
		default:
			for i, mask := range p {
				f.pages[n][i] |= mask
			}
		}
	}
}

// each calls f with the marks of each line, ascending.
func (f *firstReads) each(g func(line int64, mask uint64)) {
	for n, p := range f.pages {
		if p == nil {
			continue
		}
		for i, mask := range p {
			if mask != 0 {
				g(int64(n)*pageLines+int64(i), mask)
			}
		}
	}
}

// markFirst marks the bytes of a read that no earlier write of its own cluster covers.
func (m *worker) markFirst(b *bufferShadow, ev event) {
	first := ev.base >> 6
	if ev.placed == nil {
		for line := first; line<<6 < ev.base+int64(ev.size); line++ {
			m.markLine(b, line, part{ev, entry{mask: ev.lineMask(line), thread: anyThread}})
		}
		return
	}
	for i := range ev.placed.runs {
		l := &ev.placed.runs[i]
		for k := range l.count {
			m.markLine(b, first+l.delta+k, part{ev, entry{mask: l.mask, thread: anyThread}})
		}
	}
}

// markFirstBytes is markFirst for one thread.
func (m *worker) markFirstBytes(b *bufferShadow, ev event, thread int, off, size int64) {
	for end := off + size; off < end; {
		line := off >> 6
		stop := min(end, (line+1)<<6)
		en := entry{mask: widthMask(uint8(stop-off)) << (off & 63), thread: int16(thread), first: uint8(off & 63), how: 6 + 1<<4}
		m.markLine(b, line, part{ev, en})
		off = stop
	}
}

func (m *worker) markLine(b *bufferShadow, line int64, read part) {
	left := read.entry.mask
	if m.began != nil { // recorded when it ends, but it may read as soon as it is issued
		at, when := *read.stored, *read.circumstances
		at.seq, when.sync = m.began.seq, m.began.sync
		read.event = event{&at, &when}
	}
	if cell := b.writes.cellWhileRunning(&m.rec, line); cell != 0 {
		m.rec.partsOf(cell, line, left, func(w part) {
			if both := w.entry.mask & left; both != 0 && w.cluster == read.cluster {
				left &^= m.rec.before(w, read, line, both)
			}
		})
	}
	b.first.mark(m, line, 1, left)
}

// note records an event and what it means for reads that come first.
//
// As long as a worker writes nothing to a buffer, every byte that it reads
// counts as read first, and nothing is kept for it. Its first write turns what
// was read into marks.
func (m *worker) note(g *gbuf, d direction, ev event) {
	b := m.shadows[g.index]
	if d == writes {
		b.turn(&m.rec)
		m.rec.add(b.writes, nil, ev)
		return
	}
	if b.first.on {
		m.markFirst(b, ev)
	}
	m.saw(g.index, ev.orig)
	for _, orig := range ev.more {
		m.saw(g.index, orig)
	}
	t, also := b.shadows(d)
	m.rec.add(t, also, ev)
}

// turn marks everything read so far.
func (b *bufferShadow) turn(r *recorder) {
	if b.first.on {
		return
	}
	b.first.on = true
	for n, q := range b.reads.backlogs {
		if q != nil {
			r.drainPage(b.reads, int64(n), q)
		}
	}
	for _, t := range []*shadow{b.reads, b.atomics} {
		t.masks(r, func(line, n int64, mask uint64) { b.first.mark(r.m, line, n, mask) })
	}
}

// saw notes that an instruction reads a buffer.
func (m *worker) saw(buffer int, orig int32) {
	if m.found.lastSaw[orig] == int32(buffer)+1 {
		return
	}
	m.found.lastSaw[orig] = int32(buffer) + 1
	m.found.seen[sight{buffer, orig}] = true
}

// sight is an instruction that reads a buffer.
type sight struct {
	buffer int
	orig   int32
}
