package ptx

import (
	"slices"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

// lowerCvt lowers cvt.{rounding}{.ftz}{.sat}.DTYPE.STYPE and the packing forms.
func lowerCvt(l *lowerer, in *syntax.Instruction) error {
	n := len(in.Words)
	if n < 3 {
		return l.fail("two types expected")
	}
	to, from := in.Words[n-2], in.Words[n-1]
	m := modifiers{typ: to, from: from, words: in.Words[1 : n-2]}
	if m.has("pack") {
		return l.fail("cvt.pack is not supported")
	}
	for _, w := range m.words {
		if !slices.Contains([]string{"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "relu", "satfinite"}, w) {
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	if syntax.TypeBits(to) == 0 || syntax.TypeBits(from) == 0 {
		return l.fail("unknown type")
	}
	if strings.HasSuffix(to, "x2") || strings.HasSuffix(from, "x2") {
		return lowerCvtPacked(l, in, m)
	}
	if !converts(to) && (to != "tf32" || from != "f32") || !converts(from) {
		return l.fail("this conversion is not supported")
	}
	if len(in.Operands) != 2 {
		return l.fail("2 operands expected")
	}
	src, err := l.source(in.Operands[1], from)
	if err != nil {
		return err
	}
	// The destination may be wider than the type: the value is extended.
	width := uint8(syntax.TypeBits(to))
	if r := l.regBits(in.Operands[0]); r > int(width) {
		width = uint8(min(r, 64))
	}
	d, err := l.dest(in.Operands[0], width)
	if err != nil {
		return err
	}
	if isInteger(to) && isInteger(from) {
		return l.cvtIntegers(d, src, width, m)
	}
	fn := convertFloat(m)
	narrow, signed := uint8(syntax.TypeBits(to)), isSigned(to)
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
	fb, tb := uint8(syntax.TypeBits(m.from)), uint8(syntax.TypeBits(m.typ))
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
func lowerCvtPacked(l *lowerer, in *syntax.Instruction, m modifiers) error {
	tf, ok1 := packedFormat(m.typ)
	ff, ok2 := packedFormat(m.from)
	eight := func(typ string) bool { return typ == "e4m3x2" || typ == "e5m2x2" }
	if !ok1 || !ok2 || !strings.HasSuffix(m.typ, "x2") ||
		m.from != "f32" && !(eight(m.typ) && m.from == "f16x2") && !(eight(m.from) && m.typ == "f16x2") {
		return l.fail("this conversion is not supported")
	}
	width, each := uint8(syntax.TypeBits(m.typ)), uint(syntax.TypeBits(m.typ)/2)
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
		fe := uint(syntax.TypeBits(m.from) / 2)
		fmask := widthMask(uint8(fe))
		_, err := l.typed(in.Operands, width, func(_ *code, a, _, _, _ uint64) uint64 {
			return one(ff.decode(a&fmask)) | one(ff.decode(a>>fe&fmask))<<each
		}, algNone, m.from)
		return err
	}
	ftz := m.has("ftz")
	_, err := l.typed(in.Operands, width, func(_ *code, a, b, _, _ uint64) uint64 {
		return one(toFloat(b, m.from, ftz)) | one(toFloat(a, m.from, ftz))<<each
	}, algNone, m.from, m.from)
	return err
}
