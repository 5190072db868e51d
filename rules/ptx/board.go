package ptx

// A board is what a page's word tells of where single threads touch most of a
// KiB element by element: the sheets of its lines, one after the other, without
// a leaf. The word is boardFlag and the number of the first.

// Line gives the cell of a board's line.
func boardLine(w uint32, line int64) uint32 {
	return sheetFlag | (w&indexBits + uint32(line%wideLines))
}

// newBoard gives the number of the first of empty sheets that are neighbours.
func (r *recorder) newBoard() (uint32, bool) {
	if r.boards != 0 {
		i := r.boards - 1
		b := r.sheetsOf(i)
		r.boards = *b.word(0)
		*b = sheets{}
		return i, true
	}
	c := &r.sheets
	for c.next%wideLines != 0 { // a board lies in one chunk
		i, _, ok := c.alloc()
		if !ok {
			return 0, false
		}
		r.freeSheet(i)
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

// freeBoard gives a board back.
func (r *recorder) freeBoard(i uint32) {
	*r.sheetsOf(i).word(0) = r.boards
	r.boards = i + 1
}

// spread makes the word of a KiB a board, once so many elements of the table
// were touched one by one that most lines will come to need a sheet.
func (r *recorder) spread(t *table, run *threadRun) bool {
	if t.solos++; t.solos < t.count*pageLines/8 {
		return false
	}
	return r.makeBoard(t.wide(r, run.off>>6))
}

// makeBoard makes the word of a KiB a board, where that takes all that it tells.
func (r *recorder) makeBoard(w *uint32) bool {
	if *w == 0 {
		first, ok := r.newBoard()
		if ok {
			*w = boardFlag | first
		}
		return ok
	}
	if *w&flagBits != leafFlag {
		return false
	}
	x := r.leaves.get(*w & indexBits)
	for _, cell := range x {
		if cell != 0 && cell&flagBits != sheetFlag && !r.lone(cell) {
			return false
		}
	}
	first, ok := r.newBoard()
	if !ok {
		return false
	}
	for k, cell := range x {
		sh := r.sheets.get(first + uint32(k))
		switch {
		case cell == 0:
		case cell&flagBits == sheetFlag:
			*sh = *r.sheets.get(cell & indexBits)
			r.freeSheet(cell & indexBits)
		default:
			r.write(sh, *r.entries.get(cell & indexBits))
			r.freeEntry(cell & indexBits)
		}
	}
	r.freeLeaf(*w & indexBits)
	*w = boardFlag | first
	return true
}

// lone says that a cell is a chain of one entry that fits on a sheet.
func (r *recorder) lone(cell uint32) bool {
	if cell&flagBits != chainFlag {
		return false
	}
	en := r.entries.get(cell & indexBits)
	return en.next == 0 && r.fits(*en)
}

// fold makes a board a leaf.
func (r *recorder) fold(w *uint32, x *leaf) {
	for k := range x {
		cell := boardLine(*w, int64(k))
		if r.sheets.get(cell&indexBits).mask() == 0 {
			r.freeSheet(cell & indexBits)
			cell = 0
		}
		x[k] = cell
	}
}

// onBoard adds an entry to a board's line; it returns the bytes that have owners
// which are to stay beside it, all of them where it does not fit.
func (r *recorder) onBoard(t *table, w uint32, line int64, e event, id uint32, en entry) uint64 {
	if en.ev = id + 1; !r.fits(en) {
		return en.mask
	}
	return r.onSheet(t, r.sheets.get(boardLine(w, line)&indexBits), line, part{e, en})
}

// uniteBoards adds the owners of another board, line by line as long as no
// element has two; it returns the number of lines.
func (r *recorder) uniteBoards(a, b uint32) int {
	for k := range int64(wideLines) {
		if !r.sheets.get(boardLine(a, k) & indexBits).add(r.sheets.get(boardLine(b, k) & indexBits)) {
			return int(k)
		}
	}
	return wideLines
}
