package ptx

// eventPair is a hash-consed pair: two events of different clusters, the smaller first, that touch the
// same lines: for bytes that both touch no third cluster matters. One pair
// serves all the lines of the two events.
type eventPair struct{ a, b uint32 } // event + 1

const eventPairBytes = 8

// wholeFlag marks an event that touches whole each line that it touches.
const wholeFlag = uint32(1) << 31

func (st *stored) whole() bool { return st.context&wholeFlag != 0 }

// setWhole sets the flag once the event's placed shape, or its size, is known.
func (e event) setWhole() {
	if e.placed != nil && e.placed.whole || e.placed == nil && e.base&63 == 0 && e.size&63 == 0 && e.size > 0 {
		e.context |= wholeFlag
	}
}

// over says what becomes of a cell of whole lines when another event touches
// them whole; it is false where that has to be looked at byte by byte.
func (r *recorder) over(t *shadow, cell uint32, e event, id uint32) (uint32, bool) {
	if cell == r.was {
		return r.becomes, true
	}
	out := cell
	switch cell & flagBits {
	case 0:
		old := r.event(cell - 1)
		if !old.whole() {
			return 0, false
		}
		switch {
		case old.cluster != e.cluster:
			out = r.eventPair(cell, id+1)
		case !r.supersedes(old, e, ^uint64(0), ^uint64(0)):
			return 0, false
		case t.last:
			out = id + 1
		}
	case pairFlag:
		d := *r.eventPairs.get(cell & indexBits)
		a, b := r.event(d.a-1), r.event(d.b-1)
		switch {
		case !a.whole() || !b.whole():
			return 0, false
		case e.cluster > b.cluster:
		case e.cluster != a.cluster && e.cluster != b.cluster:
			out = r.eventPair(d.a, id+1)
		case e.cluster == a.cluster:
			if !r.supersedes(a, e, ^uint64(0), ^uint64(0)) {
				return 0, false
			}
			if t.last {
				out = r.eventPair(id+1, d.b)
			}
		default:
			if !r.supersedes(b, e, ^uint64(0), ^uint64(0)) {
				return 0, false
			}
			if t.last {
				out = r.eventPair(d.a, id+1)
			}
		}
	default:
		return 0, false
	}
	r.took = r.took || out != cell
	r.was, r.becomes = cell, out
	return out, true
}

// eventPair gives the cell of two events.
func (r *recorder) eventPair(a, b uint32) uint32 {
	if r.event(a-1).cluster > r.event(b-1).cluster {
		a, b = b, a
	}
	want := eventPair{a, b}
	if r.lastPair != 0 && *r.eventPairs.get(r.lastPair & indexBits) == want {
		return r.lastPair
	}
	i, x, ok := r.eventPairs.alloc()
	if !ok {
		r.m.stop("the record of accesses is full")
		return a
	}
	*x = want
	r.lastPair = pairFlag | i
	return r.lastPair
}

// covered says that bytes of a line are touched by both of a pair of events, of smaller clusters.
func (r *recorder) covered(cell uint32, line int64, mask uint64, cluster uint32) bool {
	d := *r.eventPairs.get(cell & indexBits)
	a, b := r.event(d.a-1), r.event(d.b-1)
	return cluster > b.cluster && mask&^(a.lineMask(line)&b.lineMask(line)) == 0
}

// unfold makes an event, a pair of events or an owner line a chain.
func (r *recorder) unfold(cell *uint32, line int64) bool {
	i := *cell & indexBits
	switch *cell & flagBits {
	case 0:
		if *cell == 0 {
			return true
		}
		ev := *cell
		*cell = 0
		return r.push(cell, entry{mask: r.event(ev - 1).lineMask(line), ev: ev, thread: anyThread})
	case pairFlag:
		d := *r.eventPairs.get(i)
		*cell = 0
		return r.push(cell, entry{mask: r.event(d.a - 1).lineMask(line), ev: d.a, thread: anyThread}) &&
			r.push(cell, entry{mask: r.event(d.b - 1).lineMask(line), ev: d.b, thread: anyThread})
	case ownerFlag:
		*cell = 0
		return r.push(cell, entry{mask: r.ownerLines.get(i).mask(), ev: i, how: inOwnerLine, thread: anyThread})
	}
	return true
}
