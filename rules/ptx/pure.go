package ptx

// scalar computes one thread's result of an instruction without side effects.
type scalar func(c *code, a, b, d, e uint64) uint64

// algebra names the instructions that have rules for values of the form u + t.
type algebra uint8

const (
	algNone algebra = iota
	algMov
	algAdd
	algSub
	algMul  // low half
	algWide // widening multiply
	algMad  // low half
	algMadWide
	algShl
	algShr
	algAnd
	algOr
	algXor
	algNeg
	algCvt // between integers
	algCmp
	algDiv
	algRem
	algSelect
)

// memo remembers the offsets that an instruction gave for equal sources.
type memo struct {
	u   [4]uint64
	t   [4]*offsets
	out *offsets
	ok  bool
}

const memoSize = 4

// runPure executes an instruction without side effects for a group of threads.
func runPure(s *threadGroup, c *code) {
	if c.guard >= 0 {
		runGuarded(s, c)
		return
	}
	evalPure(s, c, &s.r[c.dst])
}

// evalPure computes into dst, which may be one of the sources.
func evalPure(s *threadGroup, c *code, dst *value) {
	if evalUniform(s.r, c, dst) {
		return
	}
	var x [4]*value
	kinds, tt := uniform, taint(0)
	for i, slot := range c.src {
		v := &s.r[slot]
		x[i] = v
		tt |= v.taint
		if v.kind > kinds {
			kinds = v.kind
		}
	}
	for i := len(c.src); i < 4; i++ {
		x[i] = &s.m.zero
	}
	if kinds == thread {
		if c.alg != algNone && linear(s.m, c, &x, dst, tt) {
			return
		}
		if evalThread(s.m, c, &x, dst, tt) {
			return
		}
	}
	evalVector(s.m, c, &x, dst)
	dst.taint = tt
}

// evalUniform computes what is the same in every thread; it is false where a source is not.
func evalUniform(r []value, c *code, dst *value) bool {
	switch len(c.src) {
	case 1:
		a := &r[c.src[0]]
		if a.kind != uniform {
			return false
		}
		dst.setU(c.fn(c, a.u, 0, 0, 0), a.taint)
	case 2:
		a, b := &r[c.src[0]], &r[c.src[1]]
		if a.kind|b.kind != uniform {
			return false
		}
		dst.setU(c.fn(c, a.u, b.u, 0, 0), a.taint|b.taint)
	default:
		var u [4]uint64
		tt := taint(0)
		for i, slot := range c.src {
			x := &r[slot]
			if x.kind != uniform {
				return false
			}
			u[i&3], tt = x.u, tt|x.taint
		}
		dst.setU(c.fn(c, u[0], u[1], u[2], u[3]), tt)
	}
	return true
}

// evalThread remembers results of sources that come again; false when they do
// not, so that the caller computes a plain vector.
func evalThread(m *worker, c *code, x *[4]*value, dst *value, tt taint) bool {
	key := memo{ok: true}
	for i := range c.src {
		key.u[i], key.t[i] = x[i].u, x[i].t
	}
	ms := &m.memo[c.index]
	for i := range ms.entry {
		if e := &ms.entry[i]; e.ok && e.u == key.u && e.t == key.t {
			dst.setT(0, e.out, tt)
			return true
		}
	}
	if ms.misses > 2*memoSize {
		ms.misses++
		if ms.misses&63 != 0 {
			return false
		}
	}
	ms.misses++
	key.out = m.offsetsOf(func(i int) int64 {
		return signExtend(c.fn(c, x[0].at(i, c.srcMask[0]), x[1].at(i, c.srcMask[1]), x[2].at(i, c.srcMask[2]), x[3].at(i, c.srcMask[3])), max(c.bits, 2))
	})
	ms.entry[ms.next%memoSize] = key
	ms.next++
	dst.setT(0, key.out, tt)
	if dst.kind == uniform {
		dst.u &= widthMask(c.bits)
	}
	return true
}

func evalVector(m *worker, c *code, x *[4]*value, dst *value) {
	n := m.threads
	a := x[0].spread(m.buf[0][:n], c.srcMask[0])
	var b, d, e []uint64
	b, d, e = m.zeros[:n], m.zeros[:n], m.zeros[:n]
	switch len(c.src) {
	case 4:
		e = x[3].spread(m.buf[3][:n], c.srcMask[3])
		fallthrough
	case 3:
		d = x[2].spread(m.buf[2][:n], c.srcMask[2])
		fallthrough
	case 2:
		b = x[1].spread(m.buf[1][:n], c.srcMask[1])
	}
	out := dst.vec(n)
	dst.kind = vector
	dst.noOffsets()
	if c.loop != nil && c.loop(c, out, a, b, d) {
		return
	}
	for i := range out {
		out[i] = c.fn(c, a[i], b[i], d[i], e[i])
	}
}

// runGuarded executes "@p op": where p is false the register keeps its value.
func runGuarded(s *threadGroup, c *code) {
	p := &s.r[c.guard]
	if p.kind == uniform {
		if p.u != 0 != c.not {
			evalPure(s, c, &s.r[c.dst])
			s.r[c.dst].taint |= p.taint
		} else {
			s.r[c.dst].taint |= p.taint
		}
		return
	}
	tmp := &s.m.tmp
	evalPure(s, c, tmp)
	blend(s.m, &s.r[c.dst], tmp, p, c.not, widthMask(c.bits))
}

// blend sets dst to x where p holds (or does not, with not), dst elsewhere.
func blend(m *worker, dst, x, p *value, not bool, mask uint64) {
	tt := dst.taint | x.taint | p.taint
	if p.kind == uniform {
		if p.u != 0 != not {
			dst.copyFrom(x)
		}
		dst.taint = tt
		return
	}
	if x.kind == dst.kind && x.kind != vector && x.u == dst.u && x.t == dst.t {
		dst.taint = tt
		return
	}
	n := m.threads
	pv := p.spread(m.buf[0][:n], 1)
	xv := x.spread(m.buf[1][:n], mask)
	if dst.kind != vector {
		old := dst.spread(m.buf[2][:n], mask)
		copy(dst.vec(n), old)
		dst.kind, dst.t = vector, nil
	}
	out := dst.v
	want := uint64(1)
	if not {
		want = 0
	}
	for i := range out {
		if pv[i] == want {
			out[i] = xv[i]
		}
	}
	dst.taint = tt
}
