package ptx

import (
	"math/bits"

	"aliascheck/rules/ptx/syntax"
)

func lowerCount(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	if m.typ != "b32" && m.typ != "b64" {
		return l.fail("unknown type .%s", syntax.Clip(m.typ))
	}
	width := uint8(syntax.TypeBits(m.typ))
	out := uint8(32)
	fn := func(_ *code, a, _, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }
	switch in.Words[0] {
	case "clz":
		fn = func(_ *code, a, _, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) - 64 + uint64(width) }
	case "brev":
		out = width
		fn = func(_ *code, a, _, _, _ uint64) uint64 { return bits.Reverse64(a) >> (64 - width) }
	}
	_, err = l.typed(in.Operands, out, fn, algNone, m.typ)
	return err
}

func lowerFind(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "shiftamt")
	if err != nil {
		return err
	}
	width, signed, shift := uint8(syntax.TypeBits(m.typ)), isSigned(m.typ), m.has("shiftamt")
	_, err = l.typed(in.Operands, 32, func(_ *code, a, _, _, _ uint64) uint64 {
		if signed && signExtend(a, width) < 0 {
			a = ^a & widthMask(width)
		}
		if a == 0 {
			return 0xffffffff
		}
		n := uint64(bits.Len64(a)) - 1
		if shift {
			return uint64(width) - 1 - n
		}
		return n
	}, algNone, m.typ)
	return err
}

func lowerFns(l *lowerer, in *syntax.Instruction) error {
	if _, err := l.mods(in); err != nil {
		return err
	}
	_, err := l.simple(in, "b32", 3, func(_ *code, mask, base, offset, _ uint64) uint64 {
		if base > 31 {
			return 0xffffffff
		}
		n := int32(offset)
		if n == 0 {
			if mask>>base&1 != 0 {
				return base
			}
			return 0xffffffff
		}
		step := int64(1)
		if n < 0 {
			step, n = -1, -n
		}
		for i := int64(base); i >= 0 && i < 32; i += step {
			if mask>>uint(i)&1 != 0 {
				if n--; n == 0 {
					return uint64(i)
				}
			}
		}
		return 0xffffffff
	}, algNone)
	return err
}

func lowerExtract(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	width, signed := uint8(syntax.TypeBits(m.typ)), isSigned(m.typ)
	_, err = l.typed(in.Operands, width, func(_ *code, a, p, n, _ uint64) uint64 { return extract(a, p&255, n&255, width, signed) }, algNone, m.typ, "u32", "u32")
	return err
}

// extract is bfe: n bits of a from bit p; past the top come copies of the sign bit.
func extract(a, p, n uint64, width uint8, signed bool) uint64 {
	if n == 0 {
		return 0
	}
	top := min(p+n-1, uint64(width)-1)
	sign := uint64(0)
	if signed {
		sign = a >> top & 1
	}
	field := uint64(0)
	if p < uint64(width) {
		field = a >> p & widthMask(uint8(min(n, 64)))
	}
	have := uint64(0)
	if p < uint64(width) {
		have = min(n, uint64(width)-p)
	}
	if sign != 0 && have < 64 {
		field |= ^uint64(0) << have
	}
	return field & widthMask(width)
}

func lowerInsert(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	width := uint8(syntax.TypeBits(m.typ))
	_, err = l.typed(in.Operands, width, func(_ *code, a, b, p, n uint64) uint64 {
		p, n = p&255, n&255
		if n == 0 || p >= uint64(width) {
			return b
		}
		mask := widthMask(uint8(min(n, 64))) << p & widthMask(width)
		return b&^mask | a<<p&mask
	}, algNone, m.typ, m.typ, "u32", "u32")
	return err
}

func lowerSzext(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "wrap", "clamp")
	if err != nil {
		return err
	}
	clamp := m.has("clamp")
	_, err = l.simple(in, m.typ, 2, func(c *code, a, n, _, _ uint64) uint64 {
		if clamp {
			n = min(n, 32)
		} else {
			n &= 31
		}
		if n == 0 {
			return 0
		}
		if c.signed {
			return uint64(signExtend(a, uint8(n))) & 0xffffffff
		}
		return a & widthMask(uint8(n))
	}, algNone)
	return err
}

func lowerBmsk(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "wrap", "clamp")
	if err != nil {
		return err
	}
	clamp := m.has("clamp")
	_, err = l.simple(in, m.typ, 2, func(_ *code, p, n, _, _ uint64) uint64 {
		if !clamp {
			p, n = p&31, n&31
		}
		if p >= 32 {
			return 0
		}
		return widthMask(uint8(min(n, 32))) << p & 0xffffffff
	}, algNone)
	return err
}

// lowerDot lowers dp4a and dp2a: dot products of bytes.
func lowerDot(l *lowerer, in *syntax.Instruction) error {
	four := in.Words[0] == "dp4a"
	words := in.Words[1:]
	hi := false
	if !four && len(words) == 3 {
		hi = words[0] == "hi"
		words = words[1:]
	}
	sa, sb := words[0] == "s32", words[1] == "s32"
	part := func(x uint64, at, width uint8, signed bool) int64 {
		x = x >> at & widthMask(width)
		if signed {
			return signExtend(x, width)
		}
		return int64(x)
	}
	_, err := l.typed(in.Operands, 32, func(_ *code, a, b, acc, _ uint64) uint64 {
		sum := int64(acc)
		if four {
			for i := uint8(0); i < 32; i += 8 {
				sum += part(a, i, 8, sa) * part(b, i, 8, sb)
			}
			return uint64(uint32(sum))
		}
		at := uint8(0)
		if hi {
			at = 16
		}
		sum += part(a, 0, 16, sa)*part(b, at, 8, sb) + part(a, 16, 16, sa)*part(b, at+8, 8, sb)
		return uint64(uint32(sum))
	}, algNone, "b32", "b32", "b32")
	return err
}
