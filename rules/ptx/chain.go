package ptx

// merge adds to a line that has accesses already; false when it changes nothing.
func (r *recorder) merge(t *table, cell *uint32, line int64, e event, id uint32, en entry) bool {
	mask := en.mask
	if *cell&(chainFlag|fullFlag) == chainFlag|fullFlag && e.cluster >= r.entries.a.get(*cell&indexBits).bound {
		return false
	}
	if *cell != 0 && *cell&chainFlag == 0 {
		old := r.event(*cell - 1)
		om := old.lineMask(line)
		if old.cluster == e.cluster && en.thread == anyThread && old.async == 0 &&
			(old.rank == e.rank && old.seq <= e.sync.epoch || om == mask && sameThreads(old, e, 0)) {
			if t.last && om&^mask == 0 {
				*cell = id + 1
				return true
			}
			if !t.last && mask&^om == 0 {
				return false
			}
		}
		if !r.push(cell, entry{mask: om, ev: *cell, thread: anyThread}, true) {
			return false
		}
	}
	en.ev = id + 1
	if *cell != 0 && r.entries.a.get(*cell&indexBits).all&mask != 0 {
		if en.mask = r.settle(t, cell, line, e, en); en.mask == 0 {
			return false
		}
	}
	return r.push(cell, en, *cell == 0)
}

// push puts an entry at the head of a chain, or makes the chain.
func (r *recorder) push(cell *uint32, en entry, first bool) bool {
	var i uint32
	var x *entry
	if r.free != 0 {
		i = r.free - 1
		x = r.entries.a.get(i)
		r.free = x.next
	} else {
		var ok bool
		if i, x, ok = r.entries.alloc(); !ok {
			r.m.stop("the record of accesses is full")
			return false
		}
		r.m.memory(entryBytes)
	}
	en.all = en.mask
	if !first && *cell&chainFlag != 0 {
		en.next = *cell&indexBits + 1
		en.all |= r.entries.a.get(*cell & indexBits).all
	}
	*x = en
	*cell = chainFlag | i
	return true
}

// settle removes what a new access makes needless, from the chain or from its
// own mask, which it returns.
func (r *recorder) settle(t *table, cell *uint32, line int64, e event, add entry) uint64 {
	mask := add.mask
	now := part{e, add}
	var near neighbours
	prev := (*entry)(nil)
	count := 0
	for i := *cell & indexBits; ; {
		en := r.entries.a.get(i)
		next := en.next
		count++
		old := r.event(en.ev - 1)
		if both := en.mask & mask; both != 0 {
			switch {
			case old.cluster != e.cluster:
				near.add(old.cluster, both)
			case t.last:
				en.mask &^= r.soon(part{old, *en}, now, line, both, count)
			default:
				mask &^= r.soon(part{old, *en}, now, line, both, count)
				now.entry.mask = mask
			}
		}
		if en.mask == 0 && (prev != nil || next != 0) {
			if prev == nil {
				*cell = chainFlag | (next - 1)
				r.entries.a.get(next - 1).all |= en.all
			} else {
				prev.next = next
			}
			en.next, r.free = r.free, i+1
		} else {
			prev = en
		}
		if next == 0 || mask == 0 {
			break
		}
		i = next - 1
	}
	if near.n > 1 {
		twice := near.twice(e.cluster)
		if mask &^= twice; twice == ^uint64(0) {
			r.entries.a.get(*cell & indexBits).bound = near.top + 1
			*cell |= fullFlag
		}
	}
	if near.n > 1 && near.top > e.cluster && mask != 0 {
		r.trim(cell, mask, e.cluster)
	}
	if count > maxChain {
		r.m.crowded.Store(true)
		return 0
	}
	return mask
}

// soon is before where that is quickly known, or where the chain is long.
func (r *recorder) soon(a, b part, line int64, mask uint64, count int) uint64 {
	if a.rank == b.rank && a.async == 0 {
		if a.seq <= b.sync.epoch {
			return mask
		}
		if a.entry.thread == anyThread && b.entry.thread == anyThread && sameThreads(a.event, b.event, 0) {
			return mask
		}
	}
	if count < 6 && (a.entry.thread == anyThread || b.entry.thread == anyThread) {
		return 0
	}
	return r.before(a, b, line, mask)
}

// neighbours are the other clusters that touch a line's bytes.
type neighbours struct {
	cluster [12]uint32
	mask    [12]uint64
	n       int
	top     uint32
}

func (n *neighbours) add(c uint32, mask uint64) {
	for i := 0; i < n.n; i++ {
		if n.cluster[i] == c {
			n.mask[i] |= mask
			return
		}
	}
	n.top = max(n.top, c)
	if n.n < len(n.cluster) {
		n.cluster[n.n], n.mask[n.n] = c, mask
		n.n++
		return
	}
	// No room: bytes that two have already do not need a third. Fold the rest.
	n.mask[len(n.mask)-1] |= mask &^ n.twice(^uint32(0))
}

// twice gives the bytes that two clusters smaller than c touch.
func (n *neighbours) twice(c uint32) uint64 {
	once, two := uint64(0), uint64(0)
	for i := 0; i < n.n; i++ {
		if n.cluster[i] < c {
			two |= once & n.mask[i]
			once |= n.mask[i]
		}
	}
	return two
}

// trim takes bytes from clusters above c that are no longer among the two
// smallest once c is added.
func (r *recorder) trim(cell *uint32, mask uint64, c uint32) {
	for b := mask; b != 0; b &= b - 1 {
		bit := b & -b
		lo := c
		second := ^uint32(0)
		r.each(*cell, func(en *entry, ev event) bool {
			if en.mask&bit != 0 && ev.cluster != lo {
				if ev.cluster < lo {
					lo, second = ev.cluster, lo
				} else if ev.cluster < second {
					second = ev.cluster
				}
			}
			return true
		})
		r.each(*cell, func(en *entry, ev event) bool {
			if en.mask&bit != 0 && ev.cluster > second {
				en.mask &^= bit
			}
			return true
		})
	}
}

func (r *recorder) each(cell uint32, f func(en *entry, ev event) bool) {
	for i := cell & indexBits; ; {
		en := r.entries.a.get(i)
		if !f(en, r.event(en.ev-1)) || en.next == 0 {
			return
		}
		i = en.next - 1
	}
}
