package ptx

import (
	"math"
	"slices"
	"strings"
)

func atomicRows() []Row {
	return []Row{
		{"atom", "9.7.13 Parallel Synchronization: atom", lowerAtomic},
		{"red", "9.7.13 Parallel Synchronization: red, red.async", lowerAtomic},
		{"multimem", "9.7.9 Data Movement and Conversion: multimem", func(l *lowerer, _ *instr) error {
			return l.fail("memory that several devices share is not supported")
		}},
	}
}

// lowerAtomic lowers atom and red.
func lowerAtomic(l *lowerer, in *instr) error {
	if len(in.parts) < 3 {
		return l.fail("unknown form")
	}
	if in.parts[1] == "async" {
		return l.storeAsync(in, lowerAtomic)
	}
	n := len(in.parts)
	op := &memOp{vec: 1, write: true, atomic: true, what: in.parts[0]}
	typ, how := in.parts[n-1], ""
	for _, w := range in.parts[1 : n-1] {
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
			return l.fail("unknown modifier .%s", clip(w))
		}
	}
	if !atomicTakes(how, typ, op.vec) {
		return l.fail("unknown operation")
	}
	bits := typeBits(typ)
	op.update = updater(how, typ)
	if how == "add" && typ == "f32" { // in global memory it flushes subnormals
		add := arithOn(typ, arithAdd, false, floatMods{ftz: true})
		op.updateGlobal = func(old, b, _ uint64) uint64 { return add(old, b, 0) }
	}
	op.bits, op.size = uint8(bits), int64(bits/8*op.vec)
	ops := in.ops
	c := &code{run: runAtomic, mem: op, effect: true}
	if in.parts[0] == "atom" {
		if len(ops) < 3 {
			return l.fail("3 operands expected")
		}
		regs, _ := l.elements(ops[0], false)
		for _, r := range regs {
			if r.kind == opSink {
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
	values, _ := l.elements(ops[1], false)
	if how == "cas" {
		if len(ops) < 3 {
			return l.fail("4 operands expected")
		}
		values = append(append([]operand{}, values...), ops[2])
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
	if vec > 1 && (how != "add" && how != "min" && how != "max" || !isFloat(typ) || typ == "f64" || vec*typeBits(typ) > 128) {
		return false
	}
	return slices.Contains(strings.Fields(types), typ)
}

// updater gives what an atomic operation stores.
func updater(how, typ string) func(old, b, c uint64) uint64 {
	bits := uint8(typeBits(typ))
	w := widthMask(bits)
	signed := typ[0] == 's'
	if isFloat(typ) && (how == "add" || how == "min" || how == "max") {
		return floatUpdater(how, typ)
	}
	less := func(a, b uint64) bool {
		if signed {
			return signExtend(a, bits) < signExtend(b, bits)
		}
		return a < b
	}
	switch how {
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case "xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case "exch":
		return func(_, b, _ uint64) uint64 { return b }
	case "cas":
		return func(old, b, c uint64) uint64 {
			if old == b {
				return c
			}
			return old
		}
	case "add":
		return func(old, b, _ uint64) uint64 { return (old + b) & w }
	case "inc":
		return func(old, b, _ uint64) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, b, _ uint64) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	case "min":
		return func(old, b, _ uint64) uint64 {
			if less(b, old) {
				return b
			}
			return old
		}
	case "max":
		return func(old, b, _ uint64) uint64 {
			if less(old, b) {
				return b
			}
			return old
		}
	}
	return nil
}

func floatUpdater(how, typ string) func(old, b, c uint64) uint64 {
	elem := scalarType(typ)
	add := lanes(typ, arithOn(elem, arithAdd, false, floatMods{}))
	pick := lanes(typ, func(a, b, _ uint64) uint64 {
		x, y := toFloat(a, elem, false), toFloat(b, elem, false)
		switch {
		case x != x:
			return b
		case y != y:
			return a
		case strings.HasPrefix(how, "min"):
			return fromFloat(math.Min(x, y), elem, roundNearest)
		}
		return fromFloat(math.Max(x, y), elem, roundNearest)
	})
	if how == "add" {
		return func(old, b, _ uint64) uint64 { return add(nil, old, b, 0, 0) }
	}
	return func(old, b, _ uint64) uint64 { return pick(nil, old, b, 0, 0) }
}

// runAtomic executes atom and red, thread after thread.
func runAtomic(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	t, ok := s.resolve(c, mask)
	if !ok {
		return
	}
	op := c.mem
	var out *results
	if op.want {
		out = t.results()
		out.begin()
	}
	changed := false
	gt := t.guardTaint()
	each := int64(op.bits / 8)
	m := s.m
	value := func(k int, i int32) (uint64, taint) {
		x := &s.r[c.src[k+1]]
		return x.at(int(i), widthMask(m.p.slots[c.src[k+1]].bits)), x.taint
	}
	update := op.update
	if op.updateGlobal != nil && t.space != spaceShared && t.space != spaceCluster {
		update = op.updateGlobal
	}
	one := func(i int32, off int64, load func(off int64) (uint64, taint), store func(off int64, v uint64, tt taint)) {
		for k := 0; k < op.vec; k++ {
			old, tt := load(off + int64(k)*each)
			b, bt := value(k, i)
			x, xt := uint64(0), taint(0)
			if k+1 < len(c.src)-1 && op.vec == 1 {
				x, xt = value(k+1, i)
			}
			v := update(old, b, x)
			changed = changed || v != old
			store(off+int64(k)*each, v, tt|bt|xt|gt)
			if out != nil && k < len(out.regs) {
				out.put(k, i, old, tt|gt)
			}
		}
	}
	switch {
	case t.space == spaceShared || t.space == spaceCluster:
		if !op.want && !op.keep {
			t.sharedEach(true, nil)
			return
		}
		t.sharedEach(true, func(i int32, b *block, off int64) {
			one(i, off, func(o int64) (uint64, taint) { return b.shared.load(m, o, int(each)) },
				func(o int64, v uint64, tt taint) { b.shared.store(m, o, int(each), v, tt) })
		})
	case t.space == spaceLocal || t.space == spaceParam:
		m.stopAt(c.in, "not an address of global or shared memory")
	default:
		t.atomicGlobal(one)
	}
	if out != nil {
		out.end()
	}
	t.stored(changed)
}

func (t *touch) atomicGlobal(one func(i int32, off int64, load func(off int64) (uint64, taint), store func(off int64, v uint64, tt taint))) {
	m, op := t.s.m, t.c.mem
	each := int(op.bits / 8)
	if !op.want && !op.keep {
		t.global(updates, func(_ int32, g *gbuf, _ int64) { g.drop(m) })
		return
	}
	t.global(updates, func(i int32, g *gbuf, off int64) {
		if op.want {
			g.look(t)
		}
		one(i, off, func(o int64) (uint64, taint) {
			v, tt := g.load(m, o, each)
			if op.want {
				tt |= taintOrder | bufferTaint(g.index)
			}
			return v, tt
		}, func(o int64, v uint64, tt taint) { g.store(m, o, each, v, tt) })
	})
}
