package ptx

import "aliascheck/rules/ptx/syntax"

// loadParam reads a parameter: a constant of the launch, or a register that a call set.
func (l *lowerer) loadParam(in *syntax.Instruction, op *memOp, typ string) error {
	a := in.Operands[1]
	if a.Kind != syntax.KindAddress || a.Sub[0].Kind != syntax.KindSymbol {
		return l.fail("parameters can only be read by name")
	}
	v := l.env.resolve(a.Sub[0].Variable)
	regs := in.Operands[0].Elements()
	if len(regs)*syntax.TypeBits(typ)/8 != int(op.size) || syntax.TypeBits(typ) > 64 {
		return l.fail("bad vector")
	}
	for i, r := range regs {
		if r.Kind == syntax.KindSink {
			continue
		}
		off := int64(a.Bits) + int64(i)*int64(op.bits/8)
		if off < 0 || off+int64(op.bits/8) > v.Size {
			return l.fail("the parameter has %d bytes", v.Size)
		}
		var src int32
		if l.isEntryParam(v) {
			src = l.constant(constant{param: v.Index, off: off, size: int(op.bits / 8)}, op.bits)
		} else {
			var ok bool
			if src, ok = l.params[paramKey{v, off}]; !ok || l.p.slots[src].bits != op.bits {
				return l.fail("the parameter is read otherwise than it is written")
			}
		}
		d, err := l.dest(r, op.bits)
		if err != nil {
			return err
		}
		l.extendTo(d, src, op)
	}
	return nil
}

func (l *lowerer) paramSlot(v *syntax.Variable, off int64, bits uint8) int32 {
	k := paramKey{v, off}
	s, ok := l.params[k]
	if !ok || l.p.slots[s].bits != bits {
		s = l.newSlot(bits, v.Name)
		l.params[k] = s
	}
	return s
}

// extendTo moves a narrow value to a register that may be wider.
func (l *lowerer) extendTo(d, src int32, op *memOp) {
	wide := l.p.slots[d].bits
	narrow, signed := op.bits, op.extend
	if wide == narrow {
		l.pure(d, wide, move, algMov, src)
		return
	}
	l.pure(d, wide, func(_ *code, a, _, _, _ uint64) uint64 {
		if signed {
			return uint64(signExtend(a, narrow)) & widthMask(wide)
		}
		return a & widthMask(narrow)
	}, algNone, src)
}

func (l *lowerer) storeParam(in *syntax.Instruction, op *memOp, typ string) error {
	a := in.Operands[0]
	if a.Kind != syntax.KindAddress || a.Sub[0].Kind != syntax.KindSymbol || syntax.TypeBits(typ) > 64 {
		return l.fail("parameters can only be written by name")
	}
	v := l.env.resolve(a.Sub[0].Variable)
	if l.isEntryParam(v) {
		return l.fail("a kernel's parameter cannot be written")
	}
	regs := in.Operands[1].Elements()
	for i, r := range regs {
		off := int64(a.Bits) + int64(i)*int64(op.bits/8)
		if off < 0 || off+int64(op.bits/8) > v.Size {
			return l.fail("the parameter has %d bytes", v.Size)
		}
		s, err := l.source(r, typ)
		if err != nil {
			return err
		}
		l.pure(l.paramSlot(v, off, op.bits), op.bits, func(c *code, a, _, _, _ uint64) uint64 { return a & widthMask(c.bits) }, algMov, s)
	}
	return nil
}
