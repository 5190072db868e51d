package ptx

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
)

// record is what an Outcome keeps of a run, for verdicts.
type record struct {
	s *launchState
	r recorder
}

// outcome gathers what the workers found.
func (s *launchState) outcome() *Outcome {
	o := &Outcome{Analysed: s.reason == "" && !s.stopped.Load(), Reason: s.reason, Sampled: s.sampled, Hang: s.hang}
	if s.reasonIn != nil {
		o.Line = int(s.reasonIn.at.line)
	}
	if s.order != nil && s.orderCounts() {
		o.MemoryOrder = s.order
	}
	o.Stats = s.stats
	o.Stats.Full = s.plan.full
	o.Stats.ShadowBytes = s.shadowBytes()
	for i := range s.l.Buffers {
		if s.from&bufferTaint(i) != 0 {
			o.AddressFrom = append(o.AddressFrom, i)
		}
	}
	o.Complete = o.Analysed && !s.sampled && s.from == 0 && s.hang == nil && o.MemoryOrder == nil && !s.crowded.Load()
	rec := &record{s: s, r: newRecorder(&worker{launchState: s, threads: s.threads, threadBits: uint8(bits.Len(uint(s.threads - 1)))}, s)}
	o.record = rec
	reach := s.p.reachable()
	o.Effects = make([]Effects, len(s.l.Buffers))
	var wg sync.WaitGroup
	slots := make(chan bool, max(s.l.Workers, 1)) // as many at once as there are workers
	for i := range o.Effects {
		slots <- true
		wg.Go(func() {
			o.Effects[i] = rec.effects(s.bufs[i], reach)
			<-slots
		})
	}
	wg.Wait()
	o.OutOfBounds = sortedValues(s.strays, func(a, b Stray) int { return compareAccess(a.Access, b.Access) })
	o.LateCopies = sortedValues(s.late, func(a, b LateCopy) int {
		return cmp.Or(compareAccess(a.Use, b.Use), compareAccess(a.Copy, b.Copy))
	})
	o.Descriptors = sortedValues(s.descriptors, func(a, b Descriptor) int { return compareAccess(a.Access, b.Access) })
	if s.plan.full && o.Analysed {
		for i := range s.l.Buffers {
			o.Contents = append(o.Contents, s.final(s.bufs[i]))
		}
	}
	return o
}

func sortedValues[K comparable, V any](m map[K]*V, compare func(a, b V) int) []V {
	var out []V
	for _, v := range m {
		out = append(out, *v)
	}
	slices.SortStableFunc(out, compare)
	return out
}

func compareAccess(a, b Access) int {
	switch {
	case a.PTXLine != b.PTXLine:
		return a.PTXLine - b.PTXLine
	case a.Block != b.Block:
		if before(a.Block, b.Block) {
			return -1
		}
		return 1
	}
	for i := 2; i >= 0; i-- {
		if a.Thread[i] != b.Thread[i] {
			return int(a.Thread[i]) - int(b.Thread[i])
		}
	}
	return 0
}

// orderCounts says whether the memory that the kernel waits for is written at all.
func (s *launchState) orderCounts() bool {
	for i := range s.l.Buffers {
		b := s.bufs[i]
		if (s.orderFrom&bufferTaint(i) != 0 || s.orderFrom == 0) && (b.writes.any || b.atomics.any) {
			return true
		}
	}
	return false
}

// ranges merges lines of bytes into ranges.
type ranges []Range

func (r *ranges) lines(line, n int64, mask uint64) {
	if mask == ^uint64(0) {
		r.add(line<<6, (line+n)<<6)
		return
	}
	for ; n > 1; n-- {
		r.lines(line, 1, mask)
		line++
	}
	for mask != 0 {
		lo := bits.TrailingZeros64(mask)
		n := bits.TrailingZeros64(^(mask >> lo))
		r.add(line<<6+int64(lo), line<<6+int64(lo+n))
		if lo+n >= 64 {
			return
		}
		mask &^= widthMask(uint8(lo + n))
	}
}

func (r *ranges) add(start, end int64) {
	if k := len(*r); k > 0 && (*r)[k-1].End >= start {
		(*r)[k-1].End = max((*r)[k-1].End, end)
		return
	}
	*r = append(*r, Range{start, end})
}

// union merges two ascending lists.
func union(a, b []Range) []Range {
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y Range) int {
		switch {
		case x.Start < y.Start:
			return -1
		case x.Start > y.Start:
			return 1
		}
		return 0
	})
	var out ranges
	for _, x := range all {
		if x.Start < x.End {
			out.add(x.Start, x.End)
		}
	}
	return out
}

// minus takes b from a; both ascending and merged.
func minus(a, b []Range) []Range {
	var out []Range
	k := 0
	for _, x := range a {
		for k < len(b) && b[k].End <= x.Start {
			k++
		}
		at := x.Start
		for j := k; j < len(b) && b[j].Start < x.End; j++ {
			if b[j].Start > at {
				out = append(out, Range{at, b[j].Start})
			}
			at = max(at, b[j].End)
		}
		if at < x.End {
			out = append(out, Range{at, x.End})
		}
	}
	return out
}

func (rec *record) ranges(t *table) []Range {
	var out ranges
	t.masks(&rec.r, func(line, n int64, mask uint64) { out.lines(line, n, mask) })
	return out
}

// effects tells what happened to one buffer.
func (rec *record) effects(g *gbuf, reach map[int32]bool) Effects {
	stored := rec.ranges(g.writes)
	e := Effects{Read: rec.ranges(g.reads), Written: stored, Atomic: rec.ranges(g.atomics)}
	e.Zeroed = union(g.zero, nil)
	first := union(e.Read, e.Atomic)
	if g.writes.any {
		first = g.first.ranges()
		e.Elsewhere = minus(rec.elsewhere(g), e.Zeroed)
	}
	e.ReadFirst = minus(first, e.Zeroed)
	e.Written = union(e.Written, e.Zeroed)
	e.OldRead = len(e.ReadFirst) > 0
	for x := range rec.s.seenBy {
		e.Reaches = e.Reaches || x.buffer == g.index && reach[x.orig]
	}
	if plain := minus(e.ReadFirst, e.Elsewhere); len(plain) > 0 {
		e.FirstRead = rec.someAccess(plain[0].Start, g.reads, g.atomics)
	} else if len(e.ReadFirst) > 0 {
		e.FirstRead = rec.someAccess(e.ReadFirst[0].Start, g.reads, g.atomics)
	}
	if u := union(stored, e.Atomic); len(u) > 0 {
		e.WrittenBy = rec.someAccess(u[0].Start, g.writes, g.atomics)
	}
	if u := union(e.Read, e.Atomic); len(u) > 0 {
		e.ReadBy = rec.someAccess(u[0].Start, g.reads, g.atomics)
	}
	return e
}

func (f *firstReads) ranges() []Range {
	var out ranges
	f.each(func(line int64, mask uint64) { out.lines(line, 1, mask) })
	return out
}

// elsewhere gives the bytes read first where no read is known to come before
// every write: another cluster's may come first, or one without an order.
func (rec *record) elsewhere(g *gbuf) []Range {
	var out ranges
	g.first.each(func(line int64, mask uint64) { out.lines(line, 1, rec.mayPrecede(g, line, mask)) })
	return out
}

// mayPrecede gives the bytes of mask that a write may precede, whichever way
// the launch goes: some read has a write with no order to it, and no read is
// ordered before every write. Of ordered reads the last alone is kept, so that
// a write between them does not say that the first came after it.
func (rec *record) mayPrecede(g *gbuf, line int64, mask uint64) uint64 {
	n := rec.s.threads
	free, first := uint64(0), uint64(0)
	rec.reads(g, line, func(r part) {
		late := uint64(0)
		rec.r.parts(g.writes.cell(&rec.r, line), line, func(w part) {
			both := w.entry.mask & r.entry.mask & mask
			both &^= orderedBytes(n, r, w, line, line, 0, both, 0)
			late |= both
			free |= both &^ orderedBytes(n, w, r, line, line, 0, both, 0)
		})
		first |= r.entry.mask &^ late
	})
	return free &^ first
}

// reads calls f for what reads or updates a line.
func (rec *record) reads(g *gbuf, line int64, f func(r part)) {
	rec.r.parts(g.reads.cell(&rec.r, line), line, f)
	rec.r.parts(g.atomics.cell(&rec.r, line), line, f)
}

// someAccess describes one access to a byte.
func (rec *record) someAccess(at int64, tables ...*table) *Access {
	var out *Access
	for _, t := range tables {
		line := at >> 6
		rec.r.parts(t.cell(&rec.r, line), line, func(p part) {
			if p.entry.mask>>(at&63)&1 == 0 {
				return
			}
			p.threadsOn(line, int(at&63), func(thread int) bool {
				a := rec.access(p.event, thread, at)
				if out == nil || compareAccess(a, *out) < 0 {
					out = &a
				}
				return false
			})
		})
	}
	return out
}

// instruction gives the number of the instruction by which a thread touches a byte.
func (ev event) instruction(thread int, at int64) int32 {
	if len(ev.more) == 0 || ev.plan == nil || ev.plan.t == nil {
		return ev.orig
	}
	start := ev.base - ev.plan.lo + ev.plan.t.v[thread]
	if k := (at - start) * int64(len(ev.more)) / ev.plan.size; k >= 0 && k < int64(len(ev.more)) {
		return ev.more[k]
	}
	return ev.orig
}

// access describes one thread's part of an event, at a byte of the buffer.
func (rec *record) access(ev event, thread int, at int64) Access {
	s := rec.s
	a := s.p.access(ev.instruction(thread, at))
	cx, cy := s.cluster[0], s.cluster[1]
	gx, gy := s.grid[0]/cx, s.grid[1]/cy
	n, r := ev.cluster, uint32(ev.rank)
	a.Block = [3]uint32{n%gx*cx + r%cx, n/gx%gy*cy + r/cx%cy, n/gx/gy*s.cluster[2] + r/cx/cy}
	bx, by := int(s.block[0]), int(s.block[1])
	a.Thread = [3]uint32{uint32(thread % bx), uint32(thread / bx % by), uint32(thread / bx / by)}
	return a
}

// final gives a buffer's contents after a full run.
func (s *launchState) final(g *gbuf) Final {
	f := Final{}
	s.memory(g.size)
	if s.used.Load() > 2*max(s.l.Budget.Memory, DefaultMemory) {
		return f
	}
	f.Bytes = make([]byte, g.size)
	var opaque ranges
	if g.contents != nil {
		copy(f.Bytes, g.contents)
	}
	for _, z := range g.zero {
		clear(f.Bytes[z.Start:z.End])
	}
	tags := s.tagsOf[0].taints
	zero := union(g.zero, nil)
	at := int64(0)
	unknown := func(from, to int64) { // not written
		if g.contents == nil && from < to {
			for _, r := range minus([]Range{{from, to}}, zero) {
				opaque.add(r.Start, r.End)
			}
		}
	}
	for n, pg := range g.pages {
		if pg == nil {
			continue
		}
		start := int64(n) << dataPageLog
		end := min(start+1<<dataPageLog, g.size)
		unknown(at, start)
		for from := start; from < end; {
			tag := pg.tag[from-start]
			to := from + 1
			for to < end && pg.tag[to-start] == tag {
				to++
			}
			switch {
			case tag == 0:
				unknown(from, to)
			case tags[tag]&taintOpaque != 0:
				opaque.add(from, to)
				clear(f.Bytes[from:to])
			default:
				copy(f.Bytes[from:to], pg.data[from-start:to-start])
			}
			from = to
		}
		at = end
	}
	unknown(at, g.size)
	f.Opaque = opaque
	return f
}
