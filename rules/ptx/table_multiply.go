package ptx

import (
	"math/bits"

	"aliascheck/rules/ptx/syntax"
)

func lowerMul(l *lowerer, in *syntax.Instruction) error {
	if isFloat(in.Words[len(in.Words)-1]) {
		return lowerFloatArith(l, in)
	}
	m, err := l.mods(in, "lo", "hi", "wide", "sat", "cc")
	if err != nil {
		return err
	}
	if m.has("cc") {
		return lowerMadCarry(l, in)
	}
	if !isInteger(m.typ) || m.typ[0] == 'b' || syntax.TypeBits(m.typ) < 16 {
		return l.fail("unknown type .%s", syntax.Clip(m.typ))
	}
	mad := in.Words[0] == "mad"
	n, alg := 2, algMul
	if mad {
		n, alg = 3, algMad
	}
	half := uint8(syntax.TypeBits(m.typ))
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

func lowerWide(l *lowerer, in *syntax.Instruction, typ string, mad bool) error {
	half := uint8(syntax.TypeBits(typ))
	if half > 32 {
		return l.fail(".wide of .%s is no instruction", typ)
	}
	double := map[string]string{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}[typ]
	types, alg := []string{typ, typ}, algWide
	if mad {
		types, alg = append(types, double), algMadWide
	}
	signed := isSigned(typ)
	c, err := l.typed(in.Operands, half*2, func(c *code, a, b, e, _ uint64) uint64 {
		if signed {
			a, b = uint64(signExtend(a, half)), uint64(signExtend(b, half))
		}
		return (a*b + e) & widthMask(c.bits)
	}, alg, types...)
	if err == nil {
		c.signed, c.loop = signed, loopWide
	}
	return err
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
	if c.bits == 64 { // what addresses are made of
		for i := range out {
			out[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + d[i]
		}
		return true
	}
	for i := range out {
		out[i] = (uint64(int64(a[i]<<s)>>s*(int64(b[i]<<s)>>s)) + d[i]) & w
	}
	return true
}

func lowerMul24(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "lo", "hi", "sat")
	if err != nil {
		return err
	}
	n := 2
	if in.Words[0] == "mad24" {
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
