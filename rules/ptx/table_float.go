package ptx

import (
	"math"

	"aliascheck/rules/ptx/syntax"
)

func floatRows() []Row {
	s := "9.7.3 Floating-Point: "
	return []Row{
		{"fma", s + "fma; 9.7.4 Half Precision: fma", lowerFloatArith},
		{"rcp", s + "rcp", lowerFloatUnary},
		{"sqrt", s + "sqrt", lowerFloatUnary},
		{"rsqrt", s + "rsqrt", lowerFloatUnary},
		{"sin", s + "sin", lowerFloatUnary},
		{"cos", s + "cos", lowerFloatUnary},
		{"lg2", s + "lg2", lowerFloatUnary},
		{"ex2", s + "ex2; 9.7.4 Half Precision: ex2", lowerFloatUnary},
		{"tanh", s + "tanh; 9.7.4 Half Precision: tanh", lowerFloatUnary},
		{"testp", s + "testp", lowerTestp},
		{"copysign", s + "copysign", lowerCopysign},
	}
}

type floatMods struct {
	mode           rounding
	ftz, sat, relu bool
}

// lowerFloatArith lowers add, sub, mul, mad and fma on floating-point types.
func lowerFloatArith(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "rn", "rz", "rm", "rp", "ftz", "sat", "relu")
	if err != nil {
		return err
	}
	op, n := arithAdd, 2
	switch in.Words[0] {
	case "mul":
		op = arithMul
	case "fma", "mad":
		op, n = arithFMA, 3
	}
	elem := scalarType(m.typ)
	fm := floatMods{roundingOf(m), m.has("ftz"), m.has("sat"), m.has("relu")}
	sub := in.Words[0] == "sub"
	one := arithOn(elem, op, sub, fm)
	c, err := l.simple(in, m.typ, n, lanes(m.typ, one), algNone)
	if err == nil && m.typ == "f32" && fm == (floatMods{}) {
		c.loop = loopF32(op, sub)
	}
	return err
}

// arithOn gives the operation on one element.
func arithOn(elem string, op arith, sub bool, fm floatMods) func(a, b, d uint64) uint64 {
	switch elem {
	case "f32":
		return func(a, b, d uint64) uint64 {
			x, y, z := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)), math.Float32frombits(uint32(d))
			if fm.ftz {
				x, y, z = flush32(x), flush32(y), flush32(z)
			}
			if sub {
				y = -y
			}
			return finish32(compute32(op, x, y, z, fm.mode), fm)
		}
	case "f64":
		return func(a, b, d uint64) uint64 {
			x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(d)
			if sub {
				y = -y
			}
			r := compute64(op, x, y, z, fm.mode)
			if fm.sat {
				r = saturate(r)
			}
			return canonical64(r)
		}
	}
	return func(a, b, d uint64) uint64 {
		x, y, z := toFloat(a, elem, false), toFloat(b, elem, false), toFloat(d, elem, false)
		if fm.ftz && elem == "f16" {
			x, y, z = flush16(x), flush16(y), flush16(z)
		}
		if sub {
			y = -y
		}
		r := half(op, x, y, z)
		if fm.sat {
			r = saturate(r)
		}
		if fm.relu && r < 0 {
			r = 0
		}
		out := fromFloat(r, elem, roundNearest)
		if fm.ftz && elem == "f16" && out&0x7c00 == 0 {
			out &= 0x8000
		}
		return out
	}
}

// half computes an operation on halves in double, rounded to odd, so that
// rounding to 16 bits afterwards is right.
func half(op arith, x, y, z float64) float64 {
	p, q := x, y
	switch op {
	case arithMul:
		return x * y // exact
	case arithFMA:
		p, q = x*y, z
	}
	s := p + q
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return s
	}
	t := s - p
	err := (p - (s - t)) + (q - t)
	if err > 0 {
		return toOdd(s, 1)
	}
	if err < 0 {
		return toOdd(s, -1)
	}
	return s
}

func finish32(r float32, fm floatMods) uint64 {
	if fm.ftz {
		r = flush32(r)
	}
	if fm.sat {
		r = float32(saturate(float64(r)))
	}
	return canonical32(r)
}

func loopF32(op arith, sub bool) func(c *code, out, a, b, d []uint64) bool {
	return func(_ *code, out, a, b, d []uint64) bool {
		a, b, d = a[:len(out)], b[:len(out)], d[:len(out)]
		switch {
		case op == arithAdd && !sub:
			for i := range out {
				out[i] = canonical32(math.Float32frombits(uint32(a[i])) + math.Float32frombits(uint32(b[i])))
			}
		case op == arithAdd:
			for i := range out {
				out[i] = canonical32(math.Float32frombits(uint32(a[i])) - math.Float32frombits(uint32(b[i])))
			}
		case op == arithMul:
			for i := range out {
				out[i] = canonical32(math.Float32frombits(uint32(a[i])) * math.Float32frombits(uint32(b[i])))
			}
		default:
			for i := range out {
				out[i] = canonical32(fma32(math.Float32frombits(uint32(a[i])), math.Float32frombits(uint32(b[i])), math.Float32frombits(uint32(d[i]))))
			}
		}
		return true
	}
}
