package ptx

import (
	"strings"

	"aliascheck/rules/ptx/syntax"
)

func asyncRows() []Row {
	return []Row{
		{"cp", "9.7.9.25 Data Movement: Asynchronous Copy: cp.async, cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk", lowerCp},
	}
}

func lowerCp(l *lowerer, in *syntax.Instruction) error {
	words := in.Words[1:]
	reduce := len(words) > 0 && words[0] == "reduce"
	if reduce {
		words = words[1:]
	}
	if len(words) < 2 || words[0] != "async" {
		return l.fail("unknown form")
	}
	switch words[1] {
	case "ca", "cg":
		if reduce {
			return l.fail("unknown form")
		}
		return lowerCopy(l, in, words[2:])
	case "commit_group":
		l.guarded(&code{run: runCommit, effect: true})
		return nil
	case "wait_all":
		l.guarded(&code{run: runWait, effect: true, flags: waitAll})
		return nil
	case "wait_group":
		if len(in.Operands) != 1 || in.Operands[0].Kind != syntax.KindConstant {
			return l.fail("a constant expected")
		}
		l.guarded(&code{run: runWait, effect: true, imm: in.Operands[0].Bits})
		return nil
	case "mbarrier":
		return lowerCopyArrive(l, in, words[2:])
	case "bulk":
		return lowerBulk(l, in, words[2:], reduce)
	}
	return l.fail("unknown form")
}

// lowerCopy lowers cp.async.{ca,cg}.shared.global [dst], [src], size{, srcSize or ignore}{, policy}.
func lowerCopy(l *lowerer, in *syntax.Instruction, words []string) error {
	hint := false
	for i, w := range words {
		switch {
		case i == 0 && (w == "shared" || w == "shared::cta"), i == 1 && w == "global":
		case strings.HasPrefix(w, "L2::"):
			hint = hint || w == "L2::cache_hint"
		default:
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	if len(words) < 2 || len(in.Operands) < 3 || in.Operands[2].Kind != syntax.KindConstant {
		return l.fail("unknown form")
	}
	n := int64(in.Operands[2].Bits)
	if n != 4 && n != 8 && n != 16 {
		return l.fail("a copy of %d bytes", n)
	}
	dst, doff, err := l.addressOf(in.Operands[0], spaceShared)
	if err != nil {
		return err
	}
	src, soff, err := l.addressOf(in.Operands[1], spaceGlobal)
	if err != nil {
		return err
	}
	c := &code{run: runCopy, effect: true, mem: &memOp{space: spaceShared, size: n, off: doff, write: true, what: "cp.async"}, imm: soff}
	c.src = []int32{dst, src}
	if extra := in.Operands[3:]; len(extra) > 1 || len(extra) == 1 && !hint {
		typ := "u32"
		if l.regBits(extra[0]) == 1 || extra[0].Not {
			typ = "pred"
			c.flags |= copyIgnore
		}
		s, err := l.source(extra[0], typ)
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
	}
	c.needs = c.src
	l.guarded(c)
	return nil
}

func lowerCopyArrive(l *lowerer, in *syntax.Instruction, words []string) error {
	c := &code{run: runCopyArrive, effect: true, mem: &memOp{space: spaceShared, what: "mbarrier"}}
	if len(words) == 0 || words[0] != "arrive" || len(in.Operands) != 1 {
		return l.fail("unknown form")
	}
	for _, w := range words[1:] {
		if w == "noinc" {
			c.flags |= copyNoInc
		} else if w != "shared" && w != "shared::cta" && w != "b64" {
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	a, off, err := l.addressOf(in.Operands[0], spaceShared)
	if err != nil {
		return err
	}
	c.src, c.needs, c.mem.off = []int32{a}, []int32{a}, off
	l.p.hasBars = true
	l.guarded(c)
	return nil
}

// bulkOp is a bulk copy: plain, or of a box of a tensor.
type bulkOp struct {
	toShared            bool
	fromShare           bool
	reduce              bool
	tensor              int // dimensions, 0 for a plain copy
	multicast           bool
	mem, dst, src, mbar operandAt
	coords              []int32
	size                int32 // slot
	mask                int32 // slot of the multicast mask
	keep                bool
}

// operandAt is an address operand: slot and offset.
type operandAt struct {
	slot int32
	off  uint64
}

func (l *lowerer) operandAt(op syntax.Operand, sp space) (operandAt, error) {
	s, off, err := l.addressOf(op, sp)
	return operandAt{s, off}, err
}

func lowerBulk(l *lowerer, in *syntax.Instruction, words []string, reduce bool) error {
	if len(words) > 0 {
		switch words[0] {
		case "commit_group", "wait_group":
			return l.groups(in, words[0] == "wait_group", 0)
		case "prefetch":
			return lowerNothing(l, in) // touches nothing that counts
		}
	}
	b := &bulkOp{reduce: reduce, size: -1, mask: -1}
	hint := false
	var spaces []string
	for _, w := range words {
		switch {
		case w == "tensor", w == "tile", w == "bulk_group", w == "mbarrier::complete_tx::bytes":
		case len(w) == 2 && w[1] == 'd' && w[0] >= '1' && w[0] <= '5':
			b.tensor = int(w[0] - '0')
		case w == "global", w == "shared::cta", w == "shared::cluster":
			spaces = append(spaces, w)
		case w == "multicast::cluster":
			b.multicast = true
		case w == "L2::cache_hint":
			hint = true
		case reduce && (w == "add" || w == "min" || w == "max" || w == "inc" || w == "dec" || w == "and" || w == "or" || w == "xor" || w == "noftz" || syntax.TypeBits(w) > 0):
		default:
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	if len(spaces) != 2 {
		return l.fail("two spaces expected")
	}
	b.toShared, b.fromShare = spaces[0] != "global", spaces[1] != "global"
	if !b.toShared && !b.fromShare {
		return l.fail("unknown form")
	}
	_ = hint
	var err error
	c := &code{run: runBulk, effect: true, mem: &memOp{what: "cp.async.bulk"}, bulk: b}
	if b.tensor > 0 {
		err = l.tensorOperands(in, b)
	} else {
		err = l.bulkOperands(in, b)
	}
	if err != nil {
		return err
	}
	for _, a := range []operandAt{b.dst, b.src, b.mbar, b.mem} {
		if a.slot >= 0 {
			c.src = append(c.src, a.slot)
		}
	}
	c.src = append(c.src, b.coords...)
	for _, s := range []int32{b.size, b.mask} {
		if s >= 0 {
			c.src = append(c.src, s)
		}
	}
	c.needs = c.src
	l.p.hasBars = true
	l.guarded(c)
	return nil
}

func (l *lowerer) bulkOperands(in *syntax.Instruction, b *bulkOp) error {
	ops := in.Operands
	if len(ops) < 3 {
		return l.fail("3 operands expected")
	}
	sp := func(shared bool) space {
		if shared {
			return spaceShared
		}
		return spaceGlobal
	}
	var err error
	b.mem.slot, b.mbar.slot = -1, -1
	if b.dst, err = l.operandAt(ops[0], sp(b.toShared)); err != nil {
		return err
	}
	if b.src, err = l.operandAt(ops[1], sp(b.fromShare)); err != nil {
		return err
	}
	if b.size, err = l.source(ops[2], "u32"); err != nil {
		return err
	}
	ops = ops[3:]
	if b.toShared {
		if len(ops) == 0 {
			return l.fail("an mbarrier expected")
		}
		if b.mbar, err = l.operandAt(ops[0], spaceShared); err != nil {
			return err
		}
		ops = ops[1:]
	}
	if b.multicast {
		if len(ops) == 0 {
			return l.fail("a mask expected")
		}
		b.mask, err = l.source(ops[0], "u16")
	}
	return err
}

// tensorOperands reads [dst], [tensorMap, coords], [mbar] or [tensorMap, coords], [src].
func (l *lowerer) tensorOperands(in *syntax.Instruction, b *bulkOp) error {
	ops := in.Operands
	if len(ops) < 2 {
		return l.fail("2 operands expected")
	}
	var err error
	b.dst.slot, b.src.slot, b.mbar.slot = -1, -1, -1
	box := ops[0]
	if b.toShared {
		if b.dst, err = l.operandAt(ops[0], spaceShared); err != nil {
			return err
		}
		box = ops[1]
	} else if b.src, err = l.operandAt(ops[1], spaceShared); err != nil {
		return err
	}
	ops = ops[2:]
	if box.Kind != syntax.KindAddress || len(box.Sub) != 2 {
		return l.fail("a tensor coordinate expected")
	}
	if b.mem, err = l.operandAt(syntax.Operand{Kind: syntax.KindAddress, Bits: box.Bits, Sub: box.Sub[:1]}, spaceGeneric); err != nil {
		return err
	}
	coords := box.Sub[1].Elements()
	if len(coords) != b.tensor {
		return l.fail("%d coordinates expected", b.tensor)
	}
	for _, op := range coords {
		s, err := l.source(op, "s32")
		if err != nil {
			return err
		}
		b.coords = append(b.coords, s)
	}
	if b.toShared {
		if len(ops) == 0 {
			return l.fail("an mbarrier expected")
		}
		if b.mbar, err = l.operandAt(ops[0], spaceShared); err != nil {
			return err
		}
		ops = ops[1:]
	}
	if b.multicast {
		if len(ops) == 0 {
			return l.fail("a mask expected")
		}
		b.mask, err = l.source(ops[0], "u16")
	}
	return err
}
