package ptx

import (
	"slices"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

func atomicRows() []Row {
	return []Row{
		{"atom", "9.7.13 Parallel Synchronization: atom", lowerAtomic},
		{"red", "9.7.13 Parallel Synchronization: red, red.async", lowerAtomic},
		{"multimem", "9.7.9 Data Movement and Conversion: multimem", func(l *lowerer, _ *syntax.Instruction) error {
			return l.fail("memory that several devices share is not supported")
		}},
	}
}

// atomicWords reads the words of atom and red. Code in use has the operation
// of vectors behind the type (v2.f32.add) as well as before it (add.v2.f32).
func (l *lowerer) atomicWords(in *syntax.Instruction) (op *memOp, how, typ string, err error) {
	op = &memOp{vec: 1, write: true, atomic: true, what: in.Words[0]}
	for _, w := range in.Words[1:] {
		if sp, ok := spaceWord(w); ok {
			op.space = sp
			continue
		}
		switch w {
		case "and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max":
			how = w
		case "v2":
			op.vec = 2
		case "v4":
			op.vec = 4
		case "v8":
			op.vec = 8
		case "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "noftz", "L2::cache_hint":
		default:
			if syntax.TypeBits(w) == 0 || typ != "" {
				return nil, "", "", l.fail("unknown modifier .%s", syntax.Clip(w))
			}
			typ = w
		}
	}
	if !atomicTakes(how, typ, op.vec) {
		return nil, "", "", l.fail("unknown operation")
	}
	return op, how, typ, nil
}

// lowerAtomic lowers atom and red.
func lowerAtomic(l *lowerer, in *syntax.Instruction) error {
	if len(in.Words) < 3 {
		return l.fail("unknown form")
	}
	if in.Words[1] == "async" {
		return l.storeAsync(in, lowerAtomic)
	}
	op, how, typ, err := l.atomicWords(in)
	if err != nil {
		return err
	}
	bits := syntax.TypeBits(typ)
	op.update = updater(how, typ)
	if how == "add" && typ == "f32" { // in global memory it flushes subnormals
		add := arithOn(typ, arithAdd, false, floatMods{ftz: true})
		op.updateGlobal = func(old, b, _ uint64) uint64 { return add(old, b, 0) }
	}
	op.bits, op.size = uint8(bits), int64(bits/8*op.vec)
	ops := in.Operands
	c := &code{run: runAtomic, mem: op, effect: true}
	if in.Words[0] == "atom" {
		if len(ops) < 3 {
			return l.fail("3 operands expected")
		}
		regs := ops[0].Elements()
		for _, r := range regs {
			if r.Kind == syntax.KindSink {
				c.dsts = append(c.dsts, -1)
				continue
			}
			d, err := l.dest(r, op.bits)
			if err != nil {
				return err
			}
			c.dsts = append(c.dsts, d)
		}
		op.dstBits = op.bits
		ops = ops[1:]
	}
	if len(ops) < 2 {
		return l.fail("2 operands expected")
	}
	addr, off, err := l.addressOf(ops[0], op.space)
	if err != nil {
		return err
	}
	op.off = off
	c.src, c.needs = []int32{addr}, []int32{addr}
	values := ops[1].Elements()
	if how == "cas" {
		if len(ops) < 3 {
			return l.fail("4 operands expected")
		}
		values = append(append([]syntax.Operand{}, values...), ops[2])
	}
	for _, v := range values {
		s, err := l.source(v, typ)
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
	}
	if want := op.vec + int(b2u(how == "cas")); len(c.src) != want+1 || len(c.dsts) != 0 && len(c.dsts) != op.vec {
		return l.fail("the operands do not fit")
	}
	l.guarded(c)
	return nil
}

// atomicTakes says which types and vectors an operation has.
func atomicTakes(how, typ string, vec int) bool {
	var types string
	switch how {
	case "and", "or", "xor":
		types = "b32 b64"
	case "exch":
		types = "b32 b64 u32 s32 u64 f32"
	case "cas":
		types = "b16 b32 b64 u32 s32 u64"
	case "add":
		types = "u32 s32 u64 f32 f64 f16 f16x2 bf16 bf16x2"
	case "inc", "dec":
		types = "u32"
	case "min", "max":
		types = "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2"
	}
	if vec > 1 && (how != "add" && how != "min" && how != "max" || !isFloat(typ) || typ == "f64" || vec*syntax.TypeBits(typ) > 128) {
		return false
	}
	return slices.Contains(strings.Fields(types), typ)
}
