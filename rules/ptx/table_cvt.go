package ptx

import (
	"math"
	"slices"
	"strings"
)

// lowerCvt lowers cvt.{rounding}{.ftz}{.sat}.DTYPE.STYPE and the packing forms.
func lowerCvt(l *lowerer, in *instr) error {
	n := len(in.parts)
	if n < 3 {
		return l.fail("two types expected")
	}
	to, from := in.parts[n-2], in.parts[n-1]
	m := modifiers{typ: to, from: from, words: in.parts[1 : n-2]}
	if m.has("pack") {
		return l.fail("cvt.pack is not supported")
	}
	for _, w := range m.words {
		if !slices.Contains([]string{"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu", "satfinite"}, w) {
			return l.fail("unknown modifier .%s", clip(w))
		}
	}
	if typeBits(to) == 0 || typeBits(from) == 0 {
		return l.fail("unknown type")
	}
	if strings.HasSuffix(to, "x2") || strings.HasSuffix(from, "x2") {
		return lowerCvtPacked(l, in, m)
	}
	if !converts(to) && (to != "tf32" || from != "f32") || !converts(from) {
		return l.fail("this conversion is not supported")
	}
	if len(in.ops) != 2 {
		return l.fail("2 operands expected")
	}
	src, err := l.source(in.ops[1], from)
	if err != nil {
		return err
	}
	// The destination may be wider than the type: the value is extended.
	width := uint8(typeBits(to))
	if r := l.regBits(in.ops[0]); r > int(width) {
		width = uint8(min(r, 64))
	}
	d, err := l.dest(in.ops[0], width)
	if err != nil {
		return err
	}
	if isInteger(to) && isInteger(from) {
		return l.cvtIntegers(d, src, width, m)
	}
	fn := convertFloat(m)
	narrow, signed := uint8(typeBits(to)), isSigned(to)
	l.pure(d, width, func(_ *code, a, _, _, _ uint64) uint64 {
		r := fn(a)
		if signed && narrow < width {
			return uint64(signExtend(r, narrow)) & widthMask(width)
		}
		return r
	}, algNone, src)
	return nil
}

// converts names the types that cvt takes alone, not in pairs.
func converts(typ string) bool {
	switch typ {
	case "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64":
		return true
	}
	return false
}

func (l *lowerer) cvtIntegers(d, src int32, width uint8, m modifiers) error {
	fb, tb := uint8(typeBits(m.from)), uint8(typeBits(m.typ))
	fs, ts := isSigned(m.from), isSigned(m.typ)
	sat := m.has("sat")
	extend := func(r uint64) uint64 {
		r &= widthMask(tb)
		if ts {
			return uint64(signExtend(r, tb)) & widthMask(width)
		}
		return r
	}
	c := l.pure(d, width, func(_ *code, a, _, _, _ uint64) uint64 {
		a &= widthMask(fb)
		if fs {
			a = uint64(signExtend(a, fb))
		}
		if sat {
			a = clampInteger(a, fs, tb, ts)
		}
		return extend(a)
	}, algNone, src)
	// Where the value does not change, u + t stays u + t.
	if !sat && tb == width && l.p.slots[src].bits == fb {
		c.alg, c.fromBits, c.fromSigned = algCvt, fb, fs
		c.loop = loopCvt
	}
	return nil
}

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
			return floatToInt(roundInteger(toFloat(a, from, flush), mode), uint8(typeBits(to)), isSigned(to))
		}
	case isInteger(from):
		fb, fs := uint8(typeBits(from)), isSigned(from)
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

// packedFormat names the element of a packed 8-bit or 16-bit type.
func packedFormat(typ string) (format, bool) {
	switch typ {
	case "f16x2", "f16":
		return formatF16(), true
	case "bf16x2", "bf16":
		return formatBF16(), true
	case "e4m3x2":
		return formatE4M3(), true
	case "e5m2x2":
		return formatE5M2(), true
	case "f32":
		return formatF32(), true
	}
	return format{}, false
}

// lowerCvtPacked lowers the forms that make or take a pair: d = {hi: a, lo: b}.
func lowerCvtPacked(l *lowerer, in *instr, m modifiers) error {
	tf, ok1 := packedFormat(m.typ)
	ff, ok2 := packedFormat(m.from)
	eight := func(typ string) bool { return typ == "e4m3x2" || typ == "e5m2x2" }
	if !ok1 || !ok2 || !strings.HasSuffix(m.typ, "x2") ||
		m.from != "f32" && !(eight(m.typ) && m.from == "f16x2") && !(eight(m.from) && m.typ == "f16x2") {
		return l.fail("this conversion is not supported")
	}
	width, each := uint8(typeBits(m.typ)), uint(typeBits(m.typ)/2)
	d, err := l.dest(in.ops[0], width)
	if err != nil {
		return err
	}
	mode, relu, satfinite, sat := roundingOf(m), m.has("relu"), m.has("satfinite") || tf.noInf || tf.mant == 2, m.has("sat")
	one := func(x float64) uint64 {
		if relu && x < 0 {
			x = 0
		}
		if sat {
			x = saturate(x)
		}
		r := tf.encode(x, mode)
		if inf := (uint64(1)<<tf.exp - 1) << tf.mant; satfinite && !tf.noInf && r&(inf|(1<<tf.mant-1)) == inf {
			r--
		}
		return r
	}
	if strings.HasSuffix(m.from, "x2") { // pair to pair
		src, err := l.sources(in, m.from, 1, 1)
		if err != nil {
			return err
		}
		fe := uint(typeBits(m.from) / 2)
		fmask := widthMask(uint8(fe))
		l.pure(d, width, func(_ *code, a, _, _, _ uint64) uint64 {
			return one(ff.decode(a&fmask)) | one(ff.decode(a>>fe&fmask))<<each
		}, algNone, src...)
		return nil
	}
	src, err := l.sources(in, m.from, 1, 2)
	if err != nil {
		return err
	}
	ftz := m.has("ftz")
	l.pure(d, width, func(_ *code, a, b, _, _ uint64) uint64 {
		return one(toFloat(b, m.from, ftz)) | one(toFloat(a, m.from, ftz))<<each
	}, algNone, src...)
	return nil
}
