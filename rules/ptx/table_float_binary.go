package ptx

import (
	"math"

	"aliascheck/rules/ptx/syntax"
)

func lowerFloatDiv(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "rn", "rz", "rm", "rp", "ftz", "approx", "full")
	if err != nil {
		return err
	}
	if m.typ != "f32" && m.typ != "f64" {
		return l.fail("unknown type .%s", syntax.Clip(m.typ))
	}
	one := arithOn(m.typ, arithDiv, false, floatMods{mode: roundingOf(m), ftz: m.has("ftz")})
	if m.has("approx") {
		one = divideByInverse(one)
	}
	_, err = l.simple(in, m.typ, 2, lanes(m.typ, one), algNone)
	return err
}

// divideByInverse is div.approx.f32: from beyond 2^126 on a divisor's inverse is
// a subnormal, which counts as zero.
func divideByInverse(divide func(a, b, d uint64) uint64) func(a, b, d uint64) uint64 {
	return func(a, b, d uint64) uint64 {
		if x := b & 0x7fffffff; x > 0x7e800000 && x < 0x7f800000 {
			return finish32(math.Float32frombits(uint32(a))*math.Float32frombits(uint32(b&0x80000000)), floatMods{})
		}
		return divide(a, b, d)
	}
}

func lowerFloatMinMax(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "ftz", "NaN", "xorsign", "abs")
	if err != nil {
		return err
	}
	elem := scalarType(m.typ)
	n := len(in.Operands) - 1
	if n != 2 && n != 3 {
		return l.fail("3 or 4 operands expected")
	}
	wantMax, ftz, nan, xorsign, abs := in.Words[0] == "max", m.has("ftz"), m.has("NaN"), m.has("xorsign"), m.has("abs")
	sign := uint64(1) << (syntax.TypeBits(elem) - 1)
	pick := func(a, b uint64) uint64 {
		s := (a ^ b) & sign
		if abs {
			a, b = a&^sign, b&^sign
		}
		x, y := toFloat(a, elem, ftz), toFloat(b, elem, ftz)
		r := x
		switch {
		case x != x && y != y || nan && (x != x || y != y):
			return fromFloat(math.NaN(), elem, roundNearest)
		case x != x:
			r = y
		case y != y:
		case wantMax:
			r = math.Max(x, y)
		default:
			r = math.Min(x, y)
		}
		out := fromFloat(r, elem, roundNearest)
		if xorsign {
			out = out&^sign | s
		}
		return out
	}
	_, err = l.simple(in, m.typ, n, lanes(m.typ, func(a, b, d uint64) uint64 {
		r := pick(a, b)
		if n == 3 {
			r = pick(r, d)
		}
		return r
	}), algNone)
	return err
}

func lowerCopysign(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	sign := uint64(1) << (syntax.TypeBits(m.typ) - 1)
	_, err = l.simple(in, m.typ, 2, func(_ *code, a, b, _, _ uint64) uint64 { return b&^sign | a&sign }, algNone)
	return err
}
