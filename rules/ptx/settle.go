package ptx

import "math/bits"

// settling is one access that comes to a chain.
type settling struct {
	now     part
	mask    uint64 // bytes of now that are to be kept
	line    int64
	foreign bool // recorded by another worker
	count   int  // entries looked at
	met     int  // parts of the same bytes
	near    neighbours
}

// settle removes what a new access makes needless, from the chain or from its
// own mask, which it returns. Of an access that another worker recorded, foreign,
// nothing of the chain is ordered before it or after.
func (r *recorder) settle(t *shadow, cell *uint32, line int64, now part, foreign bool) uint64 {
	c := &r.settling
	c.now, c.mask, c.line, c.foreign, c.count, c.met, c.near.n, c.near.top = now, now.entry.mask, line, foreign, 0, 0, 0, 0
	prev := (*entry)(nil)
	for i := *cell & indexBits; ; {
		en := r.entries.get(i)
		next := en.next
		c.count++
		if en.mask&c.mask != 0 {
			if en.how == inOwnerLine {
				r.meetOwners(t, c, en)
			} else {
				en.mask &^= r.meet(t, c, part{r.event(en.ev - 1), *en})
			}
		}
		if en.mask == 0 && (prev != nil || next != 0) {
			if prev == nil {
				*cell = chainFlag | (next - 1)
				r.entries.get(next - 1).all |= en.all
			} else {
				prev.next = next
			}
			if en.how == inOwnerLine {
				r.freeOwnerLine(en.ev)
			}
			r.freeEntry(i)
		} else {
			prev = en
		}
		if next == 0 || c.mask == 0 {
			break
		}
		i = next - 1
	}
	if c.near.n > 1 {
		r.limit(t, cell, c)
	}
	if c.count > longChain {
		r.m.charge(int64(c.count))
	}
	if c.met > maxDepth || c.count > maxChain {
		r.m.crowded.Store(true)
		return 0
	}
	return c.mask
}

// meetOwners is meet for the owners of an owner line, of which it takes whole elements only.
func (r *recorder) meetOwners(t *shadow, c *settling, en *entry) {
	sh := r.ownerLines.get(en.ev)
	for b := (en.mask&c.mask | (en.mask&c.mask)>>1 | (en.mask&c.mask)>>2 | (en.mask&c.mask)>>3) & 0x1111111111111111; b != 0; {
		k := bits.TrailingZeros64(b) / 4
		o, element := sh.owner[k], elementMask<<(4*k)
		for n := k + 1; n < lineElements && sh.owner[n] == o && b>>(4*n)&1 != 0; n++ {
			element |= elementMask << (4 * n)
		}
		b &^= element
		if element&c.mask == 0 {
			continue
		}
		gone := r.meet(t, c, r.part(o, element))
		gone = gone & (gone >> 1) & (gone >> 2) & (gone >> 3) & 0x1111111111111111 * elementMask
		if gone != 0 {
			sh.set(gone, 0)
			en.mask &^= gone
		}
	}
}

// meet says which bytes of an older part an access makes needless, or takes
// from the access what the older part makes needless.
func (r *recorder) meet(t *shadow, c *settling, old part) uint64 {
	both := old.entry.mask & c.mask
	c.met++
	if old.cluster != c.now.cluster {
		c.near.add(old.cluster, both)
		return 0
	}
	if c.foreign {
		return 0
	}
	now := c.now
	now.entry.mask = c.mask
	done := r.soon(old, now, c.line, both, c.count)
	if t.last {
		return done
	}
	c.mask &^= done
	return 0
}

// limit leaves to each byte the two smallest clusters.
func (r *recorder) limit(t *shadow, cell *uint32, c *settling) {
	twice := c.near.twice(c.now.cluster)
	if c.mask &^= twice; twice == ^uint64(0) {
		r.entries.get(*cell & indexBits).bound = c.near.top + 1
	}
	if c.near.top > c.now.cluster && c.mask != 0 {
		r.trim(cell, c.line, c.mask, c.now.cluster)
	}
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

// maxNeighbours is as many as a line keeps: two clusters a byte.
const maxNeighbours = 128

// neighbours are the other clusters that touch a line's bytes.
type neighbours struct {
	cluster [maxNeighbours]uint32
	mask    [maxNeighbours]uint64
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
func (r *recorder) trim(cell *uint32, line int64, mask uint64, c uint32) {
	whole := elements(mask)
	r.parts(*cell, line, func(p part) { whole = whole && elements(p.entry.mask) })
	for mask != 0 {
		unit := mask & -mask
		if whole {
			unit *= elementMask
		}
		mask &^= unit
		lo, second := c, ^uint32(0)
		r.partsOf(*cell, line, unit, func(p part) {
			if p.entry.mask&unit == 0 || p.cluster == lo {
				return
			}
			if p.cluster < lo {
				lo, second = p.cluster, lo
			} else if p.cluster < second {
				second = p.cluster
			}
		})
		for i := *cell & indexBits; ; {
			en := r.entries.get(i)
			r.cut(cell, en, unit, second)
			if en.next == 0 {
				break
			}
			i = en.next - 1
		}
	}
}

// cut takes bytes from parts of clusters above the second.
func (r *recorder) cut(cell *uint32, en *entry, unit uint64, second uint32) {
	if en.mask&unit == 0 {
		return
	}
	if en.how != inOwnerLine {
		if r.event(en.ev-1).cluster > second {
			en.mask &^= unit
		}
		return
	}
	first := bits.TrailingZeros64(unit) / 4
	sh := r.ownerLines.get(en.ev)
	element := elementMask << (4 * first)
	p := r.part(sh.owner[first], element)
	if p.cluster <= second {
		return
	}
	r.take(en, element)
	if rest := p.entry; element != unit {
		rest.mask = element &^ unit
		r.push(cell, rest)
	}
}
