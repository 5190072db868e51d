package ptx

import "math/bits"

// maxBulk bounds the bytes of one bulk copy: shared memory is not larger.
const maxBulk = 1 << 20

// runBulk executes cp.async.bulk and its tensor forms, thread after thread.
// The bytes move at once; the read of global memory lasts until the mbarrier's
// phase, a write of global memory may happen from here on.
func runBulk(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m := s.m
	for _, slot := range c.src {
		if t := s.r[slot].taint; t != 0 {
			m.useAddress(t, c, false)
		}
	}
	if m.stopped.Load() {
		return
	}
	for _, i := range mask.list {
		x := &bulk{s: s, c: c, op: c.bulk, thread: i}
		if c.bulk.tensor > 0 {
			x.tensor()
		} else {
			x.plain()
		}
		if m.stopped.Load() {
			return
		}
	}
	s.b.cl.version++
}

// bulk is one thread's bulk copy.
type bulk struct {
	s      *threadGroup
	c      *code
	op     *bulkOp
	thread int32
	async  uint16
	phase  uint32
}

func (x *bulk) value(slot int32) uint64 {
	return x.s.r[slot].at(int(x.thread), widthMask(x.s.m.p.slots[slot].bits))
}

func (x *bulk) address(a operandAt) uint64 { return x.value(a.slot) + a.off }

// shared gives the place of an address in shared memory, which must hold n bytes.
func (x *bulk) shared(a uint64, n int64, write bool) (*block, int64, bool) {
	m := x.s.m
	b, off := x.s.b.sharedBlock(uint32(a))
	if b == nil || off < 0 || off+n > m.shared {
		t := touch{s: x.s, c: x.c, space: spaceShared}
		m.stray(&t, x.thread, a, n, write)
		return nil, 0, false
	}
	if b.copies.outstanding() > 0 {
		t := touch{s: x.s, c: x.c, space: spaceShared}
		b.copies.use(&t, b, int(x.thread), off, n, write)
	}
	x.outstanding(b, off, n, write)
	return b, off, true
}

// targets gives the blocks that a copy to shared memory goes to.
func (x *bulk) targets(first *block) []*block {
	if !x.op.multicast {
		return []*block{first}
	}
	var out []*block
	for w := x.value(x.op.mask) & 0xffff; w != 0; w &= w - 1 {
		if r := bits.TrailingZeros64(w); r < len(first.cl.blocks) {
			out = append(out, first.cl.blocks[r])
		}
	}
	return out
}

// prepare finds the mbarrier, whose phase ends the read.
func (x *bulk) prepare() *mbar {
	mb := x.s.mbarAt(x.c, x.address(x.op.mbar)&0xffffffff, false)
	if mb != nil {
		x.async, x.phase = uint16(mb.id+1), mb.phase
	}
	return mb
}

// complete tells the mbarriers of the blocks that n bytes have arrived.
func (x *bulk) complete(to []*block, n int64) {
	a := uint32(x.address(x.op.mbar))
	_, off := x.s.b.sharedBlock(a)
	for _, b := range to {
		k := mbarKey{b.rank, off}
		if !x.op.multicast {
			own, o := x.s.b.sharedBlock(a)
			k = mbarKey{own.rank, o}
		}
		if mb := b.cl.mbars[k]; mb != nil {
			mb.tx -= n
			mb.advance(b.cl)
		}
	}
}

// global records n bytes of global memory from an address; nil where they lie outside.
func (x *bulk) global(d direction, a uint64, n int64) (*gbuf, int64) {
	m := x.s.m
	g := m.find(a)
	if g == nil || int64(a-g.base)+n > g.size {
		t := touch{s: x.s, c: x.c, space: spaceGlobal}
		m.stray(&t, x.thread, a, n, d != reads)
		return nil, 0
	}
	off := int64(a - g.base)
	if g.silent {
		return g, off
	}
	b := x.s.b
	m.unhold()
	b.cl.seq++
	st := stored{cluster: b.cl.number, seq: b.cl.seq, orig: x.c.orig, rank: uint16(b.rank), thread: x.thread, base: off, size: uint32(n)}
	if d == reads {
		st.async, st.phase = x.async, x.phase
	}
	m.note(g, d, m.inContext(x.c, &st, nil, b.snapshot(), nil))
	return g, off
}

// fetch moves bytes from global to shared memory, swizzled, where they are needed.
func (x *bulk) fetch(g *gbuf, off int64, to []*block, at, n int64, sw func(int64) int64) {
	if !x.op.keep {
		return
	}
	m := x.s.m
	t := touch{s: x.s, c: x.c}
	if g != nil {
		g.noteLoad(&t)
	}
	for i := int64(0); i < n; {
		k := min(n-i, 8-(at+i)&7)
		v, tt := uint64(0), taint(0)
		if g != nil {
			v, tt = g.load(m, off+i, int(k))
		}
		for _, b := range to {
			b.shared.store(m, sw(at+i), int(k), v, tt)
		}
		i += k
	}
}

// flush moves bytes from shared to global memory.
func (x *bulk) flush(b *block, at int64, g *gbuf, off, n int64, sw func(int64) int64) {
	m := x.s.m
	if !x.op.keep {
		g.drop(m)
		return
	}
	for i := int64(0); i < n; {
		k := min(n-i, 8-(at+i)&7)
		v, tt := b.shared.load(m, sw(at+i), int(k))
		if x.op.reduce {
			v, tt = 0, tt|taintOpaque|bufferTaint(g.index)
		}
		g.store(m, off+i, int(k), v, tt)
		i += k
	}
}

func straight(a int64) int64 { return a }

func (x *bulk) direction() direction {
	if x.op.reduce {
		return updates
	}
	return writes
}

// plain is a copy of neighbouring bytes.
func (x *bulk) plain() {
	m := x.s.m
	n := int64(x.value(x.op.size) & 0xffffffff)
	if n > maxBulk {
		m.stopAt(x.c.in, "%d bytes at once", n)
		return
	}
	if n == 0 {
		return
	}
	switch {
	case x.op.toShared && x.op.fromShare:
		from, at, ok := x.shared(x.address(x.op.src), n, false)
		to, dst, ok2 := x.shared(x.address(x.op.dst), n, true)
		if ok && ok2 {
			for i := int64(0); i < n && x.op.keep; i++ {
				v, tt := from.shared.load(m, at+i, 1)
				to.shared.store(m, dst+i, 1, v, tt)
			}
			x.complete([]*block{to}, n)
		}
	case x.op.toShared:
		if x.prepare() == nil {
			return
		}
		first, at, ok := x.shared(x.address(x.op.dst), n, true)
		g, off := x.global(reads, x.address(x.op.src), n)
		if ok {
			to := x.targets(first)
			for _, b := range to {
				x.takeOff(b, at, n, true)
			}
			x.fetch(g, off, to, at, n, straight)
			x.complete(to, n)
		}
	default:
		from, at, ok := x.shared(x.address(x.op.src), n, false)
		g, off := x.global(x.direction(), x.address(x.op.dst), n)
		if ok && g != nil {
			x.takeOff(from, at, n, false)
			x.flush(from, at, g, off, n, straight)
		}
	}
}
