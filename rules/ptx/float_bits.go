package ptx

import (
	"math"
)

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

func flush16(f float64) float64 {
	if math.Abs(f) < 0x1p-14 {
		return math.Copysign(0, f)
	}
	return f
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
