package ptx

import "math"

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

// toFloat reads bits of a scalar type; with ftz a subnormal is a zero of its sign.
func toFloat(bits uint64, typ string, ftz bool) float64 {
	switch typ {
	case "f32":
		f := math.Float32frombits(uint32(bits))
		if ftz {
			f = flush32(f)
		}
		return float64(f)
	case "f16":
		f := f16ToF64(uint16(bits))
		if ftz {
			f = flush16(f)
		}
		return f
	case "bf16":
		f := bf16ToF32(uint16(bits))
		if ftz {
			f = flush32(f)
		}
		return float64(f)
	}
	return math.Float64frombits(bits)
}

// fromFloat rounds to a scalar type.
func fromFloat(f float64, typ string, mode rounding) uint64 {
	switch typ {
	case "f32":
		if mode == roundNearest {
			return canonical32(float32(f))
		}
		return formatF32().encode(f, mode)
	case "f16":
		return uint64(f64ToF16(f, mode))
	case "bf16":
		return uint64(f64ToBF16(f, mode))
	}
	return canonical64(f)
}

// lanes applies a function of scalars to each half of a packed type.
func lanes(typ string, fn func(a, b, d uint64) uint64) scalar {
	switch typ {
	case "f16x2", "bf16x2":
		return func(_ *code, a, b, d, _ uint64) uint64 {
			return fn(a&0xffff, b&0xffff, d&0xffff) | fn(a>>16, b>>16, d>>16)<<16
		}
	case "f32x2":
		return func(_ *code, a, b, d, _ uint64) uint64 {
			return fn(a&0xffffffff, b&0xffffffff, d&0xffffffff) | fn(a>>32, b>>32, d>>32)<<32
		}
	}
	return func(_ *code, a, b, d, _ uint64) uint64 { return fn(a, b, d) }
}

// scalarType is the element of a packed type.
func scalarType(typ string) string {
	if n := len(typ); n > 2 && typ[n-2:] == "x2" {
		return typ[:n-2]
	}
	return typ
}

type floatMods struct {
	mode           rounding
	ftz, sat, relu bool
}

// lowerFloatArith lowers add, sub, mul, mad and fma on floating-point types.
func lowerFloatArith(l *lowerer, in *instr) error {
	m, err := l.mods(in, "rn", "rz", "rm", "rp", "ftz", "sat", "relu")
	if err != nil {
		return err
	}
	op, n := arithAdd, 2
	switch in.parts[0] {
	case "mul":
		op = arithMul
	case "fma", "mad":
		op, n = arithFMA, 3
	}
	elem := scalarType(m.typ)
	fm := floatMods{roundingOf(m), m.has("ftz"), m.has("sat"), m.has("relu")}
	sub := in.parts[0] == "sub"
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

func flush16(f float64) float64 {
	if math.Abs(f) < 0x1p-14 {
		return math.Copysign(0, f)
	}
	return f
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

func saturate(f float64) float64 {
	switch {
	case !(f > 0): // NaN too
		return 0
	case f > 1:
		return 1
	}
	return f
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

func lowerFloatDiv(l *lowerer, in *instr) error {
	m, err := l.mods(in, "rn", "rz", "rm", "rp", "ftz", "approx", "full")
	if err != nil {
		return err
	}
	if m.typ != "f32" && m.typ != "f64" {
		return l.fail("unknown type .%s", clip(m.typ))
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

// lowerFloatUnary lowers the functions of one argument. Approximations are
// computed in double and rounded once: within the ulps that the ISA states.
func lowerFloatUnary(l *lowerer, in *instr) error {
	m, err := l.mods(in, "rn", "rz", "rm", "rp", "ftz", "approx")
	if err != nil {
		return err
	}
	elem := scalarType(m.typ)
	if !isFloat(m.typ) || m.typ == "f32x2" {
		return l.fail("unknown type .%s", clip(m.typ))
	}
	op, mode, ftz := in.parts[0], roundingOf(m), m.has("ftz")
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
func lowerFloatSign(l *lowerer, in *instr) error {
	m, err := l.mods(in, "ftz")
	if err != nil {
		return err
	}
	elem := scalarType(m.typ)
	sign := uint64(1) << (typeBits(elem) - 1)
	neg, ftz := in.parts[0] == "neg", m.has("ftz")
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

func lowerFloatMinMax(l *lowerer, in *instr) error {
	m, err := l.mods(in, "ftz", "NaN", "xorsign", "abs")
	if err != nil {
		return err
	}
	elem := scalarType(m.typ)
	n := len(in.ops) - 1
	if n != 2 && n != 3 {
		return l.fail("3 or 4 operands expected")
	}
	wantMax, ftz, nan, xorsign, abs := in.parts[0] == "max", m.has("ftz"), m.has("NaN"), m.has("xorsign"), m.has("abs")
	sign := uint64(1) << (typeBits(elem) - 1)
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

func lowerTestp(l *lowerer, in *instr) error {
	if len(in.parts) != 3 || len(in.ops) != 2 {
		return l.fail("unknown form")
	}
	what, typ := in.parts[1], in.parts[2]
	a, err := l.source(in.ops[1], typ)
	if err != nil {
		return err
	}
	d, err := l.dest(in.ops[0], 1)
	if err != nil {
		return err
	}
	smallest := 0x1p-126
	if typ == "f64" {
		smallest = 0x1p-1022
	}
	l.pure(d, 1, func(_ *code, a, _, _, _ uint64) uint64 {
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
	}, algNone, a)
	return nil
}

func lowerCopysign(l *lowerer, in *instr) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	sign := uint64(1) << (typeBits(m.typ) - 1)
	_, err = l.simple(in, m.typ, 2, func(_ *code, a, b, _, _ uint64) uint64 { return b&^sign | a&sign }, algNone)
	return err
}
