package ptx

import "math/bits"

func integerRows() []Row {
	s := "9.7.1 Integer Arithmetic: "
	return []Row{
		{"add", s + "add; 9.7.3 Floating-Point: add; 9.7.2 add.cc", lowerAdd},
		{"sub", s + "sub; 9.7.3 Floating-Point: sub; 9.7.2 sub.cc", lowerAdd},
		{"addc", "9.7.2 Extended-Precision Integer: addc", lowerCarry},
		{"subc", "9.7.2 Extended-Precision Integer: subc", lowerCarry},
		{"mul", s + "mul; 9.7.3 Floating-Point: mul", lowerMul},
		{"mad", s + "mad; 9.7.3 Floating-Point: mad; 9.7.2 mad.cc", lowerMul},
		{"madc", "9.7.2 Extended-Precision Integer: madc", lowerMadCarry},
		{"mul24", s + "mul24", lowerMul24},
		{"mad24", s + "mad24", lowerMul24},
		{"sad", s + "sad", lowerSad},
		{"div", s + "div; 9.7.3 Floating-Point: div", lowerDiv},
		{"rem", s + "rem", lowerRem},
		{"abs", s + "abs; 9.7.3 Floating-Point: abs", lowerAbs},
		{"neg", s + "neg; 9.7.3 Floating-Point: neg", lowerNeg},
		{"min", s + "min; 9.7.3 Floating-Point: min", lowerMinMax},
		{"max", s + "max; 9.7.3 Floating-Point: max", lowerMinMax},
		{"popc", s + "popc", lowerCount},
		{"clz", s + "clz", lowerCount},
		{"brev", s + "brev", lowerCount},
		{"bfind", s + "bfind", lowerFind},
		{"fns", s + "fns", lowerFns},
		{"bfe", s + "bfe", lowerExtract},
		{"bfi", s + "bfi", lowerInsert},
		{"szext", s + "szext", lowerSzext},
		{"bmsk", s + "bmsk", lowerBmsk},
		{"dp4a", s + "dp4a", lowerDot},
		{"dp2a", s + "dp2a", lowerDot},
	}
}

func lowerAdd(l *lowerer, in *instr) error {
	if isFloat(in.parts[len(in.parts)-1]) {
		return lowerFloatArith(l, in)
	}
	for _, w := range in.parts {
		if w == "cc" {
			return lowerCarry(l, in)
		}
	}
	m, err := l.mods(in, "sat")
	if err != nil {
		return err
	}
	if m.typ == "u16x2" || m.typ == "s16x2" {
		return lowerPacked(l, in, m)
	}
	if !isInteger(m.typ) {
		return l.fail("unknown type .%s", clip(m.typ))
	}
	sub := in.parts[0] == "sub"
	if m.has("sat") {
		_, err = l.simple(in, m.typ, 2, func(_ *code, a, b, _, _ uint64) uint64 {
			x, y := int64(int32(a)), int64(int32(b))
			if sub {
				y = -y
			}
			return uint64(uint32(min(max(x+y, -1<<31), 1<<31-1)))
		}, algNone)
		return err
	}
	if sub {
		_, err = l.simple(in, m.typ, 2, func(c *code, a, b, _, _ uint64) uint64 { return (a - b) & widthMask(c.bits) }, algSub)
		return err
	}
	c, err := l.simple(in, m.typ, 2, func(c *code, a, b, _, _ uint64) uint64 { return (a + b) & widthMask(c.bits) }, algAdd)
	if err == nil {
		c.loop = loopAdd
	}
	return err
}

func loopAdd(c *code, out, a, b, _ []uint64) bool {
	w := widthMask(c.bits)
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = (a[i] + b[i]) & w
	}
	return true
}

func lowerPacked(l *lowerer, in *instr, m modifiers) error {
	op, typ, relu := in.parts[0], m.typ, m.has("relu")
	_, err := l.simple(in, typ, 2, func(_ *code, a, b, _, _ uint64) uint64 {
		var out uint64
		for s := uint(0); s < 32; s += 16 {
			x, y := uint16(a>>s), uint16(b>>s)
			r := x + y
			switch {
			case op == "sub":
				r = x - y
			case op == "min" && typ == "u16x2":
				r = min(x, y)
			case op == "max" && typ == "u16x2":
				r = max(x, y)
			case op == "min":
				r = uint16(min(int16(x), int16(y)))
			case op == "max":
				r = uint16(max(int16(x), int16(y)))
			}
			if relu && int16(r) < 0 {
				r = 0
			}
			out |= uint64(r) << s
		}
		return out
	}, algNone)
	return err
}

// lowerCarry lowers add.cc, sub.cc, addc and subc. The carry flag is a slot;
// of a subtraction it holds the borrow's complement.
func lowerCarry(l *lowerer, in *instr) error {
	m, err := l.mods(in, "cc")
	if err != nil {
		return err
	}
	src, err := l.sources(in, m.typ, 1, 2)
	if err != nil {
		return err
	}
	bitsN := uint8(typeBits(m.typ))
	d, err := l.dest(in.ops[0], bitsN)
	if err != nil {
		return err
	}
	sub := in.parts[0] == "sub" || in.parts[0] == "subc"
	withCarry := in.parts[0] == "addc" || in.parts[0] == "subc"
	carryIn := l.number(0, 1)
	if sub {
		carryIn = l.number(1, 1)
	}
	if withCarry {
		carryIn = l.carrySlot()
	}
	full := func(c *code, a, b, ci uint64) (sum, carry uint64) {
		w := widthMask(c.bits0)
		if sub {
			b = ^b & w
		}
		sum, carry = bits.Add64(a, b, ci)
		if c.bits0 < 64 {
			carry = sum >> c.bits0 & 1
		}
		return sum & w, carry
	}
	next := l.newSlot(1, "")
	l.pure(next, 1, func(c *code, a, b, ci, _ uint64) uint64 { _, k := full(c, a, b, ci); return k }, algNone, src[0], src[1], carryIn).bits0 = bitsN
	l.pure(d, bitsN, func(c *code, a, b, ci, _ uint64) uint64 { r, _ := full(c, a, b, ci); return r }, algNone, src[0], src[1], carryIn).bits0 = bitsN
	if m.has("cc") {
		l.pure(l.carrySlot(), 1, move, algMov, next)
	}
	return nil
}

func (l *lowerer) carrySlot() int32 {
	if l.carry < 0 {
		l.carry = l.newSlot(1, "CC.CF")
	}
	return l.carry
}

func move(_ *code, a, _, _, _ uint64) uint64 { return a }

func lowerMul(l *lowerer, in *instr) error {
	if isFloat(in.parts[len(in.parts)-1]) {
		return lowerFloatArith(l, in)
	}
	m, err := l.mods(in, "lo", "hi", "wide", "sat", "cc")
	if err != nil {
		return err
	}
	if m.has("cc") {
		return lowerMadCarry(l, in)
	}
	if !isInteger(m.typ) || m.typ[0] == 'b' || typeBits(m.typ) < 16 {
		return l.fail("unknown type .%s", clip(m.typ))
	}
	mad := in.parts[0] == "mad"
	n, alg := 2, algMul
	if mad {
		n, alg = 3, algMad
	}
	half := uint8(typeBits(m.typ))
	switch {
	case m.has("wide"):
		return lowerWide(l, in, m.typ, mad)
	case m.has("hi"):
		sat := m.has("sat")
		_, err = l.simple(in, m.typ, n, func(c *code, a, b, d, _ uint64) uint64 {
			h := mulHigh(a, b, half, c.signed)
			if sat {
				return uint64(uint32(min(max(int64(int32(h))+int64(int32(d)), -1<<31), 1<<31-1)))
			}
			return (h + d) & widthMask(c.bits)
		}, algNone)
	default:
		var c *code
		c, err = l.simple(in, m.typ, n, func(c *code, a, b, d, _ uint64) uint64 { return (a*b + d) & widthMask(c.bits) }, alg)
		if err == nil {
			c.loop = loopMad
		}
	}
	return err
}

func loopMad(c *code, out, a, b, d []uint64) bool {
	w := widthMask(c.bits)
	a, b, d = a[:len(out)], b[:len(out)], d[:len(out)]
	for i := range out {
		out[i] = (a[i]*b[i] + d[i]) & w
	}
	return true
}

func mulHigh(a, b uint64, width uint8, signed bool) uint64 {
	if width < 64 {
		if signed {
			return uint64(signExtend(a, width)*signExtend(b, width)) >> width & widthMask(width)
		}
		return a * b >> width & widthMask(width)
	}
	h, _ := bits.Mul64(a, b)
	if signed {
		if int64(a) < 0 {
			h -= b
		}
		if int64(b) < 0 {
			h -= a
		}
	}
	return h
}

func lowerWide(l *lowerer, in *instr, typ string, mad bool) error {
	half := uint8(typeBits(typ))
	if half > 32 {
		return l.fail(".wide of .%s is no instruction", typ)
	}
	n := 2
	if mad {
		n = 3
	}
	if len(in.ops) != n+1 {
		return l.fail("%d operands expected", n+1)
	}
	double := map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[typ]
	var src []int32
	for i := 1; i <= n; i++ {
		t := typ
		if i == 3 {
			t = double
		}
		s, err := l.source(in.ops[i], t)
		if err != nil {
			return err
		}
		src = append(src, s)
	}
	d, err := l.dest(in.ops[0], half*2)
	if err != nil {
		return err
	}
	alg := algWide
	if mad {
		alg = algMadWide
	}
	signed := isSigned(typ)
	c := l.pure(d, half*2, func(c *code, a, b, e, _ uint64) uint64 {
		if signed {
			a, b = uint64(signExtend(a, half)), uint64(signExtend(b, half))
		}
		return (a*b + e) & widthMask(c.bits)
	}, alg, src...)
	c.signed = signed
	c.loop = loopWide
	return nil
}

func loopWide(c *code, out, a, b, d []uint64) bool {
	w, s := widthMask(c.bits), 64-uint(c.bits)/2
	a, b, d = a[:len(out)], b[:len(out)], d[:len(out)]
	if !c.signed {
		for i := range out {
			out[i] = (a[i]*b[i] + d[i]) & w
		}
		return true
	}
	for i := range out {
		out[i] = (uint64(int64(a[i]<<s)>>s*(int64(b[i]<<s)>>s)) + d[i]) & w
	}
	return true
}

// lowerMadCarry lowers mad.cc and madc: a*b (half) + c (+ carry).
func lowerMadCarry(l *lowerer, in *instr) error {
	m, err := l.mods(in, "lo", "hi", "cc")
	if err != nil {
		return err
	}
	src, err := l.sources(in, m.typ, 1, 3)
	if err != nil {
		return err
	}
	width := uint8(typeBits(m.typ))
	d, err := l.dest(in.ops[0], width)
	if err != nil {
		return err
	}
	hi, signed := m.has("hi"), isSigned(m.typ)
	carryIn := l.number(0, 1)
	if in.parts[0] == "madc" {
		carryIn = l.carrySlot()
	}
	full := func(a, b, x, ci uint64) (uint64, uint64) {
		p := a * b & widthMask(width)
		if hi {
			p = mulHigh(a, b, width, signed)
		}
		sum, carry := bits.Add64(p, x, ci)
		if width < 64 {
			carry = sum >> width & 1
		}
		return sum & widthMask(width), carry
	}
	next := l.newSlot(1, "")
	l.pure(next, 1, func(_ *code, a, b, x, ci uint64) uint64 { _, k := full(a, b, x, ci); return k }, algNone, src[0], src[1], src[2], carryIn)
	l.pure(d, width, func(_ *code, a, b, x, ci uint64) uint64 { r, _ := full(a, b, x, ci); return r }, algNone, src[0], src[1], src[2], carryIn)
	if m.has("cc") {
		l.pure(l.carrySlot(), 1, move, algMov, next)
	}
	return nil
}

func lowerMul24(l *lowerer, in *instr) error {
	m, err := l.mods(in, "lo", "hi", "sat")
	if err != nil {
		return err
	}
	n := 2
	if in.parts[0] == "mad24" {
		n = 3
	}
	hi, sat := m.has("hi"), m.has("sat")
	_, err = l.simple(in, m.typ, n, func(c *code, a, b, d, _ uint64) uint64 {
		var p uint64
		if c.signed {
			p = uint64(signExtend(a&0xffffff, 24) * signExtend(b&0xffffff, 24))
		} else {
			p = (a & 0xffffff) * (b & 0xffffff)
		}
		if hi {
			p >>= 16
		}
		if sat {
			return uint64(uint32(min(max(int64(int32(p))+int64(int32(d)), -1<<31), 1<<31-1)))
		}
		return (p + d) & 0xffffffff
	}, algNone)
	return err
}

func lowerSad(l *lowerer, in *instr) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.simple(in, m.typ, 3, func(c *code, a, b, d, _ uint64) uint64 {
		less := a < b
		if c.signed {
			less = signExtend(a, c.bits) < signExtend(b, c.bits)
		}
		if less {
			a, b = b, a
		}
		return (a - b + d) & widthMask(c.bits)
	}, algNone)
	return err
}

func lowerDiv(l *lowerer, in *instr) error {
	if isFloat(in.parts[len(in.parts)-1]) {
		return lowerFloatDiv(l, in)
	}
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.simple(in, m.typ, 2, func(c *code, a, b, _, _ uint64) uint64 {
		q, _ := divide(a, b, c.bits, c.signed)
		return q
	}, algDiv)
	return err
}

func lowerRem(l *lowerer, in *instr) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.simple(in, m.typ, 2, func(c *code, a, b, _, _ uint64) uint64 {
		_, r := divide(a, b, c.bits, c.signed)
		return r
	}, algRem)
	return err
}

// divide gives what the hardware gives for a zero divisor: all ones, and the dividend.
func divide(a, b uint64, width uint8, signed bool) (q, r uint64) {
	w := widthMask(width)
	if b == 0 {
		return w, a
	}
	if !signed {
		return a / b, a % b
	}
	x, y := signExtend(a, width), signExtend(b, width)
	if y == -1 {
		return uint64(-x) & w, 0
	}
	return uint64(x/y) & w, uint64(x%y) & w
}

func lowerAbs(l *lowerer, in *instr) error {
	if isFloat(in.parts[len(in.parts)-1]) {
		return lowerFloatSign(l, in)
	}
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.simple(in, m.typ, 1, func(c *code, a, _, _, _ uint64) uint64 {
		if signExtend(a, c.bits) < 0 {
			return -a & widthMask(c.bits)
		}
		return a
	}, algNone)
	return err
}

func lowerNeg(l *lowerer, in *instr) error {
	if isFloat(in.parts[len(in.parts)-1]) {
		return lowerFloatSign(l, in)
	}
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.simple(in, m.typ, 1, func(c *code, a, _, _, _ uint64) uint64 { return -a & widthMask(c.bits) }, algNeg)
	return err
}

func lowerMinMax(l *lowerer, in *instr) error {
	if isFloat(in.parts[len(in.parts)-1]) {
		return lowerFloatMinMax(l, in)
	}
	m, err := l.mods(in, "relu")
	if err != nil {
		return err
	}
	if m.typ == "u16x2" || m.typ == "s16x2" {
		return lowerPacked(l, in, m)
	}
	wantMax, relu := in.parts[0] == "max", m.has("relu")
	_, err = l.simple(in, m.typ, 2, func(c *code, a, b, _, _ uint64) uint64 {
		less := a < b
		if c.signed {
			less = signExtend(a, c.bits) < signExtend(b, c.bits)
		}
		if less == wantMax {
			a = b
		}
		if relu && int32(a) < 0 {
			return 0
		}
		return a
	}, algNone)
	return err
}
