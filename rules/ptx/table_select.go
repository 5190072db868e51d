package ptx

import "aliascheck/rules/ptx/syntax"

func lowerSelp(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.typed(in.Operands, uint8(syntax.TypeBits(m.typ)), func(_ *code, a, b, p, _ uint64) uint64 {
		if p != 0 {
			return a
		}
		return b
	}, algSelect, m.typ, m.typ, "pred")
	return err
}

func lowerSlct(l *lowerer, in *syntax.Instruction) error {
	n := len(in.Words)
	if n < 3 || len(in.Operands) != 4 {
		return l.fail("unknown form")
	}
	typ, ctyp := in.Words[n-2], in.Words[n-1]
	ftz := n > 3 && in.Words[1] == "ftz"
	_, err := l.typed(in.Operands, uint8(syntax.TypeBits(typ)), func(_ *code, a, b, x, _ uint64) uint64 {
		ok := int32(x) >= 0
		if ctyp == "f32" {
			ok = toFloat(x, "f32", ftz) >= 0
		}
		if ok {
			return a
		}
		return b
	}, algNone, typ, typ, ctyp)
	return err
}
