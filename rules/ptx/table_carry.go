package ptx

import (
	"math/bits"

	"aliascheck/rules/ptx/syntax"
)

// lowerCarry lowers add.cc, sub.cc, addc and subc. The carry flag is a slot;
// of a subtraction it holds the borrow's complement.
func lowerCarry(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "cc")
	if err != nil {
		return err
	}
	src, err := l.sources(in.Operands[1:], m.typ, m.typ)
	if err != nil {
		return err
	}
	bitsN := uint8(syntax.TypeBits(m.typ))
	d, err := l.dest(in.Operands[0], bitsN)
	if err != nil {
		return err
	}
	sub := in.Words[0] == "sub" || in.Words[0] == "subc"
	withCarry := in.Words[0] == "addc" || in.Words[0] == "subc"
	carryIn := l.number(0, 1)
	if sub {
		carryIn = l.number(1, 1)
	}
	if withCarry {
		carryIn = l.carrySlot()
	}
	full := func(c *code, a, b, ci uint64) (sum, carry uint64) {
		w := widthMask(c.bits0)
		if sub {
			b = ^b & w
		}
		sum, carry = bits.Add64(a, b, ci)
		if c.bits0 < 64 {
			carry = sum >> c.bits0 & 1
		}
		return sum & w, carry
	}
	next := l.newSlot(1, "")
	l.pure(next, 1, func(c *code, a, b, ci, _ uint64) uint64 { _, k := full(c, a, b, ci); return k }, algNone, src[0], src[1], carryIn).bits0 = bitsN
	l.pure(d, bitsN, func(c *code, a, b, ci, _ uint64) uint64 { r, _ := full(c, a, b, ci); return r }, algNone, src[0], src[1], carryIn).bits0 = bitsN
	if m.has("cc") {
		l.pure(l.carrySlot(), 1, move, algMov, next)
	}
	return nil
}

func (l *lowerer) carrySlot() int32 {
	if l.carry < 0 {
		l.carry = l.newSlot(1, "CC.CF")
	}
	return l.carry
}

// lowerMadCarry lowers mad.cc and madc: a*b (half) + c (+ carry).
func lowerMadCarry(l *lowerer, in *syntax.Instruction) error {
	m, err := l.mods(in, "lo", "hi", "cc")
	if err != nil {
		return err
	}
	src, err := l.sources(in.Operands[1:], m.typ, m.typ, m.typ)
	if err != nil {
		return err
	}
	width := uint8(syntax.TypeBits(m.typ))
	d, err := l.dest(in.Operands[0], width)
	if err != nil {
		return err
	}
	hi, signed := m.has("hi"), isSigned(m.typ)
	carryIn := l.number(0, 1)
	if in.Words[0] == "madc" {
		carryIn = l.carrySlot()
	}
	full := func(a, b, x, ci uint64) (uint64, uint64) {
		p := a * b & widthMask(width)
		if hi {
			p = mulHigh(a, b, width, signed)
		}
		sum, carry := bits.Add64(p, x, ci)
		if width < 64 {
			carry = sum >> width & 1
		}
		return sum & widthMask(width), carry
	}
	next := l.newSlot(1, "")
	l.pure(next, 1, func(_ *code, a, b, x, ci uint64) uint64 { _, k := full(a, b, x, ci); return k }, algNone, src[0], src[1], src[2], carryIn)
	l.pure(d, width, func(_ *code, a, b, x, ci uint64) uint64 { r, _ := full(a, b, x, ci); return r }, algNone, src[0], src[1], src[2], carryIn)
	if m.has("cc") {
		l.pure(l.carrySlot(), 1, move, algMov, next)
	}
	return nil
}
