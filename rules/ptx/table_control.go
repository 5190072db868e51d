package ptx

import "aliascheck/rules/ptx/syntax"

func controlRows() []Row {
	s := "9.7.12 Control Flow: "
	m := "9.7.19 Miscellaneous: "
	return []Row{
		{"bra", s + "bra", lowerBranch},
		{"brx", s + "brx.idx", lowerBrx},
		{"call", s + "call", lowerCall},
		{"ret", s + "ret", lowerRet},
		{"exit", s + "exit", lowerExit},
		{"trap", m + "trap", func(l *lowerer, _ *syntax.Instruction) error { return l.trap() }},
		{"brkpt", m + "brkpt", lowerNothing},
		{"pmevent", m + "pmevent", lowerNothing},
		{"nanosleep", m + "nanosleep", func(l *lowerer, _ *syntax.Instruction) error {
			l.emit(&code{run: func(s *threadGroup, _ *code) { s.yield = true }, effect: true})
			return nil
		}},
		{"setmaxnreg", m + "setmaxnreg", lowerNothing},
		{"griddepcontrol", "9.7.13 Parallel Synchronization: griddepcontrol", lowerNothing},
		{"discard", "9.7.9 Data Movement and Conversion: discard", func(l *lowerer, _ *syntax.Instruction) error {
			return l.fail("discard leaves memory undefined: not supported")
		}},
	}
}

func lowerNothing(l *lowerer, _ *syntax.Instruction) error {
	l.emit(&code{run: runNothing, isNothing: true, effect: true})
	return nil
}

func lowerBranch(l *lowerer, in *syntax.Instruction) error {
	if len(in.Operands) != 1 || in.Operands[0].Kind != syntax.KindLabel {
		return l.fail("a label expected")
	}
	l.jump(int32(in.Operands[0].Bits))
	return nil
}

// jump emits a branch to an instruction of the current function.
func (l *lowerer) jump(to int32) {
	c := &code{term: termJump, to: []int32{to}, env: l.env, effect: true}
	if l.in.Guard >= 0 {
		c.term = termBranch
	}
	l.guarded(c)
}

func lowerBrx(l *lowerer, in *syntax.Instruction) error {
	if len(in.Operands) != 2 || in.Operands[1].Kind != syntax.KindList || len(in.Operands[1].Sub) == 0 || in.Guard >= 0 {
		return l.fail("unknown form")
	}
	x, err := l.source(in.Operands[0], "u32")
	if err != nil {
		return err
	}
	c := &code{term: termIndex, src: []int32{x}, needs: []int32{x}, env: l.env, effect: true}
	for _, op := range in.Operands[1].Sub {
		c.to = append(c.to, int32(op.Bits))
	}
	l.emit(c)
	return nil
}

// around emits a branch over what follows for threads whose guard is false;
// the result is to be given the place after it.
func (l *lowerer) around() *code {
	if l.in.Guard < 0 {
		return nil
	}
	c := &code{term: termBranch, to: []int32{-1}, effect: true}
	c.guard, c.not, c.flags = l.slotOf(l.in.Guard), !l.in.Negated, flagGuard
	return l.emit(c)
}

func (l *lowerer) land(c *code) {
	if c != nil {
		c.to[0] = int32(len(l.p.codes))
		c.env = nil
		l.emit(&code{run: runNothing, isNothing: true, effect: true})
	}
}

func lowerCall(l *lowerer, in *syntax.Instruction) error {
	ops := in.Operands
	var rets, args []syntax.Operand
	if len(ops) > 0 && ops[0].Kind == syntax.KindList {
		rets, ops = ops[0].Sub, ops[1:]
	}
	if len(ops) == 0 || ops[0].Kind != syntax.KindFunction {
		return l.fail("only calls of known functions are supported")
	}
	f := ops[0].Function
	if len(ops) > 1 && ops[1].Kind == syntax.KindList {
		args = ops[1].Sub
	}
	if f.Declared {
		return l.fail("%s has no body", syntax.Clip(f.Name))
	}
	for _, op := range append(append([]syntax.Operand{}, rets...), args...) {
		if op.Kind != syntax.KindSymbol || op.Variable.Space != "param" {
			return l.fail("arguments must be .param variables")
		}
	}
	over := l.around()
	if err := l.function(f, args, rets, l.env, in); err != nil {
		return err
	}
	l.in = in
	l.land(over)
	return nil
}

func lowerRet(l *lowerer, in *syntax.Instruction) error {
	if l.env.parent == nil {
		return lowerExit(l, in)
	}
	l.jump(int32(len(l.env.fn.Body)))
	return nil
}

func lowerExit(l *lowerer, _ *syntax.Instruction) error {
	over := l.around()
	l.emit(&code{term: termExit, effect: true})
	l.land(over)
	return nil
}

func (l *lowerer) trap() error {
	over := l.around()
	l.emit(&code{run: func(s *threadGroup, c *code) {
		s.m.stopAt(c.in, "the kernel executes a trap")
	}, effect: true})
	l.emit(&code{term: termExit, effect: true})
	l.land(over)
	return nil
}
