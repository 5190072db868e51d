package ptx

// dealing is a page while a pile is dealt out.
type dealing struct {
	t      *table
	n      int64
	boards [pageLines / wideLines]*sheets // of each KiB; nil: it has none
	others [pageLines / wideLines]uint16  // accesses that met no free element of a board
}

// sheets are those of a board, or the words of a pile's block.
type sheets [wideLines]sheet

// boardFrom is the number of single accesses to a KiB for which it is worth a board.
const boardFrom = 8

// word gives an owner, or a pile's word, by number.
func (b *sheets) word(i uint32) *uint32 {
	return &b[i/lineElements%wideLines].owner[i%lineElements]
}

// whole says that single threads have touched all elements.
func (b *sheets) whole() bool {
	all := soloFlag
	for k := range b {
		for _, o := range b[k].owner {
			all &= o
		}
	}
	return all != 0
}

// interrupt deals out what lies on a page's pile before something else is put on
// the page. A pile that is interrupted while it is small is one no more.
func (r *recorder) interrupt(t *table, n int64) {
	q := t.piles[n]
	if q == nil || q.first == 0 {
		return
	}
	q.loose = q.blocks == 1 && q.words-uint32(q.start) < shortPile
	r.deal(t, n, q)
}

// deal puts the accesses on a pile on sheets of a page, in their order.
func (r *recorder) deal(t *table, n int64, q *pile) {
	if q.first == 0 {
		return
	}
	old := *q
	*q = pile{loose: q.loose, whole: q.whole, dealt: true}
	d := dealing{t: t, n: n}
	r.lay(&d, old)
	solo := old.base
	for at := old.first; at != 0; {
		b, words := r.block(at-1, old)
		solo = r.dealBlock(&d, b, words, solo)
		next := *b.word(0)
		r.freeBoard(at - 1)
		at = next
	}
	q = t.pileOf(r.m, n) // which is not what was dealt out where that is another worker's
	for k, b := range d.boards {
		if q.whole>>k&1 == 0 && b != nil && b.whole() {
			q.whole |= 1 << k
		}
	}
}

// lay finds and makes the boards of a page. Some of a pile's words tell where all
// of them lie.
func (r *recorder) lay(d *dealing, q pile) {
	count, step := [len(d.boards)]int{}, 1+uint32(q.blocks)/4
	for at := q.first; at != 0; {
		b, words := r.block(at-1, q)
		for i := words[0]; i < words[1]; i += step {
			count[*b.word(i)%(1<<pileElements)/blockWords]++
		}
		at = *b.word(0)
	}
	for k, n := range count {
		w := d.t.wide(r, d.n*pageLines+int64(k)*wideLines)
		if n*int(step) >= boardFrom {
			r.makeBoard(w)
		}
		d.boards[k] = r.board(*w)
	}
}

// block gives a pile's block and the places of its words.
func (r *recorder) block(i uint32, q pile) (b *sheets, words [2]uint32) {
	words = [2]uint32{1, blockWords}
	if i+1 == q.first {
		words[0] = uint32(q.start)
	}
	if i == q.last {
		words[1] = q.words
	}
	return r.sheetsOf(i), words
}

// dealBlock deals out the words of a block. It takes the number of the event of
// the word before, and gives that of the last.
func (r *recorder) dealBlock(d *dealing, b *sheets, words [2]uint32, solo uint32) uint32 {
	shift, most := r.gaps()
	bits, rests := r.m.threadBits&31, uint32(1)<<shift-1
	for i := words[0]; i < words[1]; i++ {
		w := *b.word(i)
		gap, rest := w>>shift, w&rests
		if gap == most {
			solo += rest << leapLog
			continue
		}
		solo += gap
		element, thread := rest%(1<<pileElements), rest>>pileElements
		if on := d.boards[element/blockWords]; on != nil {
			if o := on.word(element); *o == 0 {
				*o = soloFlag | solo<<bits | thread
				continue
			}
		}
		r.dealWord(d, element, thread, solo)
	}
	return solo
}

// dealWord records an access to an element that has an owner, or no board.
func (r *recorder) dealWord(d *dealing, element, thread, solo uint32) {
	id, off, k := *r.solos.get(solo), d.n<<pageLog+4*int64(element), element/blockWords
	r.put(d.t, r.event(id), id, 4, &threadRun{off, int16(thread), 1})
	w := d.t.wide(r, off>>6)
	if d.others[k]++; d.others[k] == boardFrom {
		r.makeBoard(w)
	}
	d.boards[k] = r.board(*w)
}

// board gives the sheets of a board, nil where the word of a KiB tells of none.
func (r *recorder) board(w uint32) *sheets {
	if w&flagBits != boardFlag {
		return nil
	}
	return r.sheetsOf(w & indexBits)
}

// sheetsOf gives neighbouring sheets by the number of the first.
func (r *recorder) sheetsOf(i uint32) *sheets {
	r.sheets.get(i)
	return (*sheets)(r.sheets.list[i>>chunkLog][i&(chunkSize-1):])
}
