package ptx

// drain is a page whose backlog is being drained.
type drain struct {
	t      *shadow
	n      int64
	tiles  [pageLines / wideLines]*ownerTile // of each KiB; nil: it has none
	others [pageLines / wideLines]uint16     // accesses that met no free element of a tile
}

// ownerTile is the owner lines of a tile, or the words of a backlog's block.
type ownerTile [wideLines]ownerLine

// tileFrom is the number of single accesses to a KiB for which it is worth a tile.
const tileFrom = 8

// word gives an owner, or a backlog's word, by number.
func (b *ownerTile) word(i uint32) *uint32 {
	return &b[i/lineElements%wideLines].owner[i%lineElements]
}

// whole says that single threads have touched all elements.
func (b *ownerTile) whole() bool {
	all := soloFlag
	for k := range b {
		for _, o := range b[k].owner {
			all &= o
		}
	}
	return all != 0
}

// drainBefore drains what lies on a page's backlog before something else is put on
// the page. A backlog that is interrupted while it is small is one no more.
func (r *recorder) drainBefore(t *shadow, n int64) {
	q := t.backlogs[n]
	if q == nil || q.first == 0 {
		return
	}
	q.loose = q.blocks == 1 && q.words-uint32(q.start) < shortBacklog
	r.drainPage(t, n, q)
}

// drainPage puts the accesses on a backlog on owner lines of a page, in their order.
func (r *recorder) drainPage(t *shadow, n int64, q *backlog) {
	if q.first == 0 {
		return
	}
	old := *q
	*q = backlog{loose: q.loose, whole: q.whole, drained: true}
	d := drain{t: t, n: n}
	r.layTiles(&d, old)
	solo := old.base
	for at := old.first; at != 0; {
		b, words := r.block(at-1, old)
		solo = r.drainBlock(&d, b, words, solo)
		next := *b.word(0)
		r.freeTile(at - 1)
		at = next
	}
	q = t.backlogOf(r.m, n) // which is not what was drained where that is another worker's
	for k, b := range d.tiles {
		if q.whole>>k&1 == 0 && b != nil && b.whole() {
			q.whole |= 1 << k
		}
	}
}

// layTiles finds and makes the tiles of a page. Some of a backlog's words tell where all
// of them lie.
func (r *recorder) layTiles(d *drain, q backlog) {
	count, step := [len(d.tiles)]int{}, 1+uint32(q.blocks)/4
	for at := q.first; at != 0; {
		b, words := r.block(at-1, q)
		for i := words[0]; i < words[1]; i += step {
			count[*b.word(i)%(1<<elementBits)/blockWords]++
		}
		at = *b.word(0)
	}
	for k, n := range count {
		w := d.t.wide(r, d.n*pageLines+int64(k)*wideLines)
		if n*int(step) >= tileFrom {
			r.makeTile(w)
		}
		d.tiles[k] = r.tileOf(*w)
	}
}

// block gives a backlog's block and the places of its words.
func (r *recorder) block(i uint32, q backlog) (b *ownerTile, words [2]uint32) {
	words = [2]uint32{1, blockWords}
	if i+1 == q.first {
		words[0] = uint32(q.start)
	}
	if i == q.last {
		words[1] = q.words
	}
	return r.tileAt(i), words
}

// drainBlock drains the words of a block. It takes the number of the event of
// the word before, and gives that of the last.
func (r *recorder) drainBlock(d *drain, b *ownerTile, words [2]uint32, solo uint32) uint32 {
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
		element, thread := rest%(1<<elementBits), rest>>elementBits
		if on := d.tiles[element/blockWords]; on != nil {
			if o := on.word(element); *o == 0 {
				*o = soloFlag | solo<<bits | thread
				continue
			}
		}
		r.drainWord(d, element, thread, solo)
	}
	return solo
}

// drainWord records an access to an element that has an owner, or no tile.
func (r *recorder) drainWord(d *drain, element, thread, solo uint32) {
	id, off, k := *r.solos.get(solo), d.n<<pageLog+4*int64(element), element/blockWords
	r.put(d.t, r.event(id), id, 4, &threadRun{off, int16(thread), 1})
	w := d.t.wide(r, off>>6)
	if d.others[k]++; d.others[k] == tileFrom {
		r.makeTile(w)
	}
	d.tiles[k] = r.tileOf(*w)
}

// tileOf gives the owner lines of a tile, nil where the word of a KiB tells of none.
func (r *recorder) tileOf(w uint32) *ownerTile {
	if w&flagBits != tileFlag {
		return nil
	}
	return r.tileAt(w & indexBits)
}

// tileAt gives neighbouring owner lines by the number of the first.
func (r *recorder) tileAt(i uint32) *ownerTile {
	r.ownerLines.get(i)
	return (*ownerTile)(r.ownerLines.list[i>>chunkLog][i&(chunkSize-1):])
}
