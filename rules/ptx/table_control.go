package ptx

func controlRows() []Row {
	s := "9.7.12 Control Flow: "
	m := "9.7.19 Miscellaneous: "
	return []Row{
		{"bra", s + "bra", lowerBranch},
		{"brx", s + "brx.idx", lowerBrx},
		{"call", s + "call", lowerCall},
		{"ret", s + "ret", lowerRet},
		{"exit", s + "exit", lowerExit},
		{"trap", m + "trap", func(l *lowerer, _ *instr) error { return l.trap() }},
		{"brkpt", m + "brkpt", lowerNothing},
		{"pmevent", m + "pmevent", lowerNothing},
		{"nanosleep", m + "nanosleep", func(l *lowerer, _ *instr) error {
			l.emit(&code{run: func(s *strand, _ *code) { s.yield = true }, effect: true})
			return nil
		}},
		{"setmaxnreg", m + "setmaxnreg", lowerNothing},
		{"griddepcontrol", "9.7.13 Parallel Synchronization: griddepcontrol", lowerNothing},
		{"discard", "9.7.9 Data Movement and Conversion: discard", func(l *lowerer, _ *instr) error {
			return l.fail("discard leaves memory undefined: not supported")
		}},
	}
}

func lowerNothing(l *lowerer, _ *instr) error {
	l.emit(&code{run: runNothing, isNothing: true, effect: true})
	return nil
}

func lowerBranch(l *lowerer, in *instr) error {
	if len(in.ops) != 1 || in.ops[0].kind != opLabel {
		return l.fail("a label expected")
	}
	l.jump(int32(in.ops[0].imm))
	return nil
}

// jump emits a branch to an instruction of the current function.
func (l *lowerer) jump(to int32) {
	c := &code{term: termJump, to: []int32{to}, env: l.env, effect: true}
	if l.in.guard >= 0 {
		c.term = termBranch
	}
	l.guarded(c)
}

func lowerBrx(l *lowerer, in *instr) error {
	if len(in.ops) != 2 || in.ops[1].kind != opList || len(in.ops[1].sub) == 0 || in.guard >= 0 {
		return l.fail("unknown form")
	}
	x, err := l.source(in.ops[0], "u32")
	if err != nil {
		return err
	}
	c := &code{term: termIndex, src: []int32{x}, needs: []int32{x}, env: l.env, effect: true}
	for _, op := range in.ops[1].sub {
		c.to = append(c.to, int32(op.imm))
	}
	l.emit(c)
	return nil
}

// around emits a branch over what follows for threads whose guard is false;
// the result is to be given the place after it.
func (l *lowerer) around() *code {
	if l.in.guard < 0 {
		return nil
	}
	c := &code{term: termBranch, to: []int32{-1}, effect: true}
	c.guard, c.not, c.flags = l.slotOf(l.in.guard), !l.in.not, flagGuard
	return l.emit(c)
}

func (l *lowerer) land(c *code) {
	if c != nil {
		c.to[0] = int32(len(l.p.codes))
		c.env = nil
		l.emit(&code{run: runNothing, isNothing: true, effect: true})
	}
}

func lowerCall(l *lowerer, in *instr) error {
	ops := in.ops
	var rets, args []operand
	if len(ops) > 0 && ops[0].kind == opList {
		rets, ops = ops[0].sub, ops[1:]
	}
	if len(ops) == 0 || ops[0].kind != opFunc {
		return l.fail("only calls of known functions are supported")
	}
	f := ops[0].fn
	if len(ops) > 1 && ops[1].kind == opList {
		args = ops[1].sub
	}
	if f.decl {
		return l.fail("%s has no body", clip(f.name))
	}
	for _, op := range append(append([]operand{}, rets...), args...) {
		if op.kind != opSymbol || op.sym.space != "param" {
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

func lowerRet(l *lowerer, in *instr) error {
	if l.env.parent == nil {
		return lowerExit(l, in)
	}
	l.jump(int32(len(l.env.fn.body)))
	return nil
}

func lowerExit(l *lowerer, _ *instr) error {
	over := l.around()
	l.emit(&code{term: termExit, effect: true})
	l.land(over)
	return nil
}

func (l *lowerer) trap() error {
	over := l.around()
	l.emit(&code{run: func(s *strand, c *code) {
		s.m.stopAt(c.in, "the kernel executes a trap")
	}, effect: true})
	l.emit(&code{term: termExit, effect: true})
	l.land(over)
	return nil
}
