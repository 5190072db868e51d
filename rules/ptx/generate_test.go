package ptx

import (
	"encoding/binary"
	"math/rand/v2"
)

// generator makes kernels from random numbers.
type generator struct {
	*rand.Rand
	k    *gKernel
	left int // statements that may still be made
	work int // thread-accesses that may still be made
}

// gScope is where statements stand: who gets there.
type gScope struct {
	lo, hi  int    // warps
	whole   bool   // all lanes of them
	lanes   uint32 // the lanes of every warp, where known; 0 unknown
	ctas    bool   // all blocks
	loops   []int  // counters in use
	repeats int
	depth   int
}

func generateKernel(seed uint64) *gKernel {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)), left: 24, work: 12000}
	k := &gKernel{mapBuf: 0, nextBar: 1}
	g.k = k
	k.grid, k.cluster = [3]uint32{1 + g.Uint32N(4), 1, 1}, [3]uint32{1, 1, 1}
	switch g.IntN(8) {
	case 0:
		k.cluster[0] = 2
		k.grid[0] = 2 + 2*g.Uint32N(2)
	case 1:
		k.grid[1] = 2
	}
	shapes := [][3]uint32{{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {128, 1, 1}, {16, 4, 1}, {8, 4, 2}, {48, 1, 1}, {64, 1, 1}}
	k.block = shapes[g.IntN(len(shapes))]
	order := g.Perm(gMapSize)
	numbers := make([]byte, 4*gMapSize)
	for i, n := range order {
		binary.LittleEndian.PutUint32(numbers[4*i:], uint32(n))
	}
	k.bufs = []gBuf{{contents: numbers}}
	for range 3 {
		b := gBuf{contents: make([]byte, 256<<g.IntN(4))}
		for i := range b.contents {
			b.contents[i] = byte(g.Uint32())
		}
		if g.IntN(8) == 0 {
			b.zero = 1 + g.IntN(len(b.contents))
		}
		k.bufs = append(k.bufs, b)
	}
	k.out = len(k.bufs)
	k.bufs = append(k.bufs, gBuf{contents: make([]byte, 4*k.threads()*k.blocks())})
	top := gScope{lo: 0, hi: (k.threads() + 31) / 32, whole: true, ctas: true}
	if k.threads()%32 == 0 {
		top.lanes = ^uint32(0)
	}
	k.body = g.block(top, 3+g.IntN(8))
	return k
}

func (g *generator) block(sc gScope, n int) []gStmt {
	var out []gStmt
	for range n {
		if g.left <= 0 {
			break
		}
		g.left--
		out = append(out, g.stmt(sc)...)
	}
	return out
}

func (g *generator) stmt(sc gScope) []gStmt {
	switch r := g.IntN(22); {
	case r == 21:
		return g.wait(sc)
	case r == 20:
		g.k.parts = true
		return []gStmt{{kind: gIdle, form: g.IntN(4), n: 1 << g.IntN(6)}}
	case r < 9:
		return g.access(sc)
	case r < 11 && sc.depth < 3:
		return g.branch(sc)
	case r < 13 && len(sc.loops) < 2 && sc.depth < 3:
		return g.loop(sc)
	case r < 16:
		return g.barrier(sc)
	case r < 18:
		return g.warp(sc)
	case r < 19:
		return g.copy(sc)
	}
	return g.access(sc)
}

func (g *generator) cond(sc gScope) gCond {
	c := gCond{not: g.IntN(3) == 0}
	switch g.IntN(8) {
	case 7:
		c.what, c.k = onMask, int(g.Uint32())
	case 0:
		c.what, c.k = onTid, g.IntN(g.k.threads()+1)
	case 1:
		c.what, c.k = onLane, 1+g.IntN(32)
	case 2:
		c.what, c.k = onLaneBit, g.IntN(5)
	case 3, 4:
		c.what, c.k = onWarp, sc.lo+g.IntN(sc.hi-sc.lo+1)
	case 5:
		c.what, c.k = onCta, g.IntN(g.k.blocks())
	case 6:
		if len(sc.loops) == 0 {
			c.what, c.k = onWarp, sc.lo+1
			break
		}
		c.what, c.k, c.loop = onIter, g.IntN(4), sc.loops[g.IntN(len(sc.loops))]
	}
	return c
}

// narrow gives the scope of the threads of sc for which c holds; ok is false where there are none.
func (sc gScope) narrow(c gCond, not bool) (gScope, bool) {
	not = not != c.not
	sc.depth++
	switch c.what {
	case onTid:
		sc.whole, sc.lanes = false, 0
	case onLane, onLaneBit, onMask:
		m := uint32(0)
		for lane := range 32 {
			if (&gCond{what: c.what, k: c.k, not: not}).holds(&gPlace{tid: lane}) {
				m |= 1 << lane
			}
		}
		sc.whole = false
		sc.lanes &= m
		return sc, m != 0
	case onWarp:
		if not {
			sc.lo = max(sc.lo, c.k)
		} else {
			sc.hi = min(sc.hi, c.k)
		}
		return sc, sc.lo < sc.hi
	case onCta:
		sc.ctas = false
	}
	return sc, true
}

func (g *generator) branch(sc gScope) []gStmt {
	s := gStmt{kind: gBranch, cond: g.cond(sc)}
	if in, ok := sc.narrow(s.cond, false); ok {
		s.body = g.block(in, 1+g.IntN(4))
	}
	if in, ok := sc.narrow(s.cond, true); ok && g.IntN(2) == 0 {
		s.other = g.block(in, 1+g.IntN(4))
	}
	return []gStmt{s}
}

func (g *generator) loop(sc gScope) []gStmt {
	s := gStmt{kind: gLoop, n: 1 + g.IntN(4), loop: g.k.loops}
	if g.k.loops >= len(gPlace{}.iters) {
		return g.access(sc)
	}
	g.k.loops++
	sc.loops = append(append([]int(nil), sc.loops...), s.loop)
	sc.repeats = max(sc.repeats, 1) * s.n
	sc.depth++
	s.body = g.block(sc, 1+g.IntN(4))
	return []gStmt{s}
}

// index makes an index below count, a power of two.
func (g *generator) index(sc gScope, count int) gIndex {
	n := g.k.threads()
	x := gIndex{tid: 1, cta: n, mask: uint32(count - 1)}
	switch g.IntN(6) {
	case 0:
		x.tid = []int{0, 2, 3, 5, -1, 7}[g.IntN(6)]
	case 1:
		x.cta = g.IntN(2)
	case 2:
		x.add = g.IntN(64)
	}
	if len(sc.loops) > 0 && g.IntN(2) == 0 {
		x.loop = sc.loops[g.IntN(len(sc.loops))]
		x.it = []int{1, n, 8, n * g.k.blocks()}[g.IntN(4)]
	}
	switch g.IntN(9) {
	case 0:
		x.how, x.k = ixXor, uint32(1+g.IntN(31))
	case 1:
		x.how, x.k = ixReverse, uint32(count-1)
	case 2:
		x.how = ixHash
	case 3:
		x.how = ixGather
	case 4:
		x.how, x.k = ixShift, uint32(1+g.IntN(3))
	case 7:
		if count >= 4*gRow {
			x.how = ixRows
		}
	}
	if x.how == ixAffine && x.tid >= 0 {
		most := x.tid*(n-1) + x.cta*(g.k.blocks()-1) + x.it*3 + x.add
		x.bare = most < count
	}
	return x
}

func (g *generator) access(sc gScope) []gStmt {
	cost := g.k.threads() * g.k.blocks() * max(sc.repeats, 1)
	if g.work < cost {
		return nil
	}
	g.work -= cost
	s := gStmt{kind: gAccess, dir: reads, generic: g.IntN(4) == 0, form: g.IntN(4)}
	s.size = []int{1, 2, 4, 4, 4, 8}[g.IntN(6)]
	s.vec = []int{1, 1, 1, 2, 4}[g.IntN(5)]
	for s.size*s.vec > 16 {
		s.vec /= 2
	}
	switch g.IntN(5) {
	case 0, 1:
		s.dir = writes
	case 2:
		if g.IntN(3) == 0 {
			s.dir, s.vec, s.size = updates, 1, 4<<g.IntN(2)
		}
	}
	s.buf = 1 + g.IntN(g.k.out-1)
	bytes := len(g.k.bufs[s.buf].contents)
	if g.IntN(8) == 0 {
		s.buf, bytes = gShared, gSharedSize
	}
	s.place(g, sc, bytes)
	if g.IntN(4) == 0 {
		c := g.cond(sc)
		s.guard = &c
	}
	return []gStmt{s}
}

// place chooses an index such that the access stays within the buffer.
func (s *gStmt) place(g *generator, sc gScope, bytes int) {
	count := bytes / (s.size * s.vec)
	if g.IntN(4) == 0 && count >= 4 {
		s.base = bytes / 2
		count /= 2
	}
	s.index = g.index(sc, count)
}
