package ptx

// A tile is a dense block of owner lines: what a page's word tells of where single threads touch most of a
// KiB element by element: the owner lines of its lines, one after the other, without
// a leaf. The word is tileFlag and the number of the first.

// tileLine gives the cell of a tile's line.
func tileLine(w uint32, line int64) uint32 {
	return ownerFlag | (w&indexBits + uint32(line%wideLines))
}

// newTile gives the number of the first of empty owner lines that are neighbours.
func (r *recorder) newTile() (uint32, bool) {
	if r.freeTiles != 0 {
		i := r.freeTiles - 1
		b := r.tileAt(i)
		r.freeTiles = *b.word(0)
		*b = ownerTile{}
		return i, true
	}
	c := &r.ownerLines
	for c.next%wideLines != 0 { // a tile lies in one chunk
		i, _, ok := c.alloc()
		if !ok {
			return 0, false
		}
		r.freeOwnerLine(i)
	}
	first, sh, ok := c.alloc()
	if !ok {
		r.m.stop("the record of accesses is full")
		return 0, false
	}
	sh.owner[0] = 0 // see grow
	c.next += wideLines - 1
	return first, true
}

// freeTile gives a tile back.
func (r *recorder) freeTile(i uint32) {
	*r.tileAt(i).word(0) = r.freeTiles
	r.freeTiles = i + 1
}

// spreadTile makes the word of a KiB a tile, once so many elements of the shadow
// were touched one by one that most lines will come to need an owner line.
func (r *recorder) spreadTile(t *shadow, run *threadRun) bool {
	if t.solos++; t.solos < t.count*pageLines/8 {
		return false
	}
	return r.makeTile(t.wide(r, run.off>>6))
}

// makeTile makes the word of a KiB a tile, where that takes all that it tells.
func (r *recorder) makeTile(w *uint32) bool {
	if *w == 0 {
		first, ok := r.newTile()
		if ok {
			*w = tileFlag | first
		}
		return ok
	}
	if *w&flagBits != leafFlag {
		return false
	}
	x := r.leaves.get(*w & indexBits)
	for _, cell := range x {
		if cell != 0 && cell&flagBits != ownerFlag && !r.lone(cell) {
			return false
		}
	}
	first, ok := r.newTile()
	if !ok {
		return false
	}
	for k, cell := range x {
		sh := r.ownerLines.get(first + uint32(k))
		switch {
		case cell == 0:
		case cell&flagBits == ownerFlag:
			*sh = *r.ownerLines.get(cell & indexBits)
			r.freeOwnerLine(cell & indexBits)
		default:
			r.write(sh, *r.entries.get(cell & indexBits))
			r.freeEntry(cell & indexBits)
		}
	}
	r.freeLeaf(*w & indexBits)
	*w = tileFlag | first
	return true
}

// lone says that a cell is a chain of one entry that fits on an owner line.
func (r *recorder) lone(cell uint32) bool {
	if cell&flagBits != chainFlag {
		return false
	}
	en := r.entries.get(cell & indexBits)
	return en.next == 0 && r.fits(*en)
}

// foldTile makes a tile a leaf.
func (r *recorder) foldTile(w *uint32, x *leaf) {
	for k := range x {
		cell := tileLine(*w, int64(k))
		if r.ownerLines.get(cell&indexBits).mask() == 0 {
			r.freeOwnerLine(cell & indexBits)
			cell = 0
		}
		x[k] = cell
	}
}

// onTile adds an entry to a tile's line; it returns the bytes that have owners
// which are to stay beside it, all of them where it does not fit.
func (r *recorder) onTile(t *shadow, w uint32, line int64, e event, id uint32, en entry) uint64 {
	if en.ev = id + 1; !r.fits(en) {
		return en.mask
	}
	return r.onOwnerLine(t, r.ownerLines.get(tileLine(w, line)&indexBits), line, part{e, en})
}

// uniteTiles adds the owners of another tile, line by line as long as no
// element has two; it returns the number of lines.
func (r *recorder) uniteTiles(a, b uint32) int {
	for k := range int64(wideLines) {
		if !r.ownerLines.get(tileLine(a, k) & indexBits).add(r.ownerLines.get(tileLine(b, k) & indexBits)) {
			return int(k)
		}
	}
	return wideLines
}
