package ptx

// scattered records an access thread by thread: addresses without a pattern,
// or outside of a buffer.
func (t *touch) scattered(d direction, size int64, each func(i int32, g *gbuf, off int64)) {
	m := t.s.m
	m.unhold()
	x := &m.scatter
	x.d, x.size, x.n, x.g, x.many = d, size, 0, nil, false
	last := (*gbuf)(nil)
	for k := 0; k < len(t.mask.list); k++ {
		if x.many {
			if k = t.logEach(x, k, each); k == len(t.mask.list) {
				break
			}
		}
		i := t.mask.list[k]
		a := t.at(i)
		g := last
		if g == nil || a-g.base >= uint64(g.size) {
			g = m.find(a)
		}
		if g == nil || int64(a-g.base)+size > g.size {
			m.stray(t, i, a, size, d != reads)
			continue
		}
		off := int64(a - g.base)
		if !g.silent {
			if g != x.g {
				m.flushScatter()
				if !x.start(m, t, g, i) {
					return
				}
			}
			if d != writes && x.into.first.on {
				m.markFirstBytes(x.into, x.e, int(i), off, size)
			}
			x.add(m, int16(i), off)
		}
		last = g
		if each != nil {
			each(i, g, off)
		}
	}
	m.flushScatter()
}

// scatter is an event of single threads in one buffer while it is recorded.
type scatter struct {
	d      direction
	size   int64 // bytes of a thread
	g      *gbuf
	into   *bufferShadow
	shadow *shadow
	also   *shadow // a second one, or nil
	e      event
	id     uint32
	many   bool // threads may go on the backlogs of shadow many at a time
	stops  int  // that came to nothing
	n      int
	runs   [scatterBatch]threadRun
}

const scatterBatch = 64

// threadRun is a series of threads that touch neighbouring bytes, upwards.
type threadRun struct {
	off    int64
	thread int16 // the first
	n      int16
}

// start makes the event of a buffer's accesses.
func (x *scatter) start(m *worker, t *touch, g *gbuf, i int32) bool {
	b := t.s.b
	b.cl.seq++
	id, st, ok := m.rec.events.alloc()
	if !ok {
		m.stop("the record of accesses is full")
		return false
	}
	*st = stored{cluster: b.cl.number, seq: b.cl.seq, orig: t.c.orig, rank: uint16(b.rank), async: t.async, phase: t.phase, thread: m.rec.solo(id)}
	x.id, x.e = id, m.inContext(t.c, st, nil, b.snapshot(), nil)
	x.g, x.into = g, m.shadows[g.index]
	if x.d == writes {
		x.into.turn(&m.rec)
	} else {
		m.saw(g.index, t.c.orig)
	}
	x.shadow, x.also = x.into.shadows(x.d)
	x.many = x.shadow.backlogs != nil && x.size == 4 && t.addr.kind == vector && x.defers(&m.rec, x.shadow, nil) && (x.d == writes || !x.into.first.on)
	x.stops = 0
	x.shadow.note(b.cl.number)
	if x.also != nil {
		x.also.note(b.cl.number)
	}
	return true
}

// add adds a thread's access.
func (x *scatter) add(m *worker, thread int16, off int64) {
	if x.n > 0 {
		r := &x.runs[x.n-1]
		if thread == r.thread+r.n && off == r.off+int64(r.n)*x.size && x.size&(x.size-1) == 0 && x.size <= 32 && r.off%x.size == 0 {
			r.n++
			return
		}
		if x.n == scatterBatch {
			m.flushScatter()
		}
	}
	x.runs[x.n] = threadRun{off, thread, 1}
	x.n++
}

// logEach is logMany, with a call of each for the threads. It does not go on where
// most of them have something special.
func (t *touch) logEach(x *scatter, k int, each func(i int32, g *gbuf, off int64)) int {
	to := t.logMany(x, k)
	if to == k {
		x.stops++
		x.many = x.many && x.stops < 8
	}
	if each != nil {
		for _, i := range t.mask.list[k:to] {
			each(i, x.g, int64(t.at(i)-x.g.base))
		}
	}
	return to
}

// flushScatter records what has been added.
func (m *worker) flushScatter() {
	x := &m.scatter
	runs := x.runs[:x.n]
	x.n = 0
	if len(runs) == 0 {
		return
	}
	m.rec.scatter(x, x.shadow, runs)
	if x.also != nil {
		m.rec.scatter(x, x.also, runs)
	}
}

// scatter records runs on a shadow. Elements that are free in a line's owner line are
// looked up all at once, so that the memory is waited for once.
func (r *recorder) scatter(x *scatter, t *shadow, runs []threadRun) {
	var at [scatterBatch]*uint32
	if x.defers(r, t, runs) {
		runs = r.logRuns(x, t, runs)
	}
	owner, ok := r.soloOwner(x)
	if ok {
		t.places(r, runs, &at)
		prefetch(at[:len(runs)])
	}
	moved := false
	for k := range runs {
		if from, to, row := runs[k].wholeLines(x.size); row {
			r.putWholeLines(t, x, runs[k], from, to)
			moved = ok
			continue
		}
		p := at[k]
		if moved {
			p = t.place(r, &runs[k])
		}
		if p != nil && *p == 0 {
			*p = owner | uint32(runs[k].thread)
			continue
		}
		if ok && r.spreadTile(t, &runs[k]) {
			if p = t.place(r, &runs[k]); p != nil && *p == 0 {
				*p = owner | uint32(runs[k].thread)
				moved = true
				continue
			}
		}
		r.put(t, x.e, x.id, x.size, &runs[k])
		moved = ok // a line may have another owner line, or a chain, now
	}
}

// prefetch reads many words, so that memory is waited for once.
//
//go:noinline
func prefetch(at []*uint32) (sum uint32) {
	for _, p := range at {
		if p != nil {
			sum += *p
		}
	}
	return sum
}

// soloOwner gives the owner of 4-byte elements, without the thread.
func (r *recorder) soloOwner(x *scatter) (uint32, bool) {
	if x.size != 4 || !x.numbered(r) {
		return 0, false
	}
	return soloFlag | uint32(^x.e.thread)<<r.m.threadBits, true
}

// numbered says that there is a number for the event of which an owner has room.
func (x *scatter) numbered(r *recorder) bool {
	n := ^x.e.thread
	return x.g != nil && n >= 0 && n < 1<<(31-r.m.threadBits)
}

// place gives the owner of the element that a single thread touches, nil where
// its line is no owner line.
func (t *shadow) place(r *recorder, run *threadRun) *uint32 {
	if run.n != 1 || run.off&3 != 0 || t.pages == nil {
		return nil
	}
	line := run.off >> 6
	p := t.pages[line/pageLines]
	if p == nil || t.hasBacklog(line/pageLines) {
		return nil
	}
	w := p[line%pageLines/wideLines]
	cell := uint32(0)
	switch w & flagBits {
	case tileFlag:
		cell = tileLine(w, line)
	case leafFlag:
		cell = r.leaves.get(w & indexBits)[line%wideLines]
	}
	if cell&flagBits != ownerFlag {
		return nil
	}
	return &r.ownerLines.get(cell & indexBits).owner[run.off>>2&(lineElements-1)]
}

// places is place for many.
func (t *shadow) places(r *recorder, runs []threadRun, at *[scatterBatch]*uint32) {
	pages, leaves, lines := t.pages, r.leaves.list, r.ownerLines.list
	for k := range runs {
		off := runs[k].off
		line := uint64(off) >> 6
		if runs[k].n != 1 || off&3 != 0 || line/pageLines >= uint64(len(pages)) {
			continue
		}
		p := pages[line/pageLines]
		if p == nil || t.hasBacklog(int64(line/pageLines)) {
			continue
		}
		w := p[line%pageLines/wideLines]
		i := w&indexBits + uint32(line%wideLines)
		if w&flagBits != tileFlag {
			i = w & indexBits
			if w&flagBits != leafFlag || int(i>>chunkLog) >= len(leaves) {
				continue
			}
			cell := leaves[i>>chunkLog][i&(chunkSize-1)][line%wideLines]
			if cell&flagBits != ownerFlag {
				continue
			}
			i = cell & indexBits
		}
		if int(i>>chunkLog) >= len(lines) {
			continue
		}
		at[k&(scatterBatch-1)] = &lines[i>>chunkLog][i&(chunkSize-1)].owner[off>>2&(lineElements-1)]
	}
}

// put records a run, line by line.
func (r *recorder) put(tab *shadow, e event, id uint32, size int64, run *threadRun) {
	end := run.off + int64(run.n)*size
	for off := run.off; off < end; {
		line := off >> 6
		stop := min(end, (line+1)<<6)
		thread := int64(run.thread) + (off-run.off)/size
		en := entry{mask: widthMask(uint8(stop-off)) << (off & 63), thread: int16(thread), first: uint8(off & 63), how: 6 + 1<<4}
		if run.n > 1 {
			en.how = log2(size) + 2<<4
		}
		r.piece(tab, line, e, id, en)
		off = stop
	}
}

func log2(n int64) uint8 {
	k := uint8(0)
	for n > 1 {
		n >>= 1
		k++
	}
	return k
}
