package ptx

import "slices"

// results collects what a load gives to its registers.
type results struct {
	s      *threadGroup
	mask   *threadSet
	regs   []int32
	vec    [][]uint64
	taints []taint
	common taint // of the address and of the guard
	op     *memOp
}

func (t *touch) results() *results {
	m := t.s.m
	r := &m.results
	n := len(t.c.dsts)
	if r.s != t.s || r.mask != t.mask || r.op != t.c.mem { // blocks are alike: no pointer is written
		r.s, r.mask, r.regs, r.op = t.s, t.mask, t.c.dsts, t.c.mem
	}
	r.common = t.guardTaint()
	if t.addr.kind != uniform && slices.Contains(r.regs, t.c.src[0]) { // the address register is loaded into
		m.addrCopy.copyFrom(t.addr)
		t.addr = &m.addrCopy
	}
	if cap(r.taints) < n {
		r.taints, r.vec = make([]taint, n), make([][]uint64, n)
	}
	r.taints, r.vec = r.taints[:n], r.vec[:n]
	clear(r.taints)
	return r
}

func (r *results) extend(v uint64) uint64 {
	if r.op.extend && r.op.dstBits > r.op.bits {
		return uint64(signExtend(v, r.op.bits)) & widthMask(r.op.dstBits)
	}
	return v
}

// set gives a register the same value in all active threads.
func (r *results) set(k int, v uint64, tt taint) {
	d := r.regs[k]
	if d < 0 {
		return
	}
	s := r.s
	x := &s.r[d]
	v = r.extend(v)
	tt |= r.common
	if r.mask.n == s.mask.n {
		x.setU(v, tt)
		return
	}
	old := x.spread(s.m.buf[0][:s.m.threads], widthMask(s.m.p.slots[d].bits))
	vec := x.vec(s.m.threads)
	copy(vec, old)
	for _, i := range r.mask.list {
		vec[i] = v
	}
	x.kind, x.t, x.taint = vector, nil, x.taint|tt
}

// begin prepares the registers for a value per thread.
func (r *results) begin() {
	s := r.s
	m := s.m
	for k, d := range r.regs {
		if d < 0 {
			r.vec[k] = m.sink()
			continue
		}
		x := &s.r[d]
		if r.mask.n != s.mask.n {
			r.taints[k] |= x.taint
			old := x.spread(m.buf[0][:m.threads], widthMask(m.p.slots[d].bits))
			copy(x.vec(m.threads), old)
		}
		r.vec[k] = x.vec(m.threads)
	}
}

func (r *results) put(k int, i int32, v uint64, tt taint) {
	r.vec[k][i] = r.extend(v)
	r.taints[k] |= tt
}

func (r *results) end() {
	for k, d := range r.regs {
		if d >= 0 {
			x := &r.s.r[d]
			x.kind, x.taint = vector, r.taints[k]|r.common
			x.noOffsets()
		}
	}
}

// sink is a vector that nobody reads.
func (m *worker) sink() []uint64 { return m.buf[3][:m.threads] }
