package ptx

// OneBuffer says whether a kernel may read and write one buffer through one pointer, as
// a kernel does that works in place on purpose: whether each read of a byte and each
// write of it are ordered, whichever comes first. What a thread reads of its own writes
// is what it wants. Where other threads read a byte again after it was written, reads of
// it before that are not all in the record, and nothing is said.
func (o *Outcome) OneBuffer(buffer int) Verdict {
	v := o.InPlace(buffer, buffer, 0)
	if v.Safety != Unsafe {
		return v
	}
	rec := o.record
	p := pair{rec: rec, op: rec.s.bufs[buffer], res: rec.s.bufs[buffer], one: true}
	var best *Witness
	for _, writers := range []*shadow{p.res.writes, p.res.atomics} {
		if w := p.scan(writers); w != nil {
			best = earlier(best, w)
		}
	}
	switch {
	case best != nil:
		return Verdict{Safety: Unsafe, Witness: best, Reason: p.reason(best)}
	case rec.s.crowded.Load():
		return Verdict{Reason: "a byte is touched by too many accesses without an order"}
	case p.again:
		return Verdict{Reason: "threads read bytes again that others have written: reads before that are not told apart"}
	}
	return Verdict{Safety: Safe}
}

// writtenFirst takes from bad, bytes of a line that are read not before they are written,
// those that are written before they are read.
func (p *pair) writtenFirst(r, w part, rl, wl int64, bad uint64) uint64 {
	if !p.one || bad == 0 {
		return bad
	}
	left := bad &^ orderedBytes(p.rec.s.threads, w, r, wl, rl, 0, bad, 0)
	if left != bad && !sameThreads(w.event, r.event, 0) {
		p.again = true
	}
	return left
}
