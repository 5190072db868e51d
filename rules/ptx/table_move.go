package ptx

import "aliascheck/rules/ptx/syntax"

func moveRows() []Row {
	s := "9.7.9 Data Movement and Conversion: "
	return []Row{
		{"mov", s + "mov", lowerMov},
		{"prmt", s + "prmt", lowerPrmt},
		{"cvt", s + "cvt", lowerCvt},
		{"cvta", s + "cvta", lowerCvta},
		{"isspacep", s + "isspacep", lowerIsspacep},
		{"mapa", s + "mapa", lowerMapa},
		{"getctarank", s + "getctarank", lowerGetctarank},
	}
}

// lowerMov lowers mov, packing and unpacking of vectors included.
func lowerMov(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	if len(in.Operands) != 2 {
		return l.fail("2 operands expected")
	}
	d, s := in.Operands[0], in.Operands[1]
	width := syntax.TypeBits(m.typ)
	switch {
	case width == 0:
		return l.fail("unknown type .%s", syntax.Clip(m.typ))
	case d.Kind == syntax.KindVector:
		return l.unpack(d.Sub, s, width, m.typ)
	case s.Kind == syntax.KindVector:
		return l.pack(d, s.Sub, width)
	case width == 128:
		return l.move128(d, s)
	}
	src, err := l.source(s, m.typ)
	if err != nil {
		return err
	}
	dst, err := l.dest(d, uint8(width))
	if err != nil {
		return err
	}
	l.pure(dst, uint8(width), func(c *code, a, _, _, _ uint64) uint64 { return a & widthMask(c.bits) }, algMov, src)
	return nil
}

func (l *lowerer) unpack(parts []syntax.Operand, s syntax.Operand, width int, typ string) error {
	if len(parts) < 2 || width%len(parts) != 0 {
		return l.fail("bad vector")
	}
	each := width / len(parts)
	var base int32
	var err error
	if width == 128 {
		if s.Kind != syntax.KindRegister {
			return l.fail("a register expected")
		}
		base = l.slotOf(s.Register)
	} else if base, err = l.source(s, typ); err != nil {
		return err
	}
	for i, op := range parts {
		if op.Kind == syntax.KindSink {
			continue
		}
		d, err := l.dest(op, uint8(each))
		if err != nil {
			return err
		}
		src, at := base, uint64(i*each)
		if at >= 64 {
			src, at = base+1, at-64
		}
		l.pure(d, uint8(each), func(c *code, a, _, _, _ uint64) uint64 { return a >> at & widthMask(c.bits) }, algNone, src)
	}
	return nil
}

func (l *lowerer) pack(d syntax.Operand, parts []syntax.Operand, width int) error {
	if len(parts) < 2 || len(parts) > 8 || width%len(parts) != 0 {
		return l.fail("bad vector")
	}
	each := uint8(width / len(parts))
	typ := map[uint8]string{8: "b8", 16: "b16", 32: "b32", 64: "b64"}[each]
	var src []int32
	for _, op := range parts {
		s, err := l.source(op, typ)
		if err != nil {
			return err
		}
		src = append(src, s)
	}
	dst, err := l.dest(d, uint8(width))
	if err != nil {
		return err
	}
	join := func(dst int32, src []int32) {
		bits := each * uint8(len(src))
		if len(src) == 1 {
			l.pure(dst, bits, move, algMov, src[0])
			return
		}
		if len(src) > 4 {
			lo, hi := l.newSlot(bits/2, ""), l.newSlot(bits/2, "")
			l.pure(lo, bits/2, packer(each), algNone, src[:len(src)/2]...)
			l.pure(hi, bits/2, packer(each), algNone, src[len(src)/2:]...)
			l.pure(dst, bits, packer(bits/2), algNone, lo, hi)
			return
		}
		l.pure(dst, bits, packer(each), algNone, src...)
	}
	if width == 128 {
		join(dst, src[:len(src)/2])
		join(dst+1, src[len(src)/2:])
		return nil
	}
	join(dst, src)
	return nil
}

func packer(each uint8) scalar {
	w := widthMask(each)
	return func(_ *code, a, b, d, e uint64) uint64 {
		return a&w | b&w<<each | d&w<<(2*uint(each)) | e&w<<(3*uint(each))
	}
}

func (l *lowerer) move128(d, s syntax.Operand) error {
	if d.Kind != syntax.KindRegister || s.Kind != syntax.KindRegister {
		return l.fail("registers expected")
	}
	dst, src := l.slotOf(d.Register), l.slotOf(s.Register)
	l.pure(dst, 64, move, algMov, src)
	l.pure(dst+1, 64, move, algMov, src+1)
	return nil
}

func lowerPrmt(l *lowerer, in *syntax.Instruction) error {
	mode := ""
	if len(in.Words) == 3 {
		mode = in.Words[2]
	} else if len(in.Words) != 2 {
		return l.fail("unknown form")
	}
	if in.Words[1] != "b32" {
		return l.fail("unknown type")
	}
	_, err := l.simple(in, "b32", 3, func(_ *code, a, b, sel, _ uint64) uint64 {
		x := a | b<<32
		var out uint64
		for i := uint64(0); i < 4; i++ {
			s := sel >> (4 * i) & 15
			k := sel & 3
			switch mode {
			case "f4e":
				s = k + i
			case "b4e":
				s = (k - i) & 7
			case "rc8":
				s = k
			case "ecl":
				s = max(k, i)
			case "ecr":
				s = min(k, i)
			case "rc16":
				s = k&1*2 + i&1
			}
			v := x >> (8 * (s & 7)) & 255
			if s&8 != 0 {
				v = uint64(int8(v)>>7) & 255
			}
			out |= v << (8 * i)
		}
		return out
	}, algNone)
	return err
}

// lowerCvta converts between generic addresses and those of a space. Global
// and constant addresses are generic ones.
func lowerCvta(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "to", "global", "const", "shared", "local", "param", "shared::cta", "shared::cluster", "param::entry")
	if err != nil {
		return err
	}
	window := uint64(0)
	switch {
	case m.has("shared"), m.has("shared::cta"), m.has("shared::cluster"):
		window = sharedWindow
	case m.has("local"):
		window = localWindow
	}
	if m.has("to") {
		window = -window
	}
	src, err := l.source(in.Operands[1], m.typ)
	if err != nil {
		return err
	}
	width := uint8(syntax.TypeBits(m.typ))
	d, err := l.dest(in.Operands[0], width)
	if err != nil {
		return err
	}
	l.pure(d, width, func(c *code, a, b, _, _ uint64) uint64 { return (a + b) & widthMask(c.bits) }, algAdd, src, l.number(window, 64))
	return nil
}

func lowerIsspacep(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) != 2 || len(in.Operands) != 2 {
		return l.fail("unknown form")
	}
	space := in.Words[1]
	_, err := l.typed(in.Operands, 1, func(_ *code, a, _, _, _ uint64) uint64 {
		is := "global"
		switch {
		case a >= paramWindow:
			is = "param"
		case a >= localWindow:
			is = "local"
		case a >= sharedWindow:
			is = "shared"
		}
		return b2u(space == is || is == "shared" && (space == "shared::cta" && a < sharedWindow+1<<clusterShift || space == "shared::cluster") || is == "param" && space == "param::entry")
	}, algNone, "u64")
	return err
}

// lowerMapa gives another block's address of a shared variable: the block's
// rank stands above the offset, one more than it, 0 meaning the own block.
func lowerMapa(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "shared::cluster")
	if err != nil {
		return err
	}
	_, err = l.typed(in.Operands, uint8(syntax.TypeBits(m.typ)), func(_ *code, a, r, _, _ uint64) uint64 {
		return a&^(255<<clusterShift) | (r+1)&255<<clusterShift
	}, algNone, m.typ, "u32")
	return err
}

func lowerGetctarank(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "shared::cluster")
	if err != nil {
		return err
	}
	a, err := l.source(in.Operands[1], m.typ)
	if err != nil {
		return err
	}
	own := l.constant(constant{special: "cluster_ctarank", param: -1}, 32)
	d, err := l.dest(in.Operands[0], 32)
	if err != nil {
		return err
	}
	l.pure(d, 32, func(_ *code, a, own, _, _ uint64) uint64 {
		if r := a >> clusterShift & 255; r != 0 {
			return r - 1
		}
		return own
	}, algNone, a, own)
	return nil
}
