package ptx

import (
	"slices"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

func memoryRows() []Row {
	s := "9.7.9 Data Movement and Conversion: "
	return []Row{
		{"ld", s + "ld", lowerLoad},
		{"ldu", s + "ldu", lowerLoad},
		{"st", s + "st, st.async", lowerStore},
		{"prefetch", s + "prefetch", lowerHint},
		{"prefetchu", s + "prefetchu", lowerHint},
		{"applypriority", s + "applypriority", lowerHint},
		{"createpolicy", s + "createpolicy", lowerPolicy},
		{"alloca", s + "stack manipulation: alloca", func(l *lowerer, _ *syntax.Instruction) error { return l.fail("dynamic stacks are not supported") }},
	}
}

func spaceWord(w string) (space, bool) {
	switch w {
	case "global":
		return spaceGlobal, true
	case "const":
		return spaceConst, true
	case "shared", "shared::cta":
		return spaceShared, true
	case "shared::cluster":
		return spaceCluster, true
	case "local":
		return spaceLocal, true
	case "param", "param::entry", "param::func":
		return spaceParam, true
	}
	return 0, false
}

// memoryWords reads the words of ld and st: semantics, scope, space, hints, vector.
func (l *lowerer) memoryWords(in *syntax.Instruction) (*memOp, string, error) {
	n := len(in.Words)
	op := &memOp{vec: 1, what: in.Words[0]}
	typ := in.Words[n-1]
	for _, w := range in.Words[1 : n-1] {
		if sp, ok := spaceWord(w); ok {
			op.space = sp
			continue
		}
		switch w {
		case "v2":
			op.vec = 2
		case "v4":
			op.vec = 4
		case "v8":
			op.vec = 8
		case "volatile", "relaxed", "acquire", "release", "mmio":
			op.weak = true
		case "weak", "cta", "cluster", "gpu", "sys", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified",
			"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate",
			"L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::cache_hint", "L2::64B", "L2::128B", "L2::256B":
		default:
			return nil, "", l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	bits := syntax.TypeBits(typ)
	if bits < 8 {
		return nil, "", l.fail("unknown type .%s", syntax.Clip(typ))
	}
	op.bits = uint8(min(bits, 64))
	op.extend = isSigned(typ)
	op.size = int64(bits/8) * int64(op.vec)
	if bits == 128 {
		op.vec *= 2
	}
	return op, typ, nil
}

// addressOf gives the slot and the offset of an address operand.
func (l *lowerer) addressOf(op syntax.Operand, sp space) (slot int32, off uint64, err error) {
	if op.Kind != syntax.KindAddress || len(op.Sub) == 0 {
		return 0, 0, l.fail("an address expected")
	}
	base := op.Sub[0]
	switch base.Kind {
	case syntax.KindRegister:
		return l.slotOf(base.Register), op.Bits, nil
	case syntax.KindConstant:
		return l.number(base.Bits, 64), op.Bits, nil
	case syntax.KindSymbol:
		a, err := l.symbol(base.Variable)
		if err != nil {
			return 0, 0, err
		}
		if sp == spaceGeneric && base.Variable.Space == "shared" {
			a += sharedWindow
		}
		if sp == spaceGeneric && base.Variable.Space == "local" {
			a += localWindow
		}
		return l.number(a, 64), op.Bits, nil
	}
	return 0, 0, l.fail("this address is not supported")
}

func lowerLoad(l *lowerer, in *syntax.Instruction) error {
	op, typ, err := l.memoryWords(in)
	if err != nil {
		return err
	}
	if len(in.Operands) != 2 && len(in.Operands) != 3 {
		return l.fail("2 operands expected")
	}
	if a := in.Operands[1]; op.space == spaceParam && (a.Kind != syntax.KindAddress || len(a.Sub) == 0 || a.Sub[0].Kind != syntax.KindRegister) {
		return l.loadParam(in, op, typ)
	}
	if op.space == spaceConst {
		op.space = spaceGlobal
	}
	addr, off, err := l.addressOf(in.Operands[1], op.space)
	if err != nil {
		return err
	}
	op.off = off
	if op.space == spaceParam { // as mov and cvta.param give it
		op.off -= paramWindow
	}
	regs := in.Operands[0].Elements()
	c := &code{run: runLoad, mem: op, src: []int32{addr}, effect: true, needs: []int32{addr}}
	for _, r := range regs {
		if syntax.TypeBits(typ) == 128 {
			if r.Kind != syntax.KindRegister {
				return l.fail("a register expected")
			}
			s := l.slotOf(r.Register)
			c.dsts = append(c.dsts, s, s+1)
			continue
		}
		if r.Kind == syntax.KindSink {
			c.dsts = append(c.dsts, -1)
			continue
		}
		d, err := l.dest(r, op.bits)
		if err != nil {
			return err
		}
		c.dsts = append(c.dsts, d)
		op.dstBits = l.p.slots[d].bits
	}
	if len(c.dsts) != op.vec {
		return l.fail("%d registers expected", op.vec)
	}
	l.guarded(c)
	return nil
}

func lowerStore(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) > 1 && in.Words[1] == "async" {
		return l.storeAsync(in, lowerStore)
	}
	if len(in.Words) > 1 && in.Words[1] == "bulk" {
		return l.fail("st.bulk is not supported")
	}
	op, typ, err := l.memoryWords(in)
	if err != nil {
		return err
	}
	if len(in.Operands) != 2 && len(in.Operands) != 3 {
		return l.fail("2 operands expected")
	}
	op.write = true
	if op.space == spaceParam {
		return l.storeParam(in, op, typ)
	}
	if op.space == spaceConst {
		return l.fail("constants cannot be written")
	}
	addr, off, err := l.addressOf(in.Operands[0], op.space)
	if err != nil {
		return err
	}
	op.off = off
	c := &code{run: runStore, mem: op, src: []int32{addr}, effect: true, needs: []int32{addr}}
	regs := in.Operands[1].Elements()
	for _, r := range regs {
		if syntax.TypeBits(typ) == 128 {
			if r.Kind != syntax.KindRegister {
				return l.fail("a register expected")
			}
			s := l.slotOf(r.Register)
			c.src = append(c.src, s, s+1)
			continue
		}
		s, err := l.source(r, typ)
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
	}
	if len(c.src) != op.vec+1 {
		return l.fail("%d values expected", op.vec)
	}
	l.guarded(c)
	return nil
}

// lowerHint lowers what touches no memory that counts: prefetches and cache hints.
func lowerHint(l *lowerer, in *syntax.Instruction) error {
	for _, w := range in.Words[1:] {
		if _, ok := spaceWord(w); !ok && !strings.HasPrefix(w, "L1") && !strings.HasPrefix(w, "L2") && w != "tensormap" {
			return l.fail("unknown modifier .%s", syntax.Clip(w))
		}
	}
	l.emit(&code{run: runNothing, isNothing: true, effect: true})
	return nil
}

// lowerPolicy gives a cache policy: a number that means nothing here.
func lowerPolicy(l *lowerer, in *syntax.Instruction) error {
	if len(in.Operands) < 1 || !slices.Contains([]string{"fractional", "range", "cvt"}, in.Words[1]) {
		return l.fail("unknown form")
	}
	d, err := l.dest(in.Operands[0], 64)
	if err != nil {
		return err
	}
	l.pure(d, 64, move, algMov, l.number(0, 64))
	return nil
}
