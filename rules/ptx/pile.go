package ptx

// A pile is what single threads have read of a page, or written, and no sheet
// tells of yet. Accesses without a pattern would wait for the memory of a sheet each. Words that
// are put on piles do not, and dealt out page by page they meet sheets that the
// caches hold. A worker's pile takes little more memory than the sheets that come
// of it, and that memory becomes sheets: the blocks of a pile are boards.
//
// The first word of a block is the block that follows, + 1. The others are
//
//	gap<<shift | thread<<pileElements | element   a thread has touched an element of the page
//	most<<shift | n                               n<<leapLog more are to be added to the next gap
//
// in the order of the accesses; gap is what the number in solos of the thread's event
// is above that of the word before.
type pile struct {
	block  *sheets // the last
	last   uint32  // its first sheet
	words  uint32  // of the last block, from its first on; 0 none
	solo   uint32  // number of the last word's event
	base   uint32  // the same, from which the first gap counts
	first  uint32  // first block, + 1; 0 none
	blocks int16
	start  uint8  // first word of the first block; neighbouring piles begin apart, so as not to meet in the same lines of a cache
	dealt  bool   // the page has sheets
	loose  bool   // accesses of other kinds come between: the page is not worth a pile
	whole  uint64 // bit k: single threads have touched all elements of KiB k
}

const (
	pileElements = pageLog - 2 // bits of an element's number in its page
	blockWords   = wideLines * lineElements
	mostBlocks   = pageLines / wideLines * 5 / 4 // the sheets of a page, and what an uneven pattern takes
	nextBlocks   = mostBlocks / 4                // once there are sheets
	leapLog      = 6
	pileFrom     = 16             // single accesses to an average page, from which on there are piles
	pileRun      = 4              // elements; more that neighbouring threads touch are one part of an event
	shortPile    = blockWords / 4 // words; a pile that is interrupted before that was no gain
	pileBytes    = 48
)

// gaps gives the place of a gap in a word, and the one that is a leap.
func (r *recorder) gaps() (shift uint8, most uint32) {
	shift = (pileElements + r.m.threadBits) & 31 // to the compiler too
	return shift, 1<<(32-shift) - 1
}

// onPiles says that single accesses of an event go on the piles of a table. There
// are some once so many came that the first blocks are no waste.
func (x *scatter) onPiles(r *recorder, t *table, runs []threadRun) bool {
	if x.d == updates || x.size%4 != 0 || !x.numbered(r) {
		return false
	}
	if t.piles == nil {
		for k := range runs {
			if x.short(&runs[k]) {
				t.tries++
			}
		}
		if t.tries >= t.count*pileFrom {
			t.openPiles(r.m.launchState)
		}
	}
	return t.piles != nil
}

// openPiles makes room for piles, and for the pages that come of them.
func (t *table) openPiles(s *launchState) {
	if t.open(s); t.piles == nil {
		s.memory(8 * t.count)
		t.piles, t.plain = make([]*pile, t.count), nil
	}
}

// short says that a run is elements that are not worth an event's part of their own.
func (x *scatter) short(run *threadRun) bool {
	return int64(run.n)*x.size <= 4*pileRun && run.off&3 == 0
}

// pileOf gives the pile of a page, made where there is none.
func (t *table) pileOf(m *worker, n int64) *pile {
	q := t.piles[n]
	if q == nil {
		q = new(pile)
		t.piles[n] = q
		m.memory(pileBytes)
	}
	return q
}

// piled says that something lies on a page's pile.
func (t *table) piled(n int64) bool {
	return t.piles != nil && t.piles[n] != nil && t.piles[n].first != 0
}

// wholeOf gives the KiB of a page of which single threads have touched all
// elements, a bit each, as far as is known.
func (t *table) wholeOf(n int64) uint64 {
	if t.piles == nil || t.piles[n] == nil {
		return 0
	}
	return t.piles[n].whole
}

// pileRuns puts short runs of an event on piles. It gives those that are left, in the
// same memory: updates, which two tables are told of, have no piles.
func (r *recorder) pileRuns(x *scatter, t *table, runs []threadRun) []threadRun {
	left := runs[:0]
	for _, run := range runs {
		if !x.short(&run) || t.pileOf(r.m, run.off>>pageLog).loose {
			left = append(left, run)
			continue
		}
		for k := int64(0); k < int64(run.n)*x.size; k += 4 {
			r.pile(t, run.off+k, uint32(run.thread)+uint32(k/x.size), ^uint32(x.e.thread))
		}
	}
	return left
}

// pile puts an access by one thread on the pile of its page.
func (r *recorder) pile(t *table, off int64, thread, solo uint32) {
	n := off >> pageLog
	q := t.pileOf(r.m, n)
	if q.words == blockWords && (q.blocks >= mostBlocks || q.dealt && q.blocks >= nextBlocks) {
		r.deal(t, n, q)
	}
	if q.first == 0 {
		q.base, q.solo, q.start = solo, solo, uint8(1+n%wideLines*lineElements)
	}
	shift, most := r.gaps()
	for solo-q.solo >= most {
		leap := min((solo-q.solo)>>leapLog, 1<<shift-1)
		if !r.pileWord(q, most<<shift|leap) {
			return
		}
		q.solo += leap << leapLog
	}
	r.pileWord(q, (solo-q.solo)<<shift|thread<<pileElements|uint32(off)%(1<<pageLog)>>2)
	q.solo = solo
}

// pileWord adds a word; it is false where there is no memory.
func (r *recorder) pileWord(q *pile, word uint32) bool {
	if q.words%blockWords == 0 {
		i, ok := r.newBoard()
		if !ok {
			return false
		}
		b := r.sheetsOf(i)
		if q.first == 0 {
			q.first, q.words = i+1, uint32(q.start)
		} else {
			*q.block.word(0), q.words = i+1, 1
		}
		q.block, q.last = b, i
		q.blocks++
	}
	*q.block.word(q.words) = word
	q.words++
	return true
}

// heap puts accesses by the threads from number k of the list on on piles, as long
// as there is nothing special about them. It gives the number it came to.
func (t *touch) heap(x *scatter, k int) int {
	list, v, piles := t.mask.list[k:], t.addr.v, x.tab.piles
	by, size, solo := t.u-t.addr.u-x.g.base, uint64(x.g.size)&^3, ^uint32(x.e.thread)
	shift, most := t.s.m.rec.gaps()
	next, row := ^uint64(0), 0
	for j, i := range list {
		off := v[i] + by
		if off >= size || off&3 != 0 {
			return k + j
		}
		if off != next {
			row = 0
		} else if row++; row >= pileRun {
			x.heap = false // a pattern, which takes less if it is told of as such
			return k + j
		}
		next = off + 4
		q := piles[off>>pageLog]
		if q == nil {
			return k + j
		}
		n, gap := q.words, solo-q.solo
		if n-1 >= blockWords-1 || gap >= most {
			return k + j
		}
		*q.block.word(n) = gap<<shift | uint32(i)<<pileElements | uint32(off)%(1<<pageLog)>>2
		q.words, q.solo = n+1, solo
	}
	return k + len(list)
}
