package ptx

import (
	"sync"
	"sync/atomic"
)

// elsewhere gives the bytes of each buffer that are read first where no read is
// known to come before every write: another cluster's may come first, or one
// without an order. Every element may have readers and writers of its own, so that
// the workers do this page by page.
func (rec *accessRecord) elsewhere() [][]Range {
	type job struct {
		g     *gbuf
		page  int
		found ranges
	}
	var jobs []job
	for _, g := range rec.s.bufs[:len(rec.s.l.Buffers)] {
		if g.writes.any {
			for n, p := range g.first.pages {
				if p != nil {
					jobs = append(jobs, job{g: g, page: n})
				}
			}
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(max(rec.s.l.Workers, 1), maxWorkers, len(jobs)) {
		wg.Go(func() {
			var writes []part
			for k := next.Add(1) - 1; k < int64(len(jobs)); k = next.Add(1) - 1 {
				x := &jobs[k]
				for i, mask := range x.g.first.pages[x.page] {
					if mask != 0 {
						line := int64(x.page)*pageLines + int64(i)
						x.found.lines(line, 1, rec.mayPrecede(x.g, line, mask, &writes))
					}
				}
			}
		})
	}
	wg.Wait()
	out := make([][]Range, len(rec.s.l.Buffers))
	for _, x := range jobs {
		all := (*ranges)(&out[x.g.index])
		for _, r := range x.found {
			all.add(r.Start, r.End)
		}
	}
	return out
}

// mayPrecede gives the bytes of mask that a write may precede, whichever way
// the launch goes: some read has a write with no order to it, and no read is
// ordered before every write. Of ordered reads the last alone is kept, so that
// a write between them does not say that the first came after it. The line's
// writes are listed in the memory given.
func (rec *accessRecord) mayPrecede(g *gbuf, line int64, mask uint64, writes *[]part) uint64 {
	list := (*writes)[:0]
	rec.r.partsOf(g.writes.cell(&rec.r, line), line, mask, func(w part) {
		if w.entry.mask&mask != 0 {
			list = append(list, w)
		}
	})
	*writes = list
	if len(list) == 0 {
		return 0
	}
	n := rec.s.threads
	free, first := uint64(0), uint64(0)
	rec.reads(g, line, mask, func(r part) {
		late := uint64(0)
		for i := range list {
			both := list[i].entry.mask & r.entry.mask & mask
			if both == 0 {
				continue
			}
			if both &^= orderedBytes(n, r, list[i], line, line, 0, both, 0); both != 0 {
				late |= both
				free |= both &^ orderedBytes(n, list[i], r, line, line, 0, both, 0)
			}
		}
		first |= r.entry.mask &^ late
	})
	return free &^ first
}

// reads calls f for what reads or updates some of a line's bytes.
func (rec *accessRecord) reads(g *gbuf, line int64, of uint64, f func(r part)) {
	rec.r.partsOf(g.reads.cell(&rec.r, line), line, of, f)
	rec.r.partsOf(g.atomics.cell(&rec.r, line), line, of, f)
}
