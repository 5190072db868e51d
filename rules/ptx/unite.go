package ptx

import (
	"sync"
	"sync/atomic"
)

// bufferShadow is what one worker records of one buffer: while the launch runs nobody
// else reads it or writes to it.
type bufferShadow struct {
	reads, writes *shadow
	atomics       *shadow // atomic updates, as writes: the first ones
	updated       *shadow // the same, as reads: the last ones
	first         *firstReads
}

func newBufferShadow(size int64) *bufferShadow {
	return &bufferShadow{newShadow(size, true), newShadow(size, false), newShadow(size, false), newShadow(size, true), newFirst(size)}
}

// shadows gives those that an access goes to; the second may be nil.
func (b *bufferShadow) shadows(d direction) (*shadow, *shadow) {
	switch d {
	case reads:
		return b.reads, nil
	case writes:
		return b.writes, nil
	}
	return b.atomics, b.updated
}

func (b *bufferShadow) all() [4]*shadow { return [4]*shadow{b.reads, b.writes, b.atomics, b.updated} }

// openShadows gives a worker its shadows: the launch's own to the first.
func (s *launchState) openShadows(first bool) []*bufferShadow {
	out := make([]*bufferShadow, len(s.l.Buffers))
	for i, g := range s.bufs[:len(out)] {
		if out[i] = g.bufferShadow; !first {
			out[i] = newBufferShadow(g.size)
		}
	}
	return out
}

// mergePage is a page of a shadow for which there is work when no block runs any
// more: several workers have written to it, or something lies on backlogs.
type mergePage struct {
	to       *shadow
	n        int64
	pages    []*page // of workers other than the one whose page it becomes
	backlogs []*backlog
}

// unite puts the shadows of all workers into those of the launch, several pages
// at once. A page that one worker alone has is taken as it is.
func (s *launchState) unite(workers []*worker) {
	var work []mergePage
	for i := range s.l.Buffers {
		own := make([]*bufferShadow, len(workers))
		written := false
		for k, m := range workers {
			own[k] = m.shadows[i]
			written = written || own[k].writes.any
		}
		for k, b := range own {
			if written {
				b.turn(&workers[k].rec)
				own[0].first.add(b.first)
			}
		}
		for k, to := range own[0].all() {
			shadows := []*shadow{to}
			for _, b := range own[1:] {
				if from := b.all()[k]; from.any {
					to.any = true
					to.least = min(to.least, from.least)
					shadows = append(shadows, from)
				}
			}
			if len(shadows) > 1 || to.backlogs != nil {
				work = append(work, s.mergePages(shadows)...)
			}
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, m := range workers[:min(len(workers), len(work)/8+1)] {
		wg.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(work)) && !s.stopped.Load(); k = next.Add(1) - 1 {
				m.rec.unite(&work[k])
			}
		})
	}
	wg.Wait()
}

// mergePages moves to the first shadow the pages of the others that it lacks, and
// gives those for which more is to be done.
func (s *launchState) mergePages(shadows []*shadow) []mergePage {
	to, out := shadows[0], []mergePage(nil)
	for _, t := range shadows {
		if t.pages != nil {
			to.openPages(s)
		}
		if t.backlogs != nil {
			to.openBacklogs(s)
		}
	}
	for n := range to.count {
		x := mergePage{to: to, n: n}
		for k, t := range shadows {
			if t.pages != nil && t.pages[n] != nil && k > 0 {
				if to.pages[n] == nil {
					to.pages[n] = t.pages[n]
				} else {
					x.pages = append(x.pages, t.pages[n])
				}
			}
			if t.backlogs != nil && t.backlogs[n] != nil {
				if to.backlogs[n] == nil {
					to.backlogs[n] = t.backlogs[n]
				}
				to.backlogs[n].whole |= t.backlogs[n].whole
				if t.backlogs[n].first != 0 {
					x.backlogs = append(x.backlogs, t.backlogs[n])
				}
			}
		}
		if len(x.pages)+len(x.backlogs) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// unite does the work for a page. What lies on a worker's backlog came after what
// is on its page, and nothing orders what two workers did.
func (r *recorder) unite(x *mergePage) {
	for _, p := range x.pages {
		r.unitePage(x, p)
	}
	for _, q := range x.backlogs {
		r.drainPage(x.to, x.n, q)
	}
}

func (r *recorder) unitePage(x *mergePage, p *page) {
	for i, w := range p {
		into, done := &x.to.pages[x.n][i], 0
		switch {
		case w == 0:
			continue
		case *into == 0:
			*into = w
			continue
		case *into&flagBits == tileFlag && w&flagBits == tileFlag:
			if done = r.uniteTiles(*into, w); done == wideLines {
				continue
			}
		default:
			if now, ok := r.both(x.to, *into, w); ok {
				*into = now
				continue
			}
		}
		a, b := r.leafOf(into), r.leafOf(&w)
		r.prefetchLeaf(a)
		r.prefetchLeaf(b)
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
func (r *recorder) both(t *shadow, a, b uint32) (uint32, bool) {
	if a == r.united[0] && b == r.united[1] {
		return r.united[2], true
	}
	out, ids := a, [2]uint32{b}
	switch b & flagBits {
	case 0:
	case pairFlag:
		d := *r.eventPairs.get(b & indexBits)
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
func (r *recorder) uniteLine(t *shadow, cell *uint32, other uint32, line int64) {
	if now, ok := r.both(t, *cell, other); ok {
		*cell = now
		return
	}
	if *cell&flagBits == ownerFlag && other&flagBits == ownerFlag && r.ownerLines.get(*cell&indexBits).add(r.ownerLines.get(other&indexBits)) {
		r.freeOwnerLine(other & indexBits)
		return
	}
	if r.uniteOwners(cell, other) {
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
