package ptx

import (
	"math"

	"aliascheck/rules/ptx/syntax"
)

// lowerFloatUnary lowers the functions of one argument. Approximations are
// computed in double and rounded once: within the ulps that the ISA states.
func lowerFloatUnary(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "rn", "rz", "rm", "rp", "ftz", "approx")
	if err != nil {
		return err
	}
	elem := scalarType(m.typ)
	if !isFloat(m.typ) || m.typ == "f32x2" {
		return l.fail("unknown type .%s", syntax.Clip(m.typ))
	}
	op, mode, ftz := in.Words[0], roundingOf(m), m.has("ftz")
	coarse := elem == "f64" && m.has("approx") // rcp, rsqrt .approx.ftz.f64 have 32 bits
	one := func(a, _, _ uint64) uint64 {
		x := toFloat(a, elem, ftz)
		var r float64
		switch op {
		case "rcp":
			if elem == "f32" {
				return finish32(compute32(arithDiv, 1, float32(x), 0, mode), floatMods{ftz: ftz})
			}
			r = compute64(arithDiv, 1, x, 0, mode)
		case "sqrt":
			if elem == "f32" {
				return finish32(compute32(arithSqrt, float32(x), 0, 0, mode), floatMods{ftz: ftz})
			}
			r = compute64(arithSqrt, x, 0, 0, mode)
		case "rsqrt":
			r = 1 / math.Sqrt(x)
		case "sin":
			r = math.Sin(x)
		case "cos":
			r = math.Cos(x)
		case "lg2":
			r = math.Log2(x)
		case "ex2":
			r = math.Exp2(x)
		default:
			r = math.Tanh(x)
		}
		if coarse {
			return math.Float64bits(r) &^ 0xffffffff
		}
		if elem == "f32" {
			return finish32(float32(r), floatMods{ftz: ftz})
		}
		out := fromFloat(r, elem, roundNearest)
		if ftz && out&0x7f80 == 0 { // bf16
			out &= 0x8000
		}
		return out
	}
	_, err = l.simple(in, m.typ, 1, lanes(m.typ, one), algNone)
	return err
}

// lowerFloatSign lowers abs and neg: the sign bit alone.
func lowerFloatSign(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "ftz")
	if err != nil {
		return err
	}
	elem := scalarType(m.typ)
	sign := uint64(1) << (syntax.TypeBits(elem) - 1)
	neg, ftz := in.Words[0] == "neg", m.has("ftz")
	_, err = l.simple(in, m.typ, 1, lanes(m.typ, func(a, _, _ uint64) uint64 {
		if ftz {
			a = fromFloat(toFloat(a, elem, true), elem, roundNearest)
		}
		if neg {
			return a ^ sign
		}
		return a &^ sign
	}), algNone)
	return err
}

func lowerTestp(l *lowerer, in *syntax.Instruction) error {
	what, typ := in.Words[1], in.Words[2]
	smallest := 0x1p-126
	if typ == "f64" {
		smallest = 0x1p-1022
	}
	_, err := l.typed(in.Operands, 1, func(_ *code, a, _, _, _ uint64) uint64 {
		x := toFloat(a, typ, false)
		finite := !math.IsNaN(x) && !math.IsInf(x, 0)
		switch what {
		case "finite":
			return b2u(finite)
		case "infinite":
			return b2u(math.IsInf(x, 0))
		case "number":
			return b2u(!math.IsNaN(x))
		case "notanumber":
			return b2u(math.IsNaN(x))
		case "normal":
			return b2u(x == 0 || finite && math.Abs(x) >= smallest) // zeros count as normal
		}
		return b2u(x != 0 && math.Abs(x) < smallest)
	}, algNone, typ)
	return err
}
