package ptx

import "aliascheck/rules/ptx/syntax"

func logicRows() []Row {
	s := "9.7.8 Logic and Shift: "
	return []Row{
		{"and", s + "and", lowerBitwise},
		{"or", s + "or", lowerBitwise},
		{"xor", s + "xor", lowerBitwise},
		{"not", s + "not", lowerNot},
		{"cnot", s + "cnot", lowerNot},
		{"lop3", s + "lop3", lowerLop3},
		{"shl", s + "shl", lowerShift},
		{"shr", s + "shr", lowerShift},
		{"shf", s + "shf", lowerFunnel},
		{"setp", "9.7.6 Comparison and Selection: setp", lowerSetp},
		{"set", "9.7.6 Comparison and Selection: set", lowerSet},
		{"selp", "9.7.6 Comparison and Selection: selp", lowerSelp},
		{"slct", "9.7.6 Comparison and Selection: slct", lowerSlct},
	}
}

func lowerBitwise(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	var c *code
	switch in.Words[0] {
	case "and":
		if c, err = l.simple(in, m.typ, 2, func(_ *code, a, b, _, _ uint64) uint64 { return a & b }, algAnd); err == nil {
			c.loop = loopAnd
		}
	case "or":
		if c, err = l.simple(in, m.typ, 2, func(_ *code, a, b, _, _ uint64) uint64 { return a | b }, algOr); err == nil {
			c.loop = loopOr
		}
	default:
		_, err = l.simple(in, m.typ, 2, func(_ *code, a, b, _, _ uint64) uint64 { return a ^ b }, algXor)
	}
	return err
}

func loopAnd(_ *code, out, a, b, _ []uint64) bool {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return true
}

func loopOr(_ *code, out, a, b, _ []uint64) bool {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] | b[i]
	}
	return true
}

func lowerNot(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	if in.Words[0] == "cnot" {
		_, err = l.simple(in, m.typ, 1, func(_ *code, a, _, _, _ uint64) uint64 {
			if a == 0 {
				return 1
			}
			return 0
		}, algNone)
		return err
	}
	_, err = l.simple(in, m.typ, 1, func(c *code, a, _, _, _ uint64) uint64 { return ^a & widthMask(c.bits) }, algNone)
	return err
}

func lowerLop3(l *lowerer, in *syntax.Instruction) error {
	if len(in.Operands) != 5 || in.Operands[4].Kind != syntax.KindConstant {
		return l.fail("unknown form")
	}
	table := in.Operands[4].Bits
	_, err := l.typed(in.Operands[:4], 32, func(_ *code, a, b, x, _ uint64) uint64 {
		var out uint64
		for i := uint64(0); i < 8; i++ {
			if table>>i&1 == 0 {
				continue
			}
			p, q, r := ^a, ^b, ^x
			if i&4 != 0 {
				p = a
			}
			if i&2 != 0 {
				q = b
			}
			if i&1 != 0 {
				r = x
			}
			out |= p & q & r
		}
		return out & 0xffffffff
	}, algNone, "b32", "b32", "b32")
	return err
}

func lowerShift(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in)
	if err != nil {
		return err
	}
	width := uint8(syntax.TypeBits(m.typ))
	if in.Words[0] == "shl" {
		_, err = l.typed(in.Operands, width, func(c *code, a, n, _, _ uint64) uint64 { return a << min(n, 64) & widthMask(c.bits) }, algShl, m.typ, "u32")
		return err
	}
	signed := isSigned(m.typ)
	c, err := l.typed(in.Operands, width, func(c *code, a, n, _, _ uint64) uint64 {
		if signed {
			return uint64(signExtend(a, width)>>min(n, 63)) & widthMask(width)
		}
		return a >> min(n, 64)
	}, algShr, m.typ, "u32")
	if err == nil {
		c.signed = signed
	}
	return err
}

func lowerFunnel(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "l", "r", "wrap", "clamp")
	if err != nil {
		return err
	}
	left, clamp := m.has("l"), m.has("clamp")
	_, err = l.simple(in, "b32", 3, func(_ *code, lo, hi, n, _ uint64) uint64 {
		if clamp {
			n = min(n, 32)
		} else {
			n &= 31
		}
		x := hi<<32 | lo
		if left {
			return x << n >> 32 & 0xffffffff
		}
		return x >> n & 0xffffffff
	}, algNone)
	return err
}
