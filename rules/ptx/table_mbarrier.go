package ptx

import "aliascheck/rules/ptx/syntax"

// lowerMbarrier lowers mbarrier.*.
func lowerMbarrier(l *lowerer, in *syntax.Instruction) error {
	words := in.Words[1:]
	if len(words) == 0 {
		return l.fail("unknown form")
	}
	c := &code{run: runMbarrier, effect: true, mem: &memOp{space: spaceShared, what: "mbarrier"}}
	op := words[0]
	for _, w := range words[1:] {
		switch w {
		case "expect_tx":
			c.flags |= mbExpectTx
		case "parity":
			c.flags |= mbParity
		case "relaxed":
			c.flags |= mbRelaxed
		case "noComplete", "b64", "shared", "shared::cta", "shared::cluster", "acquire", "release", "cta", "cluster":
		default:
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	ops := in.Operands
	result := false
	switch op {
	case "init":
		c.imm = uint64(mbInit)
	case "inval":
		c.imm = uint64(mbInval)
	case "arrive", "arrive_drop":
		c.imm, result = uint64(mbArrive), true
		if op == "arrive_drop" {
			c.flags |= mbDrop
		}
	case "expect_tx":
		c.imm = uint64(mbExpect)
	case "complete_tx":
		c.imm = uint64(mbComplete)
	case "test_wait", "try_wait":
		c.imm, result = uint64(mbTest), true
	case "pending_count":
		return l.fail("mbarrier.pending_count is not supported")
	default:
		return l.fail("unknown form")
	}
	if result && len(ops) > 0 && ops[0].Kind != syntax.KindAddress {
		width := uint8(64)
		if mbarOp(c.imm) == mbTest {
			width = 1
		}
		d := int32(-1)
		if ops[0].Kind != syntax.KindSink {
			var err error
			if d, err = l.dest(ops[0], width); err != nil {
				return err
			}
		}
		c.dsts = []int32{d}
		ops = ops[1:]
	}
	if len(ops) == 0 {
		return l.fail("an address expected")
	}
	addr, off, err := l.addressOf(ops[0], spaceShared)
	if err != nil {
		return err
	}
	c.src, c.mem.off = []int32{addr}, off
	if len(ops) > 1 {
		s, err := l.source(ops[1], map[bool]string{true: "u64", false: "u32"}[l.regBits(ops[1]) == 64])
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
		c.flags |= mbSource
	}
	c.needs = c.src
	l.p.hasBars = true
	l.guarded(c)
	return nil
}
