package ptx

import (
	"math"
	"math/big"
)

// rounding is a rounding mode (PTX ISA, "Rounding Modifiers").
type rounding uint8

const (
	roundNearest rounding = iota // .rn: to nearest, ties to even
	roundZero                    // .rz
	roundDown                    // .rm
	roundUp                      // .rp
	roundAway                    // .rna: to nearest, ties away from zero
)

// format is a binary floating-point format. Formats without infinity saturate.
type format struct {
	exp, mant uint
	noInf     bool // e4m3 and e2m1: no infinities
}

func formatF16() format  { return format{exp: 5, mant: 10} }
func formatBF16() format { return format{exp: 8, mant: 7} }
func formatTF32() format { return format{exp: 8, mant: 10} }
func formatF32() format  { return format{exp: 8, mant: 23} }
func formatE5M2() format { return format{exp: 5, mant: 2} }
func formatE4M3() format { return format{exp: 4, mant: 3, noInf: true} }

// encode rounds f to a format and gives its bits, subnormals included.
func (t format) encode(f float64, mode rounding) uint64 {
	bias := 1<<(t.exp-1) - 1
	top := uint64(1)<<t.exp - 1
	sign := uint64(0)
	if math.Signbit(f) {
		sign = 1 << (t.exp + t.mant)
	}
	inf := top << t.mant
	if t.noInf {
		inf = top<<t.mant | (1<<t.mant - 1) - 1 // 448 in e4m3: the largest number
	}
	switch {
	case math.IsNaN(f):
		if t.noInf {
			return top<<t.mant | (1<<t.mant - 1)
		}
		return top<<t.mant | (1<<t.mant - 1) // canonical NaN, all ones, no sign
	case f == 0:
		return sign
	case math.IsInf(f, 0):
		return sign | inf
	}
	frac, e := math.Frexp(math.Abs(f)) // frac in [0.5, 1)
	unit := max(e-1, 1-bias) - int(t.mant)
	scaled := math.Ldexp(frac, e-unit) // exact: at most 2^(mant+1)
	n := math.Floor(scaled)
	rest := scaled - n
	m := uint64(n)
	if roundsUp(rest, m&1 == 1, sign != 0, mode) {
		m++
	}
	biased := uint64(unit + int(t.mant) + bias)
	bits := m
	if m>>t.mant != 0 { // normal
		bits = (biased-1)<<t.mant + m
	}
	if bits >= inf && !t.noInf || t.noInf && bits > inf {
		if t.noInf || mode == roundZero || mode == roundDown && sign == 0 || mode == roundUp && sign != 0 {
			if t.noInf {
				return sign | inf
			}
			return sign | inf - 1
		}
		return sign | inf
	}
	return sign | bits
}

func roundsUp(rest float64, odd, negative bool, mode rounding) bool {
	switch mode {
	case roundNearest:
		return rest > 0.5 || rest == 0.5 && odd
	case roundAway:
		return rest >= 0.5
	case roundUp:
		return rest > 0 && !negative
	case roundDown:
		return rest > 0 && negative
	}
	return false
}

// decode gives the number that bits stand for.
func (t format) decode(bits uint64) float64 {
	bias := 1<<(t.exp-1) - 1
	e := int(bits >> t.mant & (1<<t.exp - 1))
	m := bits & (1<<t.mant - 1)
	sign := 1.0
	if bits>>(t.exp+t.mant)&1 != 0 {
		sign = -1
	}
	if e == 1<<t.exp-1 {
		switch {
		case t.noInf && m != 1<<t.mant-1: // e4m3 has numbers here
		case m != 0:
			return math.NaN()
		default:
			return sign * math.Inf(1)
		}
	}
	if e == 0 {
		return math.Copysign(math.Ldexp(float64(m), 1-bias-int(t.mant)), sign)
	}
	return sign * math.Ldexp(float64(m|1<<t.mant), e-bias-int(t.mant))
}

func f64ToF16(f float64, mode rounding) uint16  { return uint16(formatF16().encode(f, mode)) }
func f64ToBF16(f float64, mode rounding) uint16 { return uint16(formatBF16().encode(f, mode)) }
func f16ToF64(b uint16) float64                 { return formatF16().decode(uint64(b)) }
func bf16ToF32(b uint16) float32                { return math.Float32frombits(uint32(b) << 16) }

// canonical gives the NaN that NVIDIA's units give.
func canonical32(f float32) uint64 {
	if f != f {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(f))
}

func canonical64(f float64) uint64 {
	if f != f {
		return 0xfff8000000000000
	}
	return math.Float64bits(f)
}

// exact compares the exact value of an operation with its rounded result: the
// sign of exact - rounded. It is used for directed rounding only.
func exact(op arith, a, b, c, rounded float64) int {
	if math.IsInf(rounded, 0) || math.IsNaN(rounded) {
		return 0
	}
	x, y, z, r := bigOf(a), bigOf(b), bigOf(c), bigOf(rounded)
	switch op {
	case arithAdd:
		return x.Add(x, y).Cmp(r)
	case arithMul:
		return x.Mul(x, y).Cmp(r)
	case arithFMA:
		return x.Add(x.Mul(x, y), z).Cmp(r)
	case arithDiv: // a/b > r  <=>  a > r*b for b > 0
		s := x.Cmp(r.Mul(r, y))
		if b < 0 {
			s = -s
		}
		return s
	}
	return x.Cmp(r.Mul(r, r)) // square root
}

func bigOf(f float64) *big.Float { return new(big.Float).SetPrec(4400).SetFloat64(f) }

type arith uint8

const (
	arithAdd arith = iota
	arithMul
	arithFMA
	arithDiv
	arithSqrt
)

// nearest64 computes an operation on doubles, rounded to nearest.
func nearest64(op arith, a, b, c float64) float64 {
	switch op {
	case arithAdd:
		return a + b
	case arithMul:
		return a * b
	case arithFMA:
		return math.FMA(a, b, c)
	case arithDiv:
		return a / b
	}
	return math.Sqrt(a)
}

// compute64 computes an operation on doubles in any rounding mode.
func compute64(op arith, a, b, c float64, mode rounding) float64 {
	r := nearest64(op, a, b, c)
	if mode == roundNearest || math.IsNaN(r) || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsInf(c, 0) || op == arithDiv && b == 0 {
		return r
	}
	if math.IsInf(r, 0) { // overflow
		if mode == roundZero || mode == roundDown && r > 0 || mode == roundUp && r < 0 {
			return math.Copysign(math.MaxFloat64, r)
		}
		return r
	}
	s := exact(op, a, b, c, r)
	switch {
	case s == 0:
		if r == 0 && mode == roundDown && (op == arithAdd && a != 0 || op == arithFMA && c != 0) {
			return math.Copysign(0, -1)
		}
		return r
	case mode == roundUp && s > 0 || mode == roundZero && s > 0 && r < 0:
		return math.Nextafter(r, math.Inf(1))
	case mode == roundDown && s < 0 || mode == roundZero && s < 0 && r > 0:
		return math.Nextafter(r, math.Inf(-1))
	}
	return r
}

// compute32 computes an operation on singles, rounded once.
func compute32(op arith, a, b, c float32, mode rounding) float32 {
	if mode == roundNearest {
		switch op {
		case arithAdd:
			return a + b
		case arithMul:
			return a * b
		case arithDiv:
			return a / b
		case arithSqrt:
			return float32(math.Sqrt(float64(a)))
		}
		return fma32(a, b, c)
	}
	x, y, z := float64(a), float64(b), float64(c)
	r := nearest64(op, x, y, z)
	if math.IsNaN(r) || math.IsInf(r, 0) {
		return float32(r)
	}
	if r == 0 && mode == roundDown {
		return float32(compute64(op, x, y, z, mode))
	}
	return math.Float32frombits(uint32(formatF32().encode(toOdd(r, exact(op, x, y, z, r)), mode)))
}

// toOdd turns a value rounded to nearest into one rounded to odd, so that a
// second rounding to a narrower format is right. s is the sign of exact - r.
func toOdd(r float64, s int) float64 {
	if s == 0 || math.Float64bits(r)&1 == 1 {
		return r
	}
	return math.Nextafter(r, math.Inf(s))
}

// fma32 is a fused multiply-add on singles, rounded once to nearest.
func fma32(a, b, c float32) float32 {
	p, z := float64(a)*float64(b), float64(c) // the product is exact
	s := p + z
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return float32(s)
	}
	t := s - p
	err := (p - (s - t)) + (z - t) // TwoSum: s + err is exact
	switch {
	case err > 0:
		s = toOdd(s, 1)
	case err < 0:
		s = toOdd(s, -1)
	}
	return float32(s)
}

// flush32 replaces a subnormal by zero of its sign (.ftz).
func flush32(f float32) float32 {
	if b := math.Float32bits(f); b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return f
}
