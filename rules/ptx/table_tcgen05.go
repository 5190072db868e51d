package ptx

import (
	"math/bits"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

// tcgen05Rows are the instructions of the fifth generation of tensor cores. Tensor
// memory is nobody's but theirs: what is in it is not computed, and what is read of it is
// opaque. What counts is order: a commit arrives on an mbarrier when all that the thread
// has issued is over, which is at once on this machine.
func tcgen05Rows() []Row {
	return []Row{
		{"tcgen05", "9.7.16 TensorCore 5th Generation: tcgen05: tensor memory is not computed", lowerTcgen05},
		{"clusterlaunchcontrol", "9.7.13.17 clusterlaunchcontrol: no launch is ever cancelled, so that every block of the grid runs", lowerLaunchControl},
	}
}

func lowerTcgen05(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) < 2 {
		return l.fail("unknown form")
	}
	switch op := in.Words[1]; op {
	case "dealloc", "relinquish_alloc_permit", "fence::before_thread_sync", "fence::after_thread_sync", "wait::ld", "wait::st", "wait", "shift", "st", "cp", "mma":
		return lowerNothing(l, in)
	case "ld":
		if len(in.Operands) < 2 {
			return l.fail("2 operands expected")
		}
		dsts, err := l.matrixRegisters(in.Operands[0])
		if err != nil {
			return err
		}
		l.opaqueOp(dsts, nil)
		return nil
	case "alloc":
		return l.tensorAlloc(in)
	case "commit":
		return l.tensorCommit(in)
	}
	return l.fail("unknown form")
}

// tensorAlloc lowers tcgen05.alloc [a], columns: the address in tensor memory, which only
// tcgen05 takes, is stored to shared memory.
func (l *lowerer) tensorAlloc(in *syntax.Instruction) error {
	if len(in.Operands) != 2 {
		return l.fail("2 operands expected")
	}
	store := *in
	store.Name, store.Words = "st.shared.b32", []string{"st", "shared", "b32"}
	store.Operands = []syntax.Operand{in.Operands[0], {Kind: syntax.KindConstant}}
	for _, w := range in.Words {
		if w == "shared::cta" || w == "shared" {
			return l.rows["st"].lower(l, &store)
		}
	}
	return l.fail("only the form with .shared::cta is supported")
}

// tensorCommit lowers tcgen05.commit [mbarrier]{, mask}: one arrival, on the mbarrier
// at this place in each block of the mask.
func (l *lowerer) tensorCommit(in *syntax.Instruction) error {
	c := &code{run: runMbarrier, effect: true, imm: uint64(mbArrive), mem: &memOp{space: spaceShared, what: "mbarrier"}}
	multicast := false
	for _, w := range in.Words[2:] {
		switch {
		case w == "multicast::cluster":
			multicast = true
		case strings.HasPrefix(w, "cta_group::"), w == "mbarrier::arrive::one", w == "shared::cluster", w == "shared::cta", w == "shared", w == "b64":
		default:
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	if len(in.Operands) != 1 && !(multicast && len(in.Operands) == 2) {
		return l.fail("an mbarrier expected")
	}
	a, off, err := l.addressOf(in.Operands[0], spaceShared)
	if err != nil {
		return err
	}
	c.src, c.mem.off = []int32{a}, off
	if multicast {
		mask, err := l.source(in.Operands[1], "u16")
		if err != nil {
			return err
		}
		c.src, c.run = append(c.src, mask), runCommitAll
	}
	c.needs = c.src
	l.p.hasBars = true
	l.guarded(c)
	return nil
}

// runCommitAll executes a commit that arrives in several blocks.
func runCommitAll(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m, cl := s.m, s.b.cl
	for _, slot := range c.src {
		if t := s.r[slot].taint; t != 0 {
			m.useAddress(t, c, false)
		}
	}
	for _, i := range mask.list {
		a := uint32(s.r[c.src[0]].at(int(i), 0xffffffff) + c.mem.off)
		own, off := s.b.sharedBlock(a)
		if own == nil {
			m.stopAt(c.in, "the mbarrier lies outside of shared memory")
			return
		}
		for w := s.r[c.src[1]].at(int(i), 0xffff); w != 0; w &= w - 1 {
			mb := cl.mbars[mbarKey{bits.TrailingZeros64(w), off}]
			if mb == nil {
				m.stopAt(c.in, "the mbarrier was never initialized")
				return
			}
			mb.arrive(s.b, int(i), 1)
			mb.advance(cl)
		}
	}
}

// lowerLaunchControl lowers clusterlaunchcontrol. A block may ask to take the place of one
// that has not begun; here all blocks begin, which the hardware may decide just so, and
// every answer says no. The mbarrier is told of the answer's 16 bytes.
func lowerLaunchControl(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) < 3 {
		return l.fail("unknown form")
	}
	switch {
	case in.Words[1] == "try_cancel" && len(in.Operands) == 2:
		a, off, err := l.addressOf(in.Operands[1], spaceShared)
		if err != nil {
			return err
		}
		c := &code{run: runAnswer, effect: true, mem: &memOp{space: spaceShared, off: off, what: "mbarrier"}, src: []int32{a}}
		for _, w := range in.Words {
			if strings.HasPrefix(w, "multicast::cluster") {
				c.flags |= answerAll
			}
		}
		c.needs = c.src
		l.p.hasBars = true
		l.guarded(c)
		return nil
	case in.Words[1] == "query_cancel" && in.Words[2] == "is_canceled" && len(in.Operands) == 2:
		no := *in
		no.Name, no.Words = "mov.pred", []string{"mov", "pred"}
		no.Operands = []syntax.Operand{in.Operands[0], {Kind: syntax.KindConstant}}
		return l.rows["mov"].lower(l, &no)
	case in.Words[1] == "query_cancel" && strings.HasPrefix(in.Words[2], "get_first_ctaid") && len(in.Operands) == 2:
		return lowerNothing(l, in) // of a launch that was cancelled: there is none
	}
	return l.fail("unknown form")
}

const answerAll = 1 << 0

// runAnswer tells the mbarriers that an answer has come.
func runAnswer(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	cl := s.b.cl
	if t := s.r[c.src[0]].taint; t != 0 {
		s.m.useAddress(t, c, false)
	}
	for _, i := range mask.list {
		a := uint32(s.r[c.src[0]].at(int(i), 0xffffffff) + c.mem.off)
		own, off := s.b.sharedBlock(a)
		if own == nil {
			s.m.stopAt(c.in, "the mbarrier lies outside of shared memory")
			return
		}
		for _, b := range cl.blocks {
			if b != own && c.flags&answerAll == 0 {
				continue
			}
			mb := cl.mbars[mbarKey{b.rank, off}]
			if mb == nil {
				s.m.stopAt(c.in, "the mbarrier was never initialized")
				return
			}
			mb.tx -= 16
			mb.advance(cl)
		}
	}
}
