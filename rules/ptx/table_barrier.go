package ptx

import "aliascheck/rules/ptx/syntax"

func barrierRows() []Row {
	s := "9.7.13 Parallel Synchronization: "
	return []Row{
		{"bar", s + "bar; barrier; bar.warp.sync", lowerBar},
		{"barrier", s + "barrier; barrier.cluster", lowerBar},
		{"membar", s + "membar", lowerNothing},
		{"fence", s + "fence; fence.proxy", lowerFence},
		{"mbarrier", s + "mbarrier", lowerMbarrier},
	}
}

func lowerFence(l *lowerer, in *syntax.Instruction) error {
	for _, w := range in.Words[1:] {
		switch w {
		case "sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "proxy", "alias", "async", "async::generic",
			"async.global", "global", "shared", "shared::cta", "shared::cluster", "mbarrier_init", "tensormap::generic",
			"sync_restrict::shared::cta", "sync_restrict::shared::cluster", "op_restrict", "op_restrict::mbarrier_init", "async.shared::cta":
		default:
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	return lowerNothing(l, in)
}

// lowerBar lowers bar.{sync,arrive,red}, barrier.*, bar.warp.sync and barrier.cluster.*.
func lowerBar(l *lowerer, in *syntax.Instruction) error {
	words := in.Words[1:]
	if len(words) > 0 && words[0] == "warp" {
		if len(in.Operands) != 1 {
			return l.fail("1 operand expected")
		}
		_, err := l.laneSync(in.Operands[0])
		return err
	}
	if len(words) > 1 && words[0] == "cluster" {
		return lowerClusterBar(l, in, words[1:])
	}
	if len(words) > 0 && words[0] == "cta" {
		words = words[1:]
	}
	if len(words) == 0 || len(in.Operands) == 0 {
		return l.fail("unknown form")
	}
	c := &code{run: runBarrier, effect: true, sync: &syncOp{barrier: true}}
	ops := in.Operands
	switch words[0] {
	case "sync":
	case "arrive":
		c.flags |= barArrive
	case "red":
		return lowerBarRed(l, in, words[1:], c)
	default:
		return l.fail("unknown form")
	}
	if len(ops) > 2 {
		return l.fail("2 operands expected")
	}
	for i, op := range ops {
		s, err := l.source(op, "u32")
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
		if i == 1 {
			c.flags |= barCount
		}
	}
	c.needs = c.src
	l.unguarded(c)
	return nil
}

// unguarded emits a code that a branch goes around where the guard is false:
// threads that wait must not be followed by others of their group.
func (l *lowerer) unguarded(c *code) {
	over := l.around()
	l.emit(c)
	l.land(over)
}

func lowerBarRed(l *lowerer, in *syntax.Instruction, words []string, c *code) error {
	if len(words) < 2 || len(in.Operands) < 3 || len(in.Operands) > 4 || in.Guard >= 0 {
		return l.fail("unknown form")
	}
	c.flags |= barReduce
	width := uint8(1)
	how := words[0]
	if how == "aligned" {
		how = words[1]
	}
	switch how {
	case "popc":
		width = 32
	case "and":
		c.imm = 1
	case "or":
		c.imm = 2
	default:
		return l.fail("unknown form")
	}
	d, err := l.dest(in.Operands[0], width)
	if err != nil {
		return err
	}
	c.dsts = []int32{d}
	for i, op := range in.Operands[1:] {
		typ := "u32"
		if i == len(in.Operands)-2 {
			typ = "pred"
		} else if i == 1 {
			c.flags |= barCount
		}
		s, err := l.source(op, typ)
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
	}
	c.needs, c.wants = c.src[:len(c.src)-1], c.src[len(c.src)-1:]
	l.guarded(c)
	return nil
}

func lowerClusterBar(l *lowerer, in *syntax.Instruction, words []string) error {
	c := &code{effect: true, sync: &syncOp{barrier: true}}
	switch words[0] {
	case "arrive":
		c.run = runClusterArrive
	case "wait":
		c.run = runClusterWait
	default:
		return l.fail("unknown form")
	}
	for _, w := range words[1:] {
		switch w {
		case "relaxed":
			c.flags |= barArrive
		case "release", "acquire", "aligned":
		default:
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	l.unguarded(c)
	return nil
}
