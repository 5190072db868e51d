package ptx

import (
	"math/bits"
)

// InPlace says whether operand and result may share memory: whether every read
// of a byte of the operand's buffer is ordered before every write of the byte
// it would share. Byte i of the result is byte i+shift of the operand; 0 is an
// exact share. The verdict holds for what ran: see Complete, AddressFrom, Sampled.
func (o *Outcome) InPlace(operand, result int, shift int64) Verdict {
	switch {
	case !o.Analysed:
		return Verdict{Reason: o.Reason}
	case o.Hang != nil:
		return Verdict{Reason: o.Hang.told("the kernel does not end: " + o.Hang.Reason)}
	case operand < 0 || operand >= len(o.Effects) || result < 0 || result >= len(o.Effects):
		return Verdict{Reason: "no such buffer"}
	}
	rec := o.record
	if o.MemoryOrder != nil {
		return o.orderedByMemory(operand, result, shift)
	}
	p := pair{rec: rec, op: rec.s.bufs[operand], res: rec.s.bufs[result], shift: shift}
	if w := p.witness(); w != nil {
		return Verdict{Safety: Unsafe, Witness: w, Reason: p.reason(w)}
	}
	if rec.s.crowded.Load() {
		return Verdict{Reason: "a byte is touched by too many accesses without an order"}
	}
	return Verdict{Safety: Safe}
}

// orderedByMemory is InPlace where the kernel waits for memory that other threads write.
func (o *Outcome) orderedByMemory(operand, result int, shift int64) Verdict {
	unknown := Verdict{Reason: o.MemoryOrder.told("the kernel is ordered by waiting for memory that other threads write")}
	s := o.record.s
	if s.order.about&(bufferTaint(operand)|bufferTaint(result)) != 0 || s.crowded.Load() {
		return unknown
	}
	p := pair{rec: o.record, op: s.bufs[operand], res: s.bufs[result], shift: shift}
	w := p.witness()
	if w == nil {
		return Verdict{Safety: Safe}
	}
	p.apart = !s.order.global // blocks of different clusters have no shared memory to wait for
	if !w.Zeroed && p.apart {
		w = p.witness()
	}
	if w == nil || !w.Zeroed && !p.apart {
		return unknown
	}
	return Verdict{Safety: Unsafe, Witness: w, Reason: p.reason(w)}
}

// pair looks for a byte that is read through op and not before it is written through res.
type pair struct {
	rec     *accessRecord
	op, res *gbuf
	shift   int64
	lastR   uint32 // cells of the pair of events that was found ordered last
	lastW   uint32
	one     bool // op and res are one buffer, read and written through one pointer
	again   bool // of one: some bytes are read after others wrote them
	apart   bool // of different clusters only
}

func (p *pair) reason(w *Witness) string {
	switch {
	case w.Zeroed:
		return "the result is zeroed before the kernel reads the operand"
	case w.Reader.Block != w.Writer.Block:
		return "one block reads a byte that another block writes, and nothing orders them"
	case w.Reader.Thread != w.Writer.Thread:
		return "one thread reads a byte that another thread of its block writes, and nothing orders them"
	}
	return "a thread reads a byte after it has written it, or while a copy may read it"
}

func (p *pair) witness() *Witness {
	if w := p.zeroed(); w != nil {
		return w
	}
	var best *Witness
	for _, writers := range []*shadow{p.res.writes, p.res.atomics} {
		if w := p.scan(writers); w != nil {
			best = earlier(best, w)
		}
	}
	return best
}

// zeroed looks for a read of bytes that are zeroed before the launch.
func (p *pair) zeroed() *Witness {
	for _, z := range union(p.res.zero, nil) {
		for _, readers := range []*shadow{p.op.reads, p.op.updated} {
			for _, r := range p.rec.ranges(readers) {
				lo, hi := max(z.Start+p.shift, r.Start), min(z.End+p.shift, r.End)
				if lo < hi {
					return &Witness{Byte: lo - p.shift, Zeroed: true, Reader: *p.rec.someAccess(lo, readers)}
				}
			}
		}
	}
	return nil
}

// scan goes through the lines that a shadow of the result writes.
func (p *pair) scan(writers *shadow) *Witness {
	var out *Witness
	writers.each(&p.rec.r, func(line, n int64, cell uint32) bool {
		for end := line + n; line < end && out == nil; line++ {
			if out = p.line(cell, line); n > 1 && p.shift == 0 && p.settled(cell, line) {
				break
			}
		}
		return out == nil
	})
	return out
}

// settled says that what was found of one line of a KiB, which one event writes,
// holds for the KiB: nobody reads it, or an event that is ordered wherever the
// two meet.
func (p *pair) settled(cell uint32, line int64) bool {
	for _, readers := range []*shadow{p.op.reads, p.op.updated} {
		if w := readers.word(line); w != 0 && (w&flagBits != 0 || w != p.lastR || cell != p.lastW) {
			return false
		}
	}
	return true
}

// line checks one line of the result against the one or two of the operand
// that it would share.
func (p *pair) line(cell uint32, line int64) *Witness {
	start := line<<6 + p.shift // in the operand
	first := start >> 6
	var best *Witness
	for _, readers := range []*shadow{p.op.reads, p.op.updated} {
		if !readers.any {
			continue
		}
		for k := first; k<<6 < start+64; k++ {
			rc := readers.cell(&p.rec.r, k)
			if rc == 0 || rc == p.lastR && cell == p.lastW {
				continue
			}
			if w := p.cells(rc, k, cell, line, int(k<<6-start)); w != nil {
				best = earlier(best, w)
			}
		}
	}
	return best
}

// cells compares what two cells hold. by is the bit in the result's line of
// the reader's first byte.
func (p *pair) cells(rc uint32, rl int64, wc uint32, wl int64, by int) *Witness {
	threads := p.rec.s.threads
	var best *Witness
	whole := rc&flagBits == 0 && wc&flagBits == 0
	p.rec.r.parts(wc, wl, func(w part) {
		p.rec.r.parts(rc, rl, func(r part) {
			both := shiftMask(w.entry.mask, -by) & r.entry.mask // in the reader's line
			if both == 0 || p.apart && r.cluster == w.cluster {
				return
			}
			bad := both &^ orderedBytes(threads, r, w, rl, wl, by, both, p.shift)
			bad = p.writtenFirst(r, w, rl, wl, bad)
			if bad == 0 {
				if whole && p.ordersAll(r, w) {
					p.lastR, p.lastW = rc, wc
				}
				return
			}
			i := bits.TrailingZeros64(bad)
			at := wl<<6 + int64(i+by)
			if best == nil || at <= best.Byte {
				best = earlier(best, p.describe(r, w, rl, wl, i, by, at))
			}
		})
	})
	return best
}

// earlier chooses between witnesses, the same whatever order they are found in.
func earlier(a, b *Witness) *Witness {
	switch {
	case a == nil || b.Byte < a.Byte:
		return b
	case b.Byte > a.Byte:
		return a
	}
	if c := compareAccess(b.Reader, a.Reader); c < 0 || c == 0 && compareAccess(b.Writer, a.Writer) < 0 {
		return b
	}
	return a
}

func shiftMask(m uint64, by int) uint64 {
	if by >= 0 {
		return m << by
	}
	return m >> -by
}

// ordersAll says that two events are ordered wherever they meet.
func (p *pair) ordersAll(r, w part) bool {
	return r.cluster == w.cluster && r.rank == w.rank && r.async == 0 && (r.seq <= w.sync.epoch || r.seq < w.seq && sameThreads(r.event, w.event, p.shift))
}

// describe finds two threads whose accesses to a byte are not ordered.
func (p *pair) describe(r, w part, rl, wl int64, i, by int, at int64) *Witness {
	out := &Witness{Byte: at}
	r.threadsOn(rl, i, func(tr int) bool {
		return w.threadsOn(wl, i+by, func(tw int) bool {
			if r.cluster == w.cluster && (happens(p.rec.s.threads, r.event, tr, w.event, tw) || p.one && happens(p.rec.s.threads, w.event, tw, r.event, tr)) {
				return true
			}
			out.Reader, out.Writer = p.rec.access(r.event, tr, at+p.shift), p.rec.access(w.event, tw, at)
			return false
		})
	})
	return out
}
