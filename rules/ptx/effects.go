package ptx

func (rec *accessRecord) ranges(t *shadow) []Range {
	var out ranges
	t.masks(&rec.r, func(line, n int64, mask uint64) { out.lines(line, n, mask) })
	return out
}

// effects tells what happened to one buffer; elsewhere is what the function of that name says of it.
func (rec *accessRecord) effects(g *gbuf, elsewhere []Range, reach map[int32]bool) Effects {
	stored := rec.ranges(g.writes)
	e := Effects{Read: rec.ranges(g.reads), Written: stored, Atomic: rec.ranges(g.atomics)}
	e.Zeroed = union(g.zero, nil)
	touched := joined(e.Read, e.Atomic)
	first := touched
	if g.writes.any {
		first = g.first.ranges()
		e.Elsewhere = minus(elsewhere, e.Zeroed)
	}
	e.ReadFirst = minus(first, e.Zeroed)
	e.Written = joined(e.Written, e.Zeroed)
	e.OldRead = len(e.ReadFirst) > 0
	for x := range rec.s.seenBy {
		e.Reaches = e.Reaches || x.buffer == g.index && reach[x.orig]
	}
	plain := e.ReadFirst
	if len(e.Elsewhere) > 0 {
		plain = minus(plain, e.Elsewhere)
	}
	if len(plain) == 0 {
		plain = e.ReadFirst
	}
	if len(plain) > 0 {
		e.FirstRead = rec.someAccess(plain[0].Start, g.reads, g.atomics)
	}
	if u := joined(stored, e.Atomic); len(u) > 0 {
		e.WrittenBy = rec.someAccess(u[0].Start, g.writes, g.atomics)
	}
	if len(touched) > 0 {
		e.ReadBy = rec.someAccess(touched[0].Start, g.reads, g.atomics)
	}
	return e
}

func (f *firstReads) ranges() []Range {
	var out ranges
	f.each(func(line int64, mask uint64) { out.lines(line, 1, mask) })
	return out
}

// someAccess describes one access to a byte.
func (rec *accessRecord) someAccess(at int64, tables ...*shadow) *Access {
	var out *Access
	for _, t := range tables {
		line := at >> 6
		rec.r.partsOf(t.cell(&rec.r, line), line, 1<<(at&63), func(p part) {
			if p.entry.mask>>(at&63)&1 == 0 {
				return
			}
			p.threadsOn(line, int(at&63), func(thread int) bool {
				a := rec.access(p.event, thread, at)
				if out == nil || compareAccess(a, *out) < 0 {
					out = &a
				}
				return false
			})
		})
	}
	return out
}

// instruction gives the number of the instruction by which a thread touches a byte.
func (ev event) instruction(thread int, at int64) int32 {
	if len(ev.more) == 0 || ev.placed == nil || ev.placed.t == nil {
		return ev.orig
	}
	start := ev.base - ev.placed.lo + ev.placed.t.v[thread]
	if k := (at - start) * int64(len(ev.more)) / ev.placed.size; k >= 0 && k < int64(len(ev.more)) {
		return ev.more[k]
	}
	return ev.orig
}

// access describes one thread's part of an event, at a byte of the buffer.
func (rec *accessRecord) access(ev event, thread int, at int64) Access {
	s := rec.s
	a := s.p.access(ev.instruction(thread, at))
	cx, cy := s.cluster[0], s.cluster[1]
	gx, gy := s.grid[0]/cx, s.grid[1]/cy
	n, r := ev.cluster, uint32(ev.rank)
	a.Block = [3]uint32{n%gx*cx + r%cx, n/gx%gy*cy + r/cx%cy, n/gx/gy*s.cluster[2] + r/cx/cy}
	bx, by := int(s.block[0]), int(s.block[1])
	a.Thread = [3]uint32{uint32(thread % bx), uint32(thread / bx % by), uint32(thread / bx / by)}
	return a
}
