package ptx

// stored is one execution of one memory instruction by some threads of a block,
// as it is kept: without pointers, so that the record costs the collector nothing.
type stored struct {
	cluster uint32 // number of the cluster in the grid
	seq     uint32 // in the cluster
	orig    int32  // number of the instruction; of a merged event, of the first
	context uint32 // number of the circumstances, and wholeFlag
	rank    uint16 // of the block in its cluster
	async   uint16 // 1 + mbarrier whose phase completes the access; asyncNever: nothing does
	phase   uint32 // that phase
	thread  int32  // of a range: who, see threadAt; of single threads: the complement of their number in solos
	size    uint32 // of a range
	base    int64  // offset in the buffer of the first byte
}

// circumstances are what many events have in common. They never change once made.
type circumstances struct {
	placed *placedShape // nil: a range of size bytes, or single threads
	sync   *syncState
	more   []int32 // of a merged event: the instructions of its pieces, by address
}

// event is a stored event with its circumstances.
type event struct {
	*stored
	*circumstances
}

const (
	asyncNever = 0xffff
	eventBytes = 40
	entryBytes = 32
)

// recorder is a worker's side of the record.
type recorder struct {
	m           *worker
	events      cursor[stored]
	leaves      cursor[leaf]
	entries     cursor[entry]
	ownerLines  cursor[ownerLine]
	eventPairs  cursor[eventPair]
	contexts    cursor[*circumstances]
	solos       cursor[uint32]
	freeEntries uint32 // entries to use again, linked by next
	freeLines   uint32 // owner lines to use again, linked by their first owner
	freeTiles   uint32 // tiles to use again, linked by their first word
	freeLeaves  uint32 // leaves to use again, linked by their first cell
	lastPair    uint32 // cell of the pair that was made last

	// Of the event that is being recorded:
	took         bool   // something of it is kept
	was, becomes uint32 // a cell of whole lines, and what it makes of it; 0 none
	settling     settling

	united [3]uint32 // two cells of whole lines, and what they make together
}

func newRecorder(m *worker, s *launchState) recorder {
	return recorder{m: m, events: newCursor(s.events), leaves: newCursor(s.leaves), entries: newCursor(s.entries),
		ownerLines: newCursor(s.ownerLines), solos: newCursor(s.solos), eventPairs: newCursor(s.eventPairs), contexts: newCursor(s.contexts)}
}

// add records an event on a shadow, or on two.
func (r *recorder) add(t, also *shadow, ev event) {
	id, st, ok := r.events.alloc()
	if !ok {
		r.m.stop("the record of accesses is full")
		return
	}
	*st = *ev.stored
	e := event{st, ev.circumstances}
	e.setWhole()
	r.took = false
	r.lines(t, e, id)
	if also != nil {
		r.lines(also, e, id)
	}
	if !r.took && id+1 == r.events.next {
		r.events.next--
	}
}

// lines records the lines of an event.
func (r *recorder) lines(t *shadow, e event, id uint32) {
	t.note(e.cluster)
	r.was = 0
	if e.placed == nil {
		r.span(t, e, id)
		return
	}
	first := e.base >> 6
	for i := range e.placed.runs {
		l := &e.placed.runs[i]
		r.run(t, e, id, first+l.delta, first+l.delta+l.count, l.mask)
	}
}

// note says that a cluster touches the shadow.
func (t *shadow) note(cluster uint32) {
	t.any = true
	t.least = min(t.least, cluster)
}

// event gives an event by number.
func (r *recorder) event(i uint32) event {
	st := r.events.get(i)
	return event{st, *r.contexts.get(st.context &^ wholeFlag)}
}

// span records an event that is a range of bytes.
func (r *recorder) span(t *shadow, e event, id uint32) {
	end := e.base + int64(e.size)
	line, stop := e.base>>6, end>>6
	if e.base&63 != 0 || line == stop {
		r.run(t, e, id, line, line+1, e.lineMask(line))
		line++
	}
	if line < stop {
		r.run(t, e, id, line, stop, ^uint64(0))
	}
	if stop >= line && end&63 != 0 {
		r.run(t, e, id, stop, stop+1, e.lineMask(stop))
	}
}

// run records lines of which an event touches the same bytes: whole KiB by a
// word, where nothing else touched them.
func (r *recorder) run(t *shadow, e event, id uint32, line, end int64, mask uint64) {
	for line < end {
		w := t.wide(r, line)
		if mask == ^uint64(0) && line%wideLines == 0 && end-line >= wideLines {
			if *w == 0 {
				*w = id + 1
				r.took = true
				line += wideLines
				continue
			}
			if *w&flagBits != leafFlag && *w&flagBits != tileFlag {
				if now, ok := r.over(t, *w, e, id); ok {
					*w = now
					line += wideLines
					continue
				}
			}
		}
		x := r.leafOf(w)
		stop := min(end, line|(wideLines-1)+1)
		for ; line < stop; line++ {
			cell := &x[line%wideLines]
			if *cell == 0 {
				*cell = id + 1
				r.took = true
				continue
			}
			if mask == ^uint64(0) {
				if now, ok := r.over(t, *cell, e, id); ok {
					*cell = now
					continue
				}
			}
			r.merge(t, cell, line, e, id, entry{mask: mask, thread: anyThread})
		}
	}
}

// supersedes says that an event's touches of bytes of a line are all ordered
// after those of an older event, as far as is quickly known.
func (r *recorder) supersedes(old, e event, om, mask uint64) bool {
	return old.cluster == e.cluster && old.async == 0 &&
		(old.rank == e.rank && old.seq <= e.sync.epoch || om == mask && sameThreads(old, e, 0))
}

// piece records bytes of a line that single threads touch.
func (r *recorder) piece(t *shadow, line int64, e event, id uint32, en entry) {
	w := t.wide(r, line)
	if *w&flagBits == tileFlag {
		if en.mask = r.onTile(t, *w, line, e, id, en); en.mask == 0 {
			return
		}
	}
	x := r.leafOf(w)
	r.merge(t, &x[line%wideLines], line, e, id, en)
}

// lineMask gives the bytes that the event touches of a line, one that it does touch.
func (e event) lineMask(line int64) uint64 {
	if e.placed != nil {
		return e.placed.lineMask(line - e.base>>6)
	}
	lo, hi := max(e.base, line<<6), min(e.base+int64(e.size), (line+1)<<6)
	if lo >= hi {
		return 0
	}
	return widthMask(uint8(hi-lo)) << (lo & 63)
}

// shadowBytes is the memory of the record.
func (s *launchState) shadowBytes() int64 {
	n := s.leaves.bytes() + s.events.bytes() + s.entries.bytes() + s.ownerLines.bytes() + s.eventPairs.bytes() + s.solos.bytes()
	for _, g := range s.bufs[:len(s.l.Buffers)] {
		for _, t := range g.all() {
			for _, p := range t.pages {
				if p != nil {
					n += pageBytes
				}
			}
			for _, q := range t.backlogs {
				if q != nil {
					n += backlogBytes
				}
			}
		}
		for _, p := range g.first.pages {
			if p != nil {
				n += firstBytes
			}
		}
	}
	return n
}
