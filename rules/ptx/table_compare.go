package ptx

import "aliascheck/rules/ptx/syntax"

// lowerSetp lowers setp.CMP[.BOOL][.ftz].TYPE p[|q], a, b[, [!]c].
func lowerSetp(l *lowerer, in *syntax.Instruction) error {
	words := in.Words[1:]
	if len(words) < 2 || len(in.Operands) < 3 {
		return l.fail("unknown form")
	}
	typ := words[len(words)-1]
	cmp, ok := comparisonOf(words[0])
	if !ok || syntax.TypeBits(typ) == 0 {
		return l.fail("unknown comparison")
	}
	bool2, ftz, err := l.comparisonWords(words[1 : len(words)-1])
	if err != nil {
		return err
	}
	if typ == "f16x2" || typ == "bf16x2" {
		return lowerSetpPacked(l, in, cmp, typ, bool2, ftz)
	}
	src, err := l.setSources(in, typ, bool2)
	if err != nil {
		return err
	}
	dst := []syntax.Operand{in.Operands[0]}
	if in.Operands[0].Kind == syntax.KindPair {
		dst = in.Operands[0].Sub
	}
	test := comparer(cmp, typ, ftz)
	slots := make([]int32, len(dst))
	for i, op := range dst {
		if slots[i], err = l.dest(op, 1); err != nil {
			return err
		}
	}
	// Of p|q, the second is computed first into a slot of its own: p may be c.
	if len(dst) == 2 {
		t := l.newSlot(1, "")
		l.pure(t, 1, func(_ *code, a, b, x, _ uint64) uint64 { return combine(!test(a, b), x, bool2) }, algNone, src...)
		defer func() { l.pure(slots[1], 1, move, algMov, t) }()
	}
	alg := algNone
	if bool2 == "" && isInteger(typ) && cmp <= cmpGE {
		alg = algCmp
	}
	c := l.pure(slots[0], 1, func(_ *code, a, b, x, _ uint64) uint64 { return combine(test(a, b), x, bool2) }, alg, src...)
	c.cmp, c.bits0, c.signed = cmp, uint8(syntax.TypeBits(typ)), isSigned(typ)
	return nil
}

func (l *lowerer) setSources(in *syntax.Instruction, typ, bool2 string) ([]int32, error) {
	n := 2
	if bool2 != "" {
		n = 3
	}
	if len(in.Operands) != n+1 {
		return nil, l.fail("%d operands expected", n+1)
	}
	var src []int32
	for i := 1; i <= n; i++ {
		t := typ
		if i == 3 {
			t = "pred"
		}
		s, err := l.source(in.Operands[i], t)
		if err != nil {
			return nil, err
		}
		src = append(src, s)
	}
	return src, nil
}

// lowerSetpPacked compares two pairs of halves: p is of the low half, q of the high.
func lowerSetpPacked(l *lowerer, in *syntax.Instruction, cmp comparison, typ, bool2 string, ftz bool) error {
	src, err := l.setSources(in, typ, bool2)
	if err != nil {
		return err
	}
	if in.Operands[0].Kind != syntax.KindPair {
		return l.fail("two predicates expected")
	}
	test := comparer(cmp, typ[:len(typ)-2], ftz)
	for i, op := range in.Operands[0].Sub {
		d, err := l.dest(op, 1)
		if err != nil {
			return err
		}
		shift := uint(i) * 16
		l.pure(d, 1, func(_ *code, a, b, x, _ uint64) uint64 {
			return combine(test(a>>shift&0xffff, b>>shift&0xffff), x, bool2)
		}, algNone, src...)
	}
	return nil
}

// comparisonWords reads [.BOOL][.ftz] of setp and set.
func (l *lowerer) comparisonWords(words []string) (bool2 string, ftz bool, err error) {
	for _, w := range words {
		switch w {
		case "and", "or", "xor":
			bool2 = w
		case "ftz":
			ftz = true
		default:
			return "", false, l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	return bool2, ftz, nil
}

// lowerSet lowers set.CMP[.BOOL][.ftz].DTYPE.STYPE d, a, b[, [!]c].
func lowerSet(l *lowerer, in *syntax.Instruction) error {
	words := in.Words[1:]
	if len(words) < 3 {
		return l.fail("unknown form")
	}
	cmp, ok := comparisonOf(words[0])
	dtyp, typ := words[len(words)-2], words[len(words)-1]
	if !ok || syntax.TypeBits(typ) == 0 || syntax.TypeBits(dtyp) == 0 {
		return l.fail("unknown comparison")
	}
	bool2, ftz, err := l.comparisonWords(words[1 : len(words)-2])
	if err != nil {
		return err
	}
	src, err := l.setSources(in, typ, bool2)
	if err != nil {
		return err
	}
	width := uint8(syntax.TypeBits(dtyp))
	d, err := l.dest(in.Operands[0], width)
	if err != nil {
		return err
	}
	yes := widthMask(width)
	half := yes
	switch dtyp {
	case "f32":
		yes = 0x3f800000
	case "f16":
		yes = 0x3c00
	case "bf16":
		yes = 0x3f80
	case "f16x2":
		half = 0x3c00
	case "bf16x2":
		half = 0x3f80
	}
	if typ == "f16x2" || typ == "bf16x2" {
		if half == widthMask(32) {
			half = 0xffff
		}
		test := comparer(cmp, typ[:len(typ)-2], ftz)
		l.pure(d, width, func(_ *code, a, b, x, _ uint64) uint64 {
			lo := combine(test(a&0xffff, b&0xffff), x, bool2) * half
			return lo | combine(test(a>>16, b>>16), x, bool2)*half<<16
		}, algNone, src...)
		return nil
	}
	test := comparer(cmp, typ, ftz)
	l.pure(d, width, func(_ *code, a, b, x, _ uint64) uint64 { return combine(test(a, b), x, bool2) * yes }, algNone, src...)
	return nil
}
