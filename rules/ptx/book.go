package ptx

import (
	"sync"
	"sync/atomic"
)

// book is what one worker records of one buffer: while the launch runs nobody
// else reads it or writes to it.
type book struct {
	reads, writes *table
	atomics       *table // atomic updates, as writes: the first ones
	updated       *table // the same, as reads: the last ones
	first         *firstReads
}

func newBook(size int64) *book {
	return &book{newTable(size, true), newTable(size, false), newTable(size, false), newTable(size, true), newFirst(size)}
}

// tables gives the tables that an access goes to; the second may be nil.
func (b *book) tables(d direction) (*table, *table) {
	switch d {
	case reads:
		return b.reads, nil
	case writes:
		return b.writes, nil
	}
	return b.atomics, b.updated
}

func (b *book) all() [4]*table { return [4]*table{b.reads, b.writes, b.atomics, b.updated} }

// openBooks gives a worker its books: the launch's own to the first.
func (s *launchState) openBooks(first bool) []*book {
	out := make([]*book, len(s.l.Buffers))
	for i, g := range s.bufs[:len(out)] {
		if out[i] = g.book; !first {
			out[i] = newBook(g.size)
		}
	}
	return out
}

// shelf is a page of a table for which there is work when no block runs any
// more: several workers have written to it, or something lies on piles.
type shelf struct {
	to    *table
	n     int64
	pages []*page // of workers other than the one whose page it becomes
	piles []*pile
}

// unite puts the books of all workers into those of the launch, several pages
// at once. A page that one worker alone has is taken as it is.
func (s *launchState) unite(crew []*worker) {
	var work []shelf
	for i := range s.l.Buffers {
		books := make([]*book, len(crew))
		written := false
		for k, m := range crew {
			books[k] = m.books[i]
			written = written || books[k].writes.any
		}
		for k, b := range books {
			if written {
				b.turn(&crew[k].rec)
				books[0].first.add(b.first)
			}
		}
		for k, to := range books[0].all() {
			tables := []*table{to}
			for _, b := range books[1:] {
				if from := b.all()[k]; from.any {
					to.any = true
					to.least = min(to.least, from.least)
					tables = append(tables, from)
				}
			}
			if len(tables) > 1 || to.piles != nil {
				work = append(work, s.shelves(tables)...)
			}
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, m := range crew[:min(len(crew), len(work)/8+1)] {
		wg.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(work)) && !s.stopped.Load(); k = next.Add(1) - 1 {
				m.rec.unite(&work[k])
			}
		})
	}
	wg.Wait()
}

// shelves moves to the first table the pages of the others that it lacks, and
// gives those for which more is to be done.
func (s *launchState) shelves(tables []*table) []shelf {
	to, out := tables[0], []shelf(nil)
	for _, t := range tables {
		if t.pages != nil {
			to.open(s)
		}
		if t.piles != nil {
			to.openPiles(s)
		}
	}
	for n := range to.count {
		x := shelf{to: to, n: n}
		for k, t := range tables {
			if t.pages != nil && t.pages[n] != nil && k > 0 {
				if to.pages[n] == nil {
					to.pages[n] = t.pages[n]
				} else {
					x.pages = append(x.pages, t.pages[n])
				}
			}
			if t.piles != nil && t.piles[n] != nil {
				if to.piles[n] == nil {
					to.piles[n] = t.piles[n]
				}
				to.piles[n].whole |= t.piles[n].whole
				if t.piles[n].first != 0 {
					x.piles = append(x.piles, t.piles[n])
				}
			}
		}
		if len(x.pages)+len(x.piles) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// unite does the work for a page. What lies on a worker's pile came after what
// is on its page, and nothing orders what two workers did.
func (r *recorder) unite(x *shelf) {
	for _, p := range x.pages {
		r.unitePage(x, p)
	}
	for _, q := range x.piles {
		r.deal(x.to, x.n, q)
	}
}

func (r *recorder) unitePage(x *shelf, p *page) {
	for i, w := range p {
		into, done := &x.to.pages[x.n][i], 0
		switch {
		case w == 0:
			continue
		case *into == 0:
			*into = w
			continue
		case *into&flagBits == boardFlag && w&flagBits == boardFlag:
			if done = r.uniteBoards(*into, w); done == wideLines {
				continue
			}
		default:
			if now, ok := r.both(x.to, *into, w); ok {
				*into = now
				continue
			}
		}
		a, b := r.leafOf(into), r.leafOf(&w)
		r.look(a)
		r.look(b)
		for j := done; j < wideLines; j++ {
			switch {
			case b[j] == 0:
			case a[j] == 0:
				a[j] = b[j]
			default:
				r.uniteLine(x.to, &a[j], b[j], x.n*pageLines+int64(i*wideLines+j))
			}
		}
	}
}

// both gives the cell of two cells of events that touch whole lines.
func (r *recorder) both(t *table, a, b uint32) (uint32, bool) {
	if a == r.united[0] && b == r.united[1] {
		return r.united[2], true
	}
	out, ids := a, [2]uint32{b}
	switch b & flagBits {
	case 0:
	case duoFlag:
		d := *r.duos.get(b & indexBits)
		ids = [2]uint32{d.a, d.b}
	default:
		return 0, false
	}
	for _, id := range ids {
		if id == 0 {
			break
		}
		ev, ok := r.event(id-1), false
		r.was = 0
		if !ev.whole() {
			return 0, false
		}
		if out, ok = r.over(t, out, ev, id-1); !ok {
			return 0, false
		}
	}
	r.united = [3]uint32{a, b, out}
	return out, true
}

// uniteLine adds what another worker recorded of a line: other clusters, which
// nothing orders.
func (r *recorder) uniteLine(t *table, cell *uint32, other uint32, line int64) {
	if now, ok := r.both(t, *cell, other); ok {
		*cell = now
		return
	}
	if *cell&flagBits == sheetFlag && other&flagBits == sheetFlag && r.sheets.get(*cell&indexBits).add(r.sheets.get(other&indexBits)) {
		r.freeSheet(other & indexBits)
		return
	}
	if r.uniteSheets(cell, other) {
		return
	}
	r.parts(other, line, func(p part) {
		if !r.unfold(cell, line) {
			return
		}
		if p.entry.mask = r.settle(t, cell, line, p, true); p.entry.mask != 0 {
			r.keep(cell, p.entry)
		}
	})
}
