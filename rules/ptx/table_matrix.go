package ptx

import (
	"strings"

	"aliascheck/rules/ptx/syntax"
)

func matrixRows() []Row {
	s := "9.7.14 Warp-Level Matrix: "
	return []Row{
		{"ldmatrix", s + "ldmatrix", lowerLdmatrix},
		{"stmatrix", s + "stmatrix", lowerStmatrix},
		{"movmatrix", s + "movmatrix", lowerMovmatrix},
		{"mma", s + "mma, mma.sp: the results are not computed", lowerMma},
		{"wgmma", "9.7.15 Asynchronous Warpgroup-Level Matrix: wgmma: the results are not computed", lowerWgmma},
	}
}

// matrixForm reads "sync.aligned.m8n8.xN[.trans].shared.b16".
func (l *lowerer) matrixForm(in *syntax.Instruction) (n int, trans bool, sp space, err error) {
	for _, w := range in.Words[1:] {
		switch w {
		case "sync", "aligned", "m8n8", "b16":
		case "x1":
			n = 1
		case "x2":
			n = 2
		case "x4":
			n = 4
		case "trans":
			trans = true
		default:
			s, ok := spaceWord(w)
			if !ok {
				return 0, false, 0, l.fail("unknown modifier .%s", syntax.Clip(w))
			}
			sp = s
		}
	}
	if n == 0 {
		return 0, false, 0, l.fail("unknown form")
	}
	return n, trans, sp, nil
}

func lowerLdmatrix(l *lowerer, in *syntax.Instruction) error {
	n, trans, sp, err := l.matrixForm(in)
	if err != nil {
		return err
	}
	if len(in.Operands) != 2 {
		return l.fail("2 operands expected")
	}
	addr, off, err := l.addressOf(in.Operands[1], sp)
	if err != nil {
		return err
	}
	c := &code{effect: true, src: []int32{addr}, needs: []int32{addr}, mem: &memOp{space: sp, off: off, size: 16, bits: 32, vec: n, what: "ldmatrix"}}
	regs := in.Operands[0].Elements()
	if len(regs) != n {
		return l.fail("%d registers expected", n)
	}
	for _, r := range regs {
		d, err := l.dest(r, 32)
		if err != nil {
			return err
		}
		c.dsts = append(c.dsts, d)
	}
	if _, err := l.laneSync(syntax.Operand{Kind: syntax.KindConstant, Bits: 0xffffffff}); err != nil {
		return err
	}
	c.run = func(s *threadGroup, c *code) { runLdmatrix(s, c, n, trans) }
	l.guarded(c)
	return nil
}

func lowerStmatrix(l *lowerer, in *syntax.Instruction) error {
	n, trans, sp, err := l.matrixForm(in)
	if err != nil {
		return err
	}
	if len(in.Operands) != 2 {
		return l.fail("2 operands expected")
	}
	addr, off, err := l.addressOf(in.Operands[0], sp)
	if err != nil {
		return err
	}
	c := &code{effect: true, src: []int32{addr}, needs: []int32{addr}, mem: &memOp{space: sp, off: off, size: 16, bits: 32, vec: n, write: true, what: "stmatrix"}}
	regs := in.Operands[1].Elements()
	if len(regs) != n {
		return l.fail("%d registers expected", n)
	}
	for _, r := range regs {
		s, err := l.source(r, "b32")
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
	}
	if _, err := l.laneSync(syntax.Operand{Kind: syntax.KindConstant, Bits: 0xffffffff}); err != nil {
		return err
	}
	c.run = func(s *threadGroup, c *code) { runStmatrix(s, c, n, trans) }
	l.guarded(c)
	return nil
}

func lowerMovmatrix(l *lowerer, in *syntax.Instruction) error {
	if strings.Join(in.Words[1:], ".") != "sync.aligned.m8n8.trans.b16" {
		return l.fail("unknown form")
	}
	src, err := l.sources(in.Operands[1:], "b32")
	if err != nil {
		return err
	}
	d, err := l.dest(in.Operands[0], 32)
	if err != nil {
		return err
	}
	if _, err := l.laneSync(syntax.Operand{Kind: syntax.KindConstant, Bits: 0xffffffff}); err != nil {
		return err
	}
	l.lanesOp([]int32{d}, func(_ *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		for lane := 0; lane < 32; lane++ {
			if lanes>>lane&1 == 0 {
				continue
			}
			var v uint64
			for h := 0; h < 2; h++ {
				row, col := lane%4*2+h, lane/4 // transposed
				from := row*4 + col/2
				if lanes>>from&1 == 0 { // a lane that is not there: what it gives is undefined
					continue
				}
				v |= x[0].at(w*32+from, 0xffffffff) >> (16 * (col & 1)) & 0xffff << (16 * h)
			}
			set(0, lane, v)
		}
	}, src...)
	return nil
}
