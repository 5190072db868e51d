package ptx

func lowerSelp(l *lowerer, in *instr) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	if len(in.ops) != 4 {
		return l.fail("4 operands expected")
	}
	var src []int32
	for i, t := range []string{m.typ, m.typ, "pred"} {
		s, err := l.source(in.ops[i+1], t)
		if err != nil {
			return err
		}
		src = append(src, s)
	}
	width := uint8(typeBits(m.typ))
	d, err := l.dest(in.ops[0], width)
	if err != nil {
		return err
	}
	l.pure(d, width, func(_ *code, a, b, p, _ uint64) uint64 {
		if p != 0 {
			return a
		}
		return b
	}, algSelect, src...)
	return nil
}

func lowerSlct(l *lowerer, in *instr) error {
	n := len(in.parts)
	if n < 3 || len(in.ops) != 4 {
		return l.fail("unknown form")
	}
	typ, ctyp := in.parts[n-2], in.parts[n-1]
	ftz := n > 3 && in.parts[1] == "ftz"
	var src []int32
	for i, t := range []string{typ, typ, ctyp} {
		s, err := l.source(in.ops[i+1], t)
		if err != nil {
			return err
		}
		src = append(src, s)
	}
	width := uint8(typeBits(typ))
	d, err := l.dest(in.ops[0], width)
	if err != nil {
		return err
	}
	l.pure(d, width, func(_ *code, a, b, x, _ uint64) uint64 {
		ok := int32(x) >= 0
		if ctyp == "f32" {
			ok = toFloat(x, "f32", ftz) >= 0
		}
		if ok {
			return a
		}
		return b
	}, algNone, src...)
	return nil
}
