package ptx

// entry is a part of an event in a line's chain, or an owner line of such parts.
type entry struct {
	mask   uint64
	ev     uint32 // event + 1; of an owner line, its number
	next   uint32 // entry + 1
	thread int16  // of byte first; -1: as the event says
	how    uint8  // bytes of a piece as a power of two; 16 * (thread of the next piece, + 1); inSheet
	first  uint8  // bit in mask when the entry was made
	bound  uint32 // of a full chain's head
	all    uint64 // of a chain's head: the bytes that the chain touches
}

const (
	anyThread = -1
	maxChain  = 1024 // entries of a line
	maxDepth  = 256  // accesses to bytes that an access touches
	longChain = 16   // entries from which on going through them counts as steps
)

// merge adds a part of an event to a line, which may have accesses already.
func (r *recorder) merge(t *shadow, cell *uint32, line int64, e event, id uint32, en entry) {
	mask := en.mask
	if *cell != 0 && *cell&flagBits == 0 {
		old := r.event(*cell - 1)
		om := old.lineMask(line)
		if en.thread == anyThread && r.supersedes(old, e, om, mask) {
			if t.last && om&^mask == 0 {
				*cell = id + 1
				r.took = true
				return
			}
			if !t.last && mask&^om == 0 {
				return
			}
		}
	}
	en.ev = id + 1
	switch *cell & flagBits {
	case pairFlag:
		if r.covered(*cell, line, mask, e.cluster) {
			return
		}
	case ownerFlag:
		if r.fits(en) {
			if en.mask = r.onOwnerLine(t, r.ownerLines.get(*cell&indexBits), line, part{e, en}); en.mask == 0 {
				return
			}
		}
	case chainFlag:
		if bound := r.entries.get(*cell & indexBits).bound; bound != 0 && e.cluster >= bound {
			return
		}
	}
	if !r.unfold(cell, line) {
		return
	}
	if *cell != 0 && r.entries.get(*cell&indexBits).all&mask != 0 {
		if en.mask = r.settle(t, cell, line, part{e, en}, false); en.mask == 0 {
			return
		}
	}
	r.took = true
	r.keep(cell, en)
}

// keep adds an entry to a chain, or makes the chain. Entries that touch
// different elements share an owner line.
func (r *recorder) keep(cell *uint32, en entry) {
	if *cell == 0 || !r.fits(en) {
		r.push(cell, en)
		return
	}
	head := r.entries.get(*cell & indexBits)
	if head.mask&en.mask != 0 || head.how != inOwnerLine && !r.gatherOwners(head) {
		r.push(cell, en)
		return
	}
	head.bound = 0
	r.write(r.ownerLines.get(head.ev), en)
	head.mask |= en.mask
	head.all |= en.mask
	if head.next == 0 { // nothing but the owner line
		i := *cell & indexBits
		*cell = ownerFlag | head.ev
		r.freeEntry(i)
	}
}

// gatherOwners makes a chain's head an owner line, if it fits on one.
func (r *recorder) gatherOwners(head *entry) bool {
	if !r.fits(*head) {
		return false
	}
	i, sh, ok := r.newOwnerLine()
	if ok {
		r.write(sh, *head)
		head.ev, head.how, head.thread = i, inOwnerLine, anyThread
	}
	return ok
}

// push puts an entry at the head of a chain, or makes a chain of it alone where
// there is none.
func (r *recorder) push(cell *uint32, en entry) bool {
	var i uint32
	var x *entry
	if r.freeEntries != 0 {
		i = r.freeEntries - 1
		x = r.entries.get(i)
		r.freeEntries = x.next
	} else {
		var ok bool
		if i, x, ok = r.entries.alloc(); !ok {
			r.m.stop("the record of accesses is full")
			return false
		}
	}
	en.all, en.next = en.mask, 0
	if *cell&chainFlag != 0 {
		en.next = *cell&indexBits + 1
		en.all |= r.entries.get(*cell & indexBits).all
	}
	*x = en
	*cell = chainFlag | i
	return true
}

func (r *recorder) freeEntry(i uint32) {
	r.entries.get(i).next, r.freeEntries = r.freeEntries, i+1
}

// take removes bytes of a chain's entry.
func (r *recorder) take(en *entry, mask uint64) {
	en.mask &^= mask
	if en.how == inOwnerLine {
		r.ownerLines.get(en.ev).set(mask, 0)
	}
}

// parts calls f for each part of a line's cell.
func (r *recorder) parts(cell uint32, line int64, f func(p part)) {
	r.partsOf(cell, line, ^uint64(0), f)
}

// partsOf is parts for those that have some of the bytes, and maybe others.
func (r *recorder) partsOf(cell uint32, line int64, of uint64, f func(p part)) {
	switch {
	case cell == 0:
	case cell&flagBits == 0:
		ev := r.event(cell - 1)
		f(part{ev, entry{mask: ev.lineMask(line), ev: cell, thread: anyThread}})
	case cell&flagBits == pairFlag:
		d := *r.eventPairs.get(cell & indexBits)
		for _, id := range [2]uint32{d.a, d.b} {
			ev := r.event(id - 1)
			f(part{ev, entry{mask: ev.lineMask(line), ev: id, thread: anyThread}})
		}
	case cell&flagBits == ownerFlag:
		r.ownerLines.get(cell&indexBits).owners(of, func(o uint32, mask uint64) { f(r.part(o, mask)) })
	default:
		for i := cell & indexBits; ; {
			en := r.entries.get(i)
			r.entryParts(en, of, f)
			if en.next == 0 {
				return
			}
			i = en.next - 1
		}
	}
}

func (r *recorder) entryParts(en *entry, of uint64, f func(p part)) {
	switch {
	case en.mask&of == 0:
	case en.how == inOwnerLine:
		r.ownerLines.get(en.ev).owners(of, func(o uint32, mask uint64) { f(r.part(o, mask)) })
	default:
		f(part{r.event(en.ev - 1), *en})
	}
}
