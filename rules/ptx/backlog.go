package ptx

// backlog is an append-only log of a page's accesses that the shadow memory has yet to
// be told of: a write-combining buffer, drained page by page (a radix partition of random
// accesses). Accesses without a pattern would wait for the memory of an owner line each;
// words that are appended to a log do not, and when it is drained the page's owner lines
// are in the caches. A log takes little more memory than the owner lines that come of it,
// and that memory becomes owner lines: the blocks of a log are tiles.
//
// What it gained: a random gather of 2^20 elements takes 15.2 to 19.9 ms by one worker,
// 25.8 to 32.7 without, and two workers are 1.47 to 1.89 times one, 1.18 to 1.63 without
// (docs/speed.md).
//
// The first word of a block is the block that follows, + 1. The others are
//
//	gap<<shift | thread<<elementBits | element   a thread has touched an element of the page
//	most<<shift | n                               n<<leapLog more are to be added to the next gap
//
// in the order of the accesses; gap is what the number in solos of the thread's event
// is above that of the word before.
type backlog struct {
	block   *ownerTile // the last
	last    uint32     // its first owner line
	words   uint32     // of the last block, from its first on; 0 none
	solo    uint32     // number of the last word's event
	base    uint32     // the same, from which the first gap counts
	first   uint32     // first block, + 1; 0 none
	blocks  int16
	start   uint8  // first word of the first block; neighbouring backlogs begin apart, so as not to meet in the same lines of a cache
	drained bool   // the page has owner lines
	loose   bool   // accesses of other kinds come between: the page is not worth a backlog
	whole   uint64 // bit k: single threads have touched all elements of KiB k
}

const (
	elementBits  = pageLog - 2 // bits of an element's number in its page
	blockWords   = wideLines * lineElements
	mostBlocks   = pageLines / wideLines * 5 / 4 // the owner lines of a page, and what an uneven pattern takes
	nextBlocks   = mostBlocks / 4                // once there are owner lines
	leapLog      = 6
	backlogFrom  = 16             // single accesses to an average page, from which on there are backlogs
	patternRun   = 4              // elements; more that neighbouring threads touch are one part of an event
	shortBacklog = blockWords / 4 // words; a backlog that is interrupted before that was no gain
	backlogBytes = 48
)

// gaps gives the place of a gap in a word, and the one that is a leap.
func (r *recorder) gaps() (shift uint8, most uint32) {
	shift = (elementBits + r.m.threadBits) & 31 // to the compiler too
	return shift, 1<<(32-shift) - 1
}

// defers says that single accesses of an event go on the backlogs of a shadow. There
// are some once so many came that the first blocks are no waste.
func (x *scatter) defers(r *recorder, t *shadow, runs []threadRun) bool {
	if x.d == updates || x.size%4 != 0 || !x.numbered(r) {
		return false
	}
	if t.backlogs == nil {
		for k := range runs {
			if x.short(&runs[k]) {
				t.backlogTries++
			}
		}
		if t.backlogTries >= t.count*backlogFrom {
			t.openBacklogs(r.m.launchState)
		}
	}
	return t.backlogs != nil
}

// openBacklogs makes room for backlogs, and for the pages that come of them.
func (t *shadow) openBacklogs(s *launchState) {
	if t.openPages(s); t.backlogs == nil {
		s.memory(8 * t.count)
		t.backlogs, t.plain = make([]*backlog, t.count), nil
	}
}

// short says that a run is elements that are not worth an event's part of their own.
func (x *scatter) short(run *threadRun) bool {
	return int64(run.n)*x.size <= 4*patternRun && run.off&3 == 0
}

// backlogOf gives the backlog of a page, made where there is none.
func (t *shadow) backlogOf(m *worker, n int64) *backlog {
	q := t.backlogs[n]
	if q == nil {
		q = new(backlog)
		t.backlogs[n] = q
		m.memory(backlogBytes)
	}
	return q
}

// hasBacklog says that something lies on a page's backlog.
func (t *shadow) hasBacklog(n int64) bool {
	return t.backlogs != nil && t.backlogs[n] != nil && t.backlogs[n].first != 0
}

// wholeOf gives the KiB of a page of which single threads have touched all
// elements, a bit each, as far as is known.
func (t *shadow) wholeOf(n int64) uint64 {
	if t.backlogs == nil || t.backlogs[n] == nil {
		return 0
	}
	return t.backlogs[n].whole
}

// logRuns puts short runs of an event on backlogs. It gives those that are left, in the
// same memory: updates, which two shadows are told of, have no backlogs.
func (r *recorder) logRuns(x *scatter, t *shadow, runs []threadRun) []threadRun {
	left := runs[:0]
	for _, run := range runs {
		if !x.short(&run) || t.backlogOf(r.m, run.off>>pageLog).loose {
			left = append(left, run)
			continue
		}
		for k := int64(0); k < int64(run.n)*x.size; k += 4 {
			r.log(t, run.off+k, uint32(run.thread)+uint32(k/x.size), ^uint32(x.e.thread))
		}
	}
	return left
}

// log puts an access by one thread on the backlog of its page.
func (r *recorder) log(t *shadow, off int64, thread, solo uint32) {
	n := off >> pageLog
	q := t.backlogOf(r.m, n)
	if q.words == blockWords && (q.blocks >= mostBlocks || q.drained && q.blocks >= nextBlocks) {
		r.drainPage(t, n, q)
	}
	if q.first == 0 {
		q.base, q.solo, q.start = solo, solo, uint8(1+n%wideLines*lineElements)
	}
	shift, most := r.gaps()
	for solo-q.solo >= most {
		leap := min((solo-q.solo)>>leapLog, 1<<shift-1)
		if !r.logWord(q, most<<shift|leap) {
			return
		}
		q.solo += leap << leapLog
	}
	r.logWord(q, (solo-q.solo)<<shift|thread<<elementBits|uint32(off)%(1<<pageLog)>>2)
	q.solo = solo
}

// logWord adds a word; it is false where there is no memory.
func (r *recorder) logWord(q *backlog, word uint32) bool {
	if q.words%blockWords == 0 {
		i, ok := r.newTile()
		if !ok {
			return false
		}
		b := r.tileAt(i)
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

// logMany puts accesses by the threads from number k of the list on on backlogs, as long
// as there is nothing special about them. It gives the number it came to.
func (t *touch) logMany(x *scatter, k int) int {
	list, v, backlogs := t.mask.list[k:], t.addr.v, x.shadow.backlogs
	by, size, solo := t.u-t.addr.u-x.g.base, uint64(x.g.size)&^3, ^uint32(x.e.thread)
	shift, most := t.s.m.rec.gaps()
	next, series := ^uint64(0), 0
	for j, i := range list {
		off := v[i] + by
		if off >= size || off&3 != 0 {
			return k + j
		}
		if off != next {
			series = 0
		} else if series++; series >= patternRun {
			x.many = false // a pattern, which takes less if it is told of as such
			return k + j
		}
		next = off + 4
		q := backlogs[off>>pageLog]
		if q == nil {
			return k + j
		}
		n, gap := q.words, solo-q.solo
		if n-1 >= blockWords-1 || gap >= most {
			return k + j
		}
		*q.block.word(n) = gap<<shift | uint32(i)<<elementBits | uint32(off)%(1<<pageLog)>>2
		q.words, q.solo = n+1, solo
	}
	return k + len(list)
}
