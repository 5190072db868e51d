package ptx

// shadow is the shadow memory of a buffer for one kind of access: it says, for each
// 64-byte line, which events touched which bytes. It is a radix tree of two levels, as a
// page table is: a page has a word for each KiB, a leaf below it one for each line. What one event touched by whole KiB takes one word a KiB; what is
// finer, a leaf. Of reads a shadow keeps the last ones (no
// later read by the same threads makes them needless), of writes the first
// ones. Bytes that several clusters touch keep the two smallest cluster
// numbers: that is enough for any verdict, and does not depend on the order in
// which blocks run.
//
// Words a KiB, and what follows from them, took the sort of 16,384 blocks from 24.0 to
// 9.8 ms and its record from 4.33 to 1.84 MB (docs/speed.md).
type shadow struct {
	last         bool // keep the last: reads
	any          bool
	least        uint32 // smallest cluster on record
	count        int64  // of pages, once there is one
	solos        int64  // accesses to single elements of lines that are no owner lines
	pages        []*page
	plain        []*page    // the same, as long as there are no backlogs
	backlogTries int64      // accesses that would have gone on backlogs, had there been some
	backlogs     []*backlog // by page; nil as long as there are none
}

// A word of a page or of a leaf, called a cell:
//
//	0                     nothing
//	event + 1             one event; in a page, one that touches the whole KiB
//	pairFlag | pair         two events; in a page, that both touch the whole KiB
//	chainFlag | entry     in a leaf: a chain of entries
//	ownerFlag | owner line     in a leaf: an owner per 4 bytes
//	leafFlag | leaf       in a page: a word per line
//	tileFlag | owner line     in a page: a tile, of 16 owner lines
const (
	chainFlag = uint32(2) << 30
	ownerFlag = uint32(1) << 30
	leafFlag  = uint32(1) << 30
	tileFlag  = uint32(2) << 30
	pairFlag  = uint32(3) << 30
	flagBits  = uint32(3) << 30
	indexBits = uint32(1)<<30 - 1

	pageLog   = 16 // bytes of a buffer per page
	pageLines = 1 << (pageLog - 6)
	wideLines = 16 // lines of a KiB
	pageBytes = (pageLines / wideLines) * 4
	leafBytes = wideLines * 4
)

type page [pageLines / wideLines]uint32

type leaf [wideLines]uint32

func newShadow(size int64, last bool) *shadow {
	return &shadow{last: last, least: ^uint32(0), count: size>>pageLog + 1}
}

// wide gives the word of the KiB that a line lies in, made where there is none.
func (t *shadow) wide(r *recorder, line int64) *uint32 {
	if n := uint64(line) / pageLines; n < uint64(len(t.plain)) && t.plain[n] != nil {
		return &t.plain[n][uint64(line)%pageLines/wideLines]
	}
	return t.widen(r, line)
}

// widen is wide where the page is not there yet, or may have a backlog.
func (t *shadow) widen(r *recorder, line int64) *uint32 {
	n := line / pageLines
	if t.backlogs != nil {
		r.drainBefore(t, n)
	}
	t.openPages(r.m.launchState)
	p := t.pages[n]
	if p == nil {
		p = new(page)
		t.pages[n] = p
		r.m.memory(pageBytes)
	}
	return &p[line%pageLines/wideLines]
}

// openPages makes room for pages.
func (t *shadow) openPages(s *launchState) {
	if t.pages == nil {
		s.memory(8 * t.count)
		t.pages = make([]*page, t.count)
		t.plain = t.pages
	}
}

// leafOf gives the words of the lines of a KiB, of which w is the word.
func (r *recorder) leafOf(w *uint32) *leaf {
	if *w&flagBits == leafFlag {
		return r.leaves.get(*w & indexBits)
	}
	i, x, ok := r.newLeaf()
	switch {
	case !ok:
		r.m.stop("the record of accesses is full")
		return new(leaf)
	case *w&flagBits == tileFlag:
		r.foldTile(w, x)
	case *w != 0:
		for k := range x {
			x[k] = *w
		}
	}
	*w = leafFlag | i
	return x
}

// newLeaf gives an empty leaf.
func (r *recorder) newLeaf() (uint32, *leaf, bool) {
	if r.freeLeaves == 0 {
		i, x, ok := r.leaves.alloc()
		if ok {
			x[0] = 0 // see grow
		}
		return i, x, ok
	}
	i := r.freeLeaves - 1
	x := r.leaves.get(i)
	r.freeLeaves = x[0]
	*x = leaf{}
	return i, x, true
}

func (r *recorder) freeLeaf(i uint32) { r.leaves.get(i)[0], r.freeLeaves = r.freeLeaves, i+1 }

// cells gives the cells of a KiB that is told of line by line.
func (r *recorder) cells(w uint32) (x leaf) {
	switch w & flagBits {
	case leafFlag:
		x = *r.leaves.get(w & indexBits)
		r.prefetchLeaf(&x)
	case tileFlag:
		for k := range x {
			x[k] = tileLine(w, int64(k))
		}
	}
	return x
}

// prefetchLeaf reads a word of each owner line of a leaf, so that all of them are waited for
// at once and not one by one.
//
//go:noinline
func (r *recorder) prefetchLeaf(x *leaf) (sum uint32) {
	for _, c := range x {
		if c&flagBits == ownerFlag {
			sum += r.ownerLines.get(c & indexBits).owner[0]
		}
	}
	return sum
}

// word gives the word of the KiB that a line lies in, 0 where there is none.
func (t *shadow) word(line int64) uint32 {
	if line < 0 || line/pageLines >= int64(len(t.pages)) {
		return 0
	}
	p := t.pages[line/pageLines]
	if p == nil {
		return 0
	}
	return p[line%pageLines/wideLines]
}

// cell gives a line's cell, 0 where nothing touched it.
func (t *shadow) cell(r *recorder, line int64) uint32 {
	w := t.word(line)
	switch w & flagBits {
	case leafFlag:
		return r.leaves.get(w & indexBits)[line%wideLines]
	case tileFlag:
		return tileLine(w, line)
	}
	return w
}

// cellWhileRunning is cell while blocks run.
func (t *shadow) cellWhileRunning(r *recorder, line int64) uint32 {
	if n := line / pageLines; t.hasBacklog(n) {
		r.drainBefore(t, n)
	}
	return t.cell(r, line)
}

// each calls f with the cells that are not empty, ascending; n lines share one.
// It ends when f returns false.
func (t *shadow) each(r *recorder, f func(line, n int64, cell uint32) bool) {
	for i, p := range t.pages {
		if p == nil {
			continue
		}
		for k, w := range p {
			line := int64(i)*pageLines + int64(k)*wideLines
			if w != 0 && w&flagBits != leafFlag && w&flagBits != tileFlag {
				if !f(line, wideLines, w) {
					return
				}
				continue
			}
			for j, c := range r.cells(w) {
				if c != 0 && !f(line+int64(j), 1, c) {
					return
				}
			}
		}
	}
}

// masks calls f with the bytes touched of each line, ascending; n lines share one mask.
func (t *shadow) masks(r *recorder, f func(line, n int64, mask uint64)) {
	start, n := int64(0), int64(0) // whole lines that have not been told
	tell := func() {
		if n > 0 {
			f(start, n, ^uint64(0))
		}
		n = 0
	}
	last, whole := uint32(0), false
	for i, p := range t.pages {
		if p == nil {
			continue
		}
		filled := t.wholeOf(int64(i))
		for k, w := range p {
			line := int64(i)*pageLines + int64(k)*wideLines
			if filled>>k&1 != 0 || w != 0 && w&flagBits != leafFlag && w&flagBits != tileFlag {
				if start+n != line {
					tell()
					start = line
				}
				n += wideLines
				continue
			}
			for j, cell := range r.cells(w) {
				if cell == 0 {
					continue
				}
				if cell != last {
					last, whole = cell, r.isWhole(cell)
				}
				at, mask := line+int64(j), ^uint64(0)
				if !whole {
					mask = r.mask(cell, at)
				}
				if mask == ^uint64(0) {
					if start+n != at {
						tell()
						start = at
					}
					n++
					continue
				}
				tell()
				f(at, 1, mask)
			}
		}
	}
	tell()
}

// isWhole says that a cell's events touch whole lines, as far as is quickly known.
func (r *recorder) isWhole(cell uint32) bool {
	switch cell & flagBits {
	case 0:
		return r.events.get(cell - 1).whole()
	case pairFlag:
		return r.events.get(r.eventPairs.get(cell&indexBits).a - 1).whole()
	}
	return false
}

// mask gives the bytes of a line that a cell tells of.
func (r *recorder) mask(cell uint32, line int64) uint64 {
	switch cell & flagBits {
	case 0:
		return r.event(cell - 1).lineMask(line)
	case ownerFlag:
		return r.ownerLines.get(cell & indexBits).mask()
	case chainFlag:
		return r.entries.get(cell & indexBits).all
	}
	d := *r.eventPairs.get(cell & indexBits)
	return r.event(d.a-1).lineMask(line) | r.event(d.b-1).lineMask(line)
}
