package ptx

import "aliascheck/rules/ptx/syntax"

// opaqueOp gives registers a value that is not computed.
func (l *lowerer) opaqueOp(dsts, src []int32) {
	l.guarded(&code{run: runOpaque, dsts: dsts, src: src, opaque: true})
}

func runOpaque(s *threadGroup, c *code) {
	if s.guarded(c) == nil {
		s.keepOld(c)
		return
	}
	tt := taintOpaque
	if c.guard >= 0 {
		tt |= s.r[c.guard].taint
	}
	for _, x := range c.src {
		tt |= s.r[x].taint
	}
	for _, d := range c.dsts {
		s.r[d].setU(0, tt)
	}
}

// matrixRegisters gives the slots of registers in operands.
func (l *lowerer) matrixRegisters(op syntax.Operand) ([]int32, error) {
	list := op.Elements()
	var out []int32
	for _, r := range list {
		switch r.Kind {
		case syntax.KindRegister:
			out = append(out, l.slotOf(r.Register))
		case syntax.KindConstant:
		default:
			return nil, l.fail("registers expected")
		}
	}
	return out, nil
}

// lowerMma lowers mma.sync and mma.sp: d, a, b, c...
func lowerMma(l *lowerer, in *syntax.Instruction) error {
	if len(in.Operands) < 4 {
		return l.fail("4 operands expected")
	}
	known := false
	for _, w := range in.Words[1:] {
		known = known || w == "sync"
	}
	if !known {
		return l.fail("unknown form")
	}
	dsts, err := l.matrixRegisters(in.Operands[0])
	if err != nil {
		return err
	}
	var src []int32
	for _, op := range in.Operands[1:] {
		s, err := l.matrixRegisters(op)
		if err != nil {
			return err
		}
		src = append(src, s...)
	}
	if _, err := l.laneSync(syntax.Operand{Kind: syntax.KindConstant, Bits: 0xffffffff}); err != nil {
		return err
	}
	l.opaqueOp(dsts, src)
	return nil
}

// lowerWgmma lowers wgmma.*. Its matrices lie in shared memory or registers:
// it touches no global memory.
func lowerWgmma(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) < 2 {
		return l.fail("unknown form")
	}
	switch in.Words[1] {
	case "fence":
		return lowerNothing(l, in)
	case "commit_group", "wait_group":
		return l.groups(in, in.Words[1] == "wait_group", groupMatrix)
	case "mma_async":
	default:
		return l.fail("unknown form")
	}
	if len(in.Operands) < 3 {
		return l.fail("3 operands expected")
	}
	dsts, err := l.matrixRegisters(in.Operands[0])
	if err != nil {
		return err
	}
	if err := l.matrixReads(in); err != nil {
		return err
	}
	src := append([]int32{}, dsts...)
	for _, op := range in.Operands[1:] {
		s, err := l.matrixRegisters(op)
		if err != nil {
			return err
		}
		src = append(src, s...)
	}
	l.opaqueOp(dsts, src)
	return nil
}
