package ptx

import "strings"

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
func (l *lowerer) matrixForm(in *instr) (n int, trans bool, sp space, err error) {
	for _, w := range in.parts[1:] {
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
				return 0, false, 0, l.fail("unknown modifier .%s", clip(w))
			}
			sp = s
		}
	}
	if n == 0 {
		return 0, false, 0, l.fail("unknown form")
	}
	return n, trans, sp, nil
}

// matrixMask gives the lanes whose addresses count: 8 a matrix.
func (m *worker) matrixMask(mask *mset, n int) *mset {
	if n == 4 {
		return mask
	}
	key := guardKey{mask, nil, n == 2}
	if mask.kept {
		if out := m.guards[key]; out != nil {
			return out
		}
	}
	out := newSet(m.threads)
	for _, t := range mask.list {
		if int(t)&31 < 8*n {
			out.add(int(t))
		}
	}
	out.kept = true
	if mask.kept && len(m.guards) < maxOffsets {
		m.guards[key] = out
	}
	return out
}

func lowerLdmatrix(l *lowerer, in *instr) error {
	n, trans, sp, err := l.matrixForm(in)
	if err != nil {
		return err
	}
	if len(in.ops) != 2 {
		return l.fail("2 operands expected")
	}
	addr, off, err := l.addressOf(in.ops[1], sp)
	if err != nil {
		return err
	}
	c := &code{effect: true, src: []int32{addr}, needs: []int32{addr}, mem: &memOp{space: sp, off: off, size: 16, bits: 32, vec: n, what: "ldmatrix"}}
	regs, _ := l.elements(in.ops[0], false)
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
	if _, err := l.laneSync(operand{kind: opImm, imm: 0xffffffff}); err != nil {
		return err
	}
	c.run = func(s *strand, c *code) { runLdmatrix(s, c, n, trans) }
	l.guarded(c)
	return nil
}

// matrixRows resolves the rows of n matrices, which the first 8n lanes of each warp
// name; ok is false where there is nothing to do, or the launch has been stopped.
func (s *strand) matrixRows(c *code, mask *mset, n int) (t touch, ok bool) {
	rows := s.m.matrixMask(mask, n)
	if rows.n == 0 {
		return touch{}, false
	}
	if t, ok = s.resolve(c, rows); !ok {
		return touch{}, false
	}
	if t.space != spaceShared && t.space != spaceCluster {
		s.m.stopAt(c.in, "not an address of shared memory")
		return touch{}, false
	}
	return t, true
}

func runLdmatrix(s *strand, c *code, n int, trans bool) {
	mask := s.active(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	m := s.m
	t, ok := s.matrixRows(c, mask, n)
	if !ok {
		return
	}
	if !c.mem.want {
		t.sharedEach(false, nil)
		return
	}
	place := make([]int64, m.threads)
	for i := range place {
		place[i] = -1
	}
	t.sharedEach(false, func(i int32, _ *block, off int64) { place[i] = off })
	all := t
	all.mask = mask
	out := all.results()
	out.begin()
	b := s.b
	elem := func(w, k, row, col int) (uint64, taint) {
		off := place[min(w*32+k*8+row, m.threads-1)]
		if off < 0 {
			return 0, taintOpaque
		}
		return b.shared.load(m, off+int64(2*col), 2)
	}
	for _, i := range mask.list {
		w, lane := int(i)/32, int(i)&31
		for k := 0; k < n; k++ {
			var v uint64
			var tt taint
			for h := 0; h < 2; h++ {
				row, col := lane/4, lane%4*2+h
				if trans {
					row, col = col, row
				}
				e, et := elem(w, k, row, col)
				v |= e << (16 * h)
				tt |= et
			}
			out.put(k, i, v, tt)
		}
	}
	out.end()
}

func lowerStmatrix(l *lowerer, in *instr) error {
	n, trans, sp, err := l.matrixForm(in)
	if err != nil {
		return err
	}
	if len(in.ops) != 2 {
		return l.fail("2 operands expected")
	}
	addr, off, err := l.addressOf(in.ops[0], sp)
	if err != nil {
		return err
	}
	c := &code{effect: true, src: []int32{addr}, needs: []int32{addr}, mem: &memOp{space: sp, off: off, size: 16, bits: 32, vec: n, write: true, what: "stmatrix"}}
	regs, _ := l.elements(in.ops[1], false)
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
	if _, err := l.laneSync(operand{kind: opImm, imm: 0xffffffff}); err != nil {
		return err
	}
	c.run = func(s *strand, c *code) { runStmatrix(s, c, n, trans) }
	l.guarded(c)
	return nil
}

func runStmatrix(s *strand, c *code, n int, trans bool) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m := s.m
	t, ok := s.matrixRows(c, mask, n)
	if !ok {
		return
	}
	if !c.mem.keep {
		t.sharedEach(true, nil)
		return
	}
	gt := t.guardTaint()
	t.sharedEach(true, func(i int32, b *block, off int64) {
		w, k, row := int(i)&^31, int(i)&31/8, int(i)&7
		x := &s.r[c.src[1+k]]
		for col := 0; col < 8; col++ {
			r, cc := row, col
			if trans {
				r, cc = col, row
			}
			lane := w + r*4 + cc/2
			v := x.at(min(lane, m.threads-1), 0xffffffff) >> (16 * (cc & 1)) & 0xffff
			b.shared.store(m, off+int64(2*col), 2, v, x.taint|gt)
		}
	})
	t.stored(true)
}

func lowerMovmatrix(l *lowerer, in *instr) error {
	if strings.Join(in.parts[1:], ".") != "sync.aligned.m8n8.trans.b16" {
		return l.fail("unknown form")
	}
	src, err := l.sources(in, "b32", 1, 1)
	if err != nil {
		return err
	}
	d, err := l.dest(in.ops[0], 32)
	if err != nil {
		return err
	}
	if _, err := l.laneSync(operand{kind: opImm, imm: 0xffffffff}); err != nil {
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
				from := w*32 + row*4 + col/2
				v |= x[0].at(from, 0xffffffff) >> (16 * (col & 1)) & 0xffff << (16 * h)
			}
			set(0, lane, v)
		}
	}, src...)
	return nil
}

// opaqueOp gives registers a value that is not computed.
func (l *lowerer) opaqueOp(dsts, src []int32) {
	l.guarded(&code{run: runOpaque, dsts: dsts, src: src})
}

func runOpaque(s *strand, c *code) {
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
func (l *lowerer) matrixRegisters(op operand) ([]int32, error) {
	list, _ := l.elements(op, false)
	var out []int32
	for _, r := range list {
		switch r.kind {
		case opReg:
			out = append(out, l.slotOf(r.reg))
		case opImm:
		default:
			return nil, l.fail("registers expected")
		}
	}
	return out, nil
}

// lowerMma lowers mma.sync and mma.sp: d, a, b, c...
func lowerMma(l *lowerer, in *instr) error {
	if len(in.ops) < 4 {
		return l.fail("4 operands expected")
	}
	known := false
	for _, w := range in.parts[1:] {
		known = known || w == "sync"
	}
	if !known {
		return l.fail("unknown form")
	}
	dsts, err := l.matrixRegisters(in.ops[0])
	if err != nil {
		return err
	}
	var src []int32
	for _, op := range in.ops[1:] {
		s, err := l.matrixRegisters(op)
		if err != nil {
			return err
		}
		src = append(src, s...)
	}
	if _, err := l.laneSync(operand{kind: opImm, imm: 0xffffffff}); err != nil {
		return err
	}
	l.opaqueOp(dsts, src)
	return nil
}

// lowerWgmma lowers wgmma.*. Its matrices lie in shared memory or registers:
// it touches no global memory.
func lowerWgmma(l *lowerer, in *instr) error {
	if len(in.parts) < 2 {
		return l.fail("unknown form")
	}
	switch in.parts[1] {
	case "fence", "commit_group", "wait_group":
		return lowerNothing(l, in)
	case "mma_async":
	default:
		return l.fail("unknown form")
	}
	if len(in.ops) < 3 {
		return l.fail("3 operands expected")
	}
	dsts, err := l.matrixRegisters(in.ops[0])
	if err != nil {
		return err
	}
	if err := l.matrixReads(in); err != nil {
		return err
	}
	src := append([]int32{}, dsts...)
	for _, op := range in.ops[1:] {
		s, err := l.matrixRegisters(op)
		if err != nil {
			return err
		}
		src = append(src, s...)
	}
	l.opaqueOp(dsts, src)
	return nil
}
