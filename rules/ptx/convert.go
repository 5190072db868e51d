package ptx

import (
	"math"

	"aliascheck/rules/ptx/syntax"
)

func loopCvt(c *code, out, a, _, _ []uint64) bool {
	a = a[:len(out)]
	w := widthMask(c.bits)
	if !c.fromSigned {
		for i := range out {
			out[i] = a[i] & w
		}
		return true
	}
	s := 64 - uint(c.fromBits)
	for i := range out {
		out[i] = uint64(int64(a[i]<<s)>>s) & w
	}
	return true
}

func clampInteger(a uint64, fromSigned bool, bits uint8, signed bool) uint64 {
	if signed {
		hi := int64(widthMask(bits - 1))
		if !fromSigned {
			return min(a, uint64(hi))
		}
		return uint64(min(max(int64(a), -hi-1), hi))
	}
	if fromSigned && int64(a) < 0 {
		return 0
	}
	return min(a, widthMask(bits))
}

// convertFloat gives the conversion between a float and anything.
func convertFloat(m modifiers) func(a uint64) uint64 {
	to, from, mode := m.typ, m.from, roundingOf(m)
	ftz, sat, relu := m.has("ftz"), m.has("sat"), m.has("relu")
	flush := ftz && from == "f32" // .ftz is about singles alone
	toInt := m.has("rni") || m.has("rzi") || m.has("rmi") || m.has("rpi")
	switch {
	case isFloat(from) && isInteger(to):
		return func(a uint64) uint64 {
			return floatToInt(roundInteger(toFloat(a, from, flush), mode), uint8(syntax.TypeBits(to)), isSigned(to))
		}
	case isInteger(from):
		fb, fs := uint8(syntax.TypeBits(from)), isSigned(from)
		return func(a uint64) uint64 { return intToFloat(a&widthMask(fb), fb, fs, to, mode) }
	}
	return func(a uint64) uint64 {
		x := toFloat(a, from, flush)
		if toInt {
			x = roundInteger(x, mode)
		}
		if sat {
			x = saturate(x)
		}
		if relu && x < 0 {
			x = 0
		}
		switch to {
		case "tf32":
			r := formatTF32().encode(x, mode)
			return r << 13
		case "f64":
			return canonical64(x)
		}
		r := fromFloat(x, to, mode)
		if m.has("satfinite") {
			r = finite(r, to)
		}
		if ftz && to == "f32" {
			r = uint64(math.Float32bits(flush32(math.Float32frombits(uint32(r)))))
		}
		return r
	}
}

// finite replaces an infinity by the largest number.
func finite(r uint64, typ string) uint64 {
	switch {
	case typ == "f16" && r&0x7fff == 0x7c00:
		return r&0x8000 | 0x7bff
	case typ == "bf16" && r&0x7fff == 0x7f80:
		return r&0x8000 | 0x7f7f
	}
	return r
}

func roundInteger(f float64, mode rounding) float64 {
	switch mode {
	case roundZero:
		return math.Trunc(f)
	case roundDown:
		return math.Floor(f)
	case roundUp:
		return math.Ceil(f)
	}
	return math.RoundToEven(f)
}

// floatToInt clamps to the integer's range; NaN gives zero.
func floatToInt(f float64, bits uint8, signed bool) uint64 {
	switch {
	case f != f:
		return 0
	case signed:
		limit := math.Ldexp(1, int(bits)-1)
		if f >= limit {
			return widthMask(bits - 1)
		}
		if f < -limit {
			f = -limit
		}
		return uint64(int64(f)) & widthMask(bits)
	case f <= 0:
		return 0
	case f >= math.Ldexp(1, int(bits)):
		return widthMask(bits)
	}
	return uint64(f)
}

func intToFloat(a uint64, bits uint8, signed bool, to string, mode rounding) uint64 {
	neg := false
	if signed && signExtend(a, bits) < 0 {
		neg, a = true, -uint64(signExtend(a, bits))
	}
	hi, lo := float64(a>>32)*0x1p32, float64(a&0xffffffff)
	f := hi + lo
	t := f - hi
	if err := (hi - (f - t)) + (lo - t); err != 0 && to != "f64" {
		f = toOdd(f, int(math.Copysign(1, err)))
	} else if err != 0 && mode != roundNearest {
		up := mode == roundUp && !neg || mode == roundDown && neg
		if up && err > 0 {
			f = math.Nextafter(f, math.Inf(1))
		} else if !up && err < 0 {
			f = math.Nextafter(f, 0)
		}
	}
	if neg {
		f = -f
	}
	return fromFloat(f, to, mode)
}
