package ptx

func lowerSelp(l *lowerer, in *instr) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	_, err = l.typed(in.ops, uint8(typeBits(m.typ)), func(_ *code, a, b, p, _ uint64) uint64 {
		if p != 0 {
			return a
		}
		return b
	}, algSelect, m.typ, m.typ, "pred")
	return err
}

func lowerSlct(l *lowerer, in *instr) error {
	n := len(in.parts)
	if n < 3 || len(in.ops) != 4 {
		return l.fail("unknown form")
	}
	typ, ctyp := in.parts[n-2], in.parts[n-1]
	ftz := n > 3 && in.parts[1] == "ftz"
	_, err := l.typed(in.ops, uint8(typeBits(typ)), func(_ *code, a, b, x, _ uint64) uint64 {
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
