package ptx

// linear computes an instruction on values of the form u + t without touching
// every thread, where a rule holds. It returns false where none does.
func linear(m *worker, c *code, x *[4]*value, dst *value, tt taint) bool {
	a, b := x[0], x[1]
	w := widthMask(c.bits)
	switch c.alg {
	case algMov:
		u, t := a.u, a.t
		if t == nil {
			dst.setU(u, tt)
		} else {
			dst.setT(u, t, tt)
		}
		return true
	case algAdd:
		return setSum(m, c, dst, (a.u+b.u)&w, m.sum(a.t, b.t, 1, 1, c.bits), tt)
	case algSub:
		return setSum(m, c, dst, (a.u-b.u)&w, m.sum(a.t, b.t, 1, -1, c.bits), tt)
	case algNeg:
		return setSum(m, c, dst, -a.u&w, m.sum(nil, a.t, 1, -1, c.bits), tt)
	case algShl:
		if b.kind != uniform || b.u >= uint64(c.bits) {
			return false
		}
		return setSum(m, c, dst, a.u<<b.u&w, m.sum(a.t, nil, 1<<b.u, 0, c.bits), tt)
	case algMul, algMad:
		return product(m, c, x, dst, c.bits, w, tt)
	case algWide, algMadWide:
		return wide(m, c, x, dst, tt)
	case algAnd, algOr, algXor:
		return bitwise(m, c, a, b, dst, tt)
	case algShr:
		return shiftRight(m, c, a, b, dst, tt)
	case algCvt:
		return widen(c, a, dst, tt)
	case algCmp:
		return compareSpans(c, a, b, dst, tt)
	case algDiv, algRem:
		return divideSpans(c, a, b, dst, tt)
	case algSelect:
		if x[2].kind != uniform {
			return false
		}
		pick := b
		if x[2].u != 0 {
			pick = a
		}
		u, t := pick.u, pick.t
		if t == nil {
			dst.setU(u, tt)
		} else {
			dst.setT(u, t, tt)
		}
		return true
	}
	return false
}

func setSum(m *worker, c *code, dst *value, u uint64, t *offsets, tt taint) bool {
	if t == nil {
		dst.setU(u, tt)
		return true
	}
	dst.setT(u, t, tt)
	if dst.kind == uniform {
		dst.u &= widthMask(c.bits)
	}
	return true
}

// product is a*b (+ c) modulo 2^bits where a or b is uniform.
func product(m *worker, c *code, x *[4]*value, dst *value, bits uint8, w uint64, tt taint) bool {
	a, b := x[0], x[1]
	if a.kind != uniform {
		a, b = b, a
	}
	if a.kind != uniform {
		return false
	}
	u, t := a.u*b.u, m.sum(b.t, nil, int64(a.u), 0, bits)
	if c.alg == algMad || c.alg == algMadWide {
		u += x[2].u
		t = m.sum(t, x[2].t, 1, 1, bits)
	}
	return setSum(m, c, dst, u&w, t, tt)
}

// wide is a widening multiply: the narrow sources must not wrap.
func wide(m *worker, c *code, x *[4]*value, dst *value, tt taint) bool {
	half := c.bits / 2
	var y [4]value
	var p [4]*value
	for i := 0; i < 2; i++ {
		if _, _, ok := x[i].span(half, c.signed); !ok {
			return false
		}
		y[i] = value{kind: x[i].kind, u: x[i].u, t: x[i].t}
		if c.signed {
			y[i].u = uint64(signExtend(x[i].u, half))
		}
		p[i] = &y[i]
	}
	p[2] = x[2]
	return product(m, c, &p, dst, c.bits, widthMask(c.bits), tt)
}

// bitwise splits the bits between u and t where they do not meet.
func bitwise(m *worker, c *code, a, b *value, dst *value, tt taint) bool {
	tbits := uint64(0)
	if a.t != nil {
		tbits |= a.t.or
	}
	if b.t != nil {
		tbits |= b.t.or
	}
	if c.alg == algAnd && (a.kind == uniform || b.kind == uniform) {
		// A mask over u + t: only the bits of the masked value must be apart.
		v, k := a, b.u
		if a.kind == uniform {
			v, k = b, a.u
		}
		if v.t.or&v.u == 0 {
			return setSum(m, c, dst, v.u&k, m.masked(v.t, k, algAnd), tt)
		}
		// Low bits only: carries go up, so u's low bits must be zero.
		if k&(k+1) == 0 && v.u&k == 0 {
			return setSum(m, c, dst, 0, m.masked(v.t, k, algAnd), tt)
		}
		return false
	}
	if tbits&(a.u|b.u) != 0 {
		// An "or" with a constant whose bits are clear in the sum acts as "+".
		return false
	}
	u := a.u & b.u
	switch c.alg {
	case algOr:
		u = a.u | b.u
	case algXor:
		u = a.u ^ b.u
	}
	return setSum(m, c, dst, u, m.merged(a.t, b.t, c.alg), tt)
}

func shiftRight(m *worker, c *code, a, b *value, dst *value, tt taint) bool {
	if b.kind != uniform || b.u >= uint64(c.bits) || a.kind == uniform {
		return false
	}
	lo, hi, ok := a.span(c.bits, c.signed)
	if !ok {
		return false
	}
	k := b.u
	if lo>>k == hi>>k {
		dst.setU(uint64(lo>>k)&widthMask(c.bits), tt)
		return true
	}
	if a.u&(1<<k-1) != 0 {
		return false
	}
	u := a.u >> k
	if c.signed {
		u = uint64(signExtend(a.u, c.bits)>>k) & widthMask(c.bits)
	}
	return setSum(m, c, dst, u, m.masked(a.t, k, algShr), tt)
}

// widen is a conversion between integers whose value does not change.
func widen(c *code, a *value, dst *value, tt taint) bool {
	from, signed := c.fromBits, c.fromSigned
	if c.bits <= from { // truncation: modulo arithmetic
		if c.bits < from && (a.t.lo < -1<<(c.bits-1) || a.t.hi >= 1<<(c.bits-1)) {
			return false
		}
		dst.setT(a.u&widthMask(c.bits), a.t, tt)
		return true
	}
	if _, _, ok := a.span(from, signed); !ok {
		return false
	}
	u := a.u
	if signed {
		u = uint64(signExtend(a.u, from)) & widthMask(c.bits)
	}
	dst.setT(u, a.t, tt)
	return true
}

// compareSpans decides a comparison that has one answer for all threads.
func compareSpans(c *code, a, b *value, dst *value, tt taint) bool {
	alo, ahi, ok := a.span(c.bits0, c.signed)
	if !ok {
		return false
	}
	blo, bhi, ok := b.span(c.bits0, c.signed)
	if !ok {
		return false
	}
	yes, no := false, false
	switch c.cmp {
	case cmpLT:
		yes, no = ahi < blo, alo >= bhi
	case cmpLE:
		yes, no = ahi <= blo, alo > bhi
	case cmpGT:
		yes, no = alo > bhi, ahi <= blo
	case cmpGE:
		yes, no = alo >= bhi, ahi < blo
	case cmpEQ:
		no = ahi < blo || alo > bhi
	case cmpNE:
		yes = ahi < blo || alo > bhi
	}
	if yes || no {
		u := uint64(0)
		if yes {
			u = 1
		}
		dst.setU(u, tt)
	}
	return yes || no
}

// divideSpans divides by a uniform number where all threads share the quotient.
func divideSpans(c *code, a, b *value, dst *value, tt taint) bool {
	if b.kind != uniform || a.kind == uniform {
		return false
	}
	lo, hi, ok := a.span(c.bits, c.signed)
	d, _, okD := b.span(c.bits, c.signed)
	if !ok || !okD || d <= 0 || lo < 0 || lo/d != hi/d {
		return false
	}
	q := lo / d
	if c.alg == algDiv {
		dst.setU(uint64(q), tt)
		return true
	}
	dst.setT((a.u-uint64(q*d))&widthMask(c.bits), a.t, tt)
	if dst.kind == uniform {
		dst.u &= widthMask(c.bits)
	}
	return true
}
