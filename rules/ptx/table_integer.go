package ptx

import "aliascheck/rules/ptx/syntax"

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

func lowerAdd(l *lowerer, in *syntax.Instruction) error {
	if isFloat(in.Words[len(in.Words)-1]) {
		return lowerFloatArith(l, in)
	}
	for _, w := range in.Words {
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
		return l.fail("unknown type .%s", syntax.Clip(m.typ))
	}
	sub := in.Words[0] == "sub"
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

func lowerPacked(l *lowerer, in *syntax.Instruction, m modifiers) error {
	op, typ, relu := in.Words[0], m.typ, m.has("relu")
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

func move(_ *code, a, _, _, _ uint64) uint64 { return a }

func lowerSad(l *lowerer, in *syntax.Instruction) error {
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

func lowerDiv(l *lowerer, in *syntax.Instruction) error {
	if isFloat(in.Words[len(in.Words)-1]) {
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

func lowerRem(l *lowerer, in *syntax.Instruction) error {
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

func lowerAbs(l *lowerer, in *syntax.Instruction) error {
	if isFloat(in.Words[len(in.Words)-1]) {
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

func lowerNeg(l *lowerer, in *syntax.Instruction) error {
	if isFloat(in.Words[len(in.Words)-1]) {
		return lowerFloatSign(l, in)
	}
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.simple(in, m.typ, 1, func(c *code, a, _, _, _ uint64) uint64 { return -a & widthMask(c.bits) }, algNeg)
	return err
}

func lowerMinMax(l *lowerer, in *syntax.Instruction) error {
	if isFloat(in.Words[len(in.Words)-1]) {
		return lowerFloatMinMax(l, in)
	}
	m, err := l.mods(in, "relu")
	if err != nil {
		return err
	}
	if m.typ == "u16x2" || m.typ == "s16x2" {
		return lowerPacked(l, in, m)
	}
	wantMax, relu := in.Words[0] == "max", m.has("relu")
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
