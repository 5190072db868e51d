package ptx

import "math/bits"

// part is what one event did to a line.
type part struct {
	event
	entry entry
}

// before gives the bytes of mask whose every touch in a is ordered before every touch in b.
func (r *recorder) before(a, b part, line int64, mask uint64) uint64 {
	if out, ok := orderedAtOnce(a, b, mask, 0); ok {
		return out
	}
	out, tries := orderedByThread(r.m.threads, a, b, line, line, 0, mask)
	r.m.charge(tryCost * tries)
	return out
}

// tryCost is what it takes to hold two threads against each other, in steps.
const tryCost = 16

// orderedBytes is before for lines of two buffers: bit i of a's line la is bit
// i+shift of b's line lb, and byte i of b's buffer is byte i+delta of a's.
func orderedBytes(threads int, a, b part, la, lb int64, shift int, mask uint64, delta int64) uint64 {
	if out, ok := orderedAtOnce(a, b, mask, delta); ok {
		return out
	}
	out, _ := orderedByThread(threads, a, b, la, lb, shift, mask)
	return out
}

// orderedAtOnce is orderedBytes where that holds for all bytes, or for none.
func orderedAtOnce(a, b part, mask uint64, delta int64) (out uint64, ok bool) {
	if a.cluster != b.cluster {
		return 0, true
	}
	if a.rank == b.rank && a.async == 0 {
		if a.seq <= b.sync.epoch {
			return mask, true
		}
		if a.entry.thread == anyThread && b.entry.thread == anyThread && a.seq < b.seq && sameThreads(a.event, b.event, delta) {
			return mask, true
		}
	}
	return 0, false
}

// orderedByThread is orderedBytes byte by byte; it says how many threads it tried.
func orderedByThread(threads int, a, b part, la, lb int64, shift int, mask uint64) (out uint64, tries int64) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		ok := a.threadsOn(la, i, func(ta int) bool {
			return b.threadsOn(lb, i+shift, func(tb int) bool {
				tries++
				return happens(threads, a.event, ta, b.event, tb)
			})
		})
		if ok {
			out |= 1 << i
		}
	}
	return out, tries
}

// threadsOn calls f for each thread that touches byte i of the line.
func (p *part) threadsOn(line int64, i int, f func(t int) bool) bool {
	switch {
	case p.entry.thread != anyThread:
		return f(p.entry.threadAt(i))
	case p.placed == nil:
		return f(p.event.threadAt(line<<6 + int64(i) - p.base))
	}
	return p.placed.threadsAt(line<<6+int64(i)-p.base, f)
}

// happens says that thread ta's part of a is ordered before thread tb's part of b.
// Threads are numbered in their block.
func happens(threads int, a event, ta int, b event, tb int) bool {
	k := b.sync.clockOf(tb)
	if a.async != 0 {
		return a.async != asyncNever && k != nil && int(a.async-1) < len(k.phases) && k.phases[a.async-1] > a.phase
	}
	if a.rank == b.rank {
		if ta == tb {
			return a.seq < b.seq
		}
		if a.seq <= b.sync.epoch || ta>>5 == tb>>5 && a.seq <= b.sync.warp(tb>>5) {
			return true
		}
	} else if a.seq <= b.sync.cluster {
		return true
	}
	n := int(a.rank)*threads + ta
	return k != nil && n < len(k.threads) && k.threads[n] >= a.seq
}

// sameThreads says that two events of one block touch their bytes by the same
// threads, byte for byte: one thread's program order orders them.
func sameThreads(a, b event, delta int64) bool {
	if a.rank != b.rank || a.cluster != b.cluster {
		return false
	}
	if a.placed == nil || b.placed == nil {
		return a.placed == nil && b.placed == nil && a.alike(b.stored, delta)
	}
	if a.placed.t == nil || b.placed.t == nil {
		return a.placed.t == b.placed.t && a.placed.mask.n == 1 && b.placed.mask.n == 1 && a.placed.mask.list[0] == b.placed.mask.list[0] ||
			a.placed.t == nil && b.placed.t == nil && a.placed.mask.equal(b.placed.mask) && a.orig == b.orig && a.placed.mask.n == 1
	}
	return a.base == b.base+delta && a.placed.t == b.placed.t && a.placed.size == b.placed.size && a.placed.mask.equal(b.placed.mask) && a.placed.exclusive()
}

// exclusive says that no two threads touch the same byte.
func (sh *shape) exclusive() bool {
	if sh.tight {
		return true
	}
	for i := 1; i < len(sh.offs); i++ {
		if sh.offs[i] < sh.offs[i-1]+sh.size {
			return false
		}
	}
	return true
}
