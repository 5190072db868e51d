package ptx

import (
	"math"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

func (l *lowerer) newSlot(bits uint8, name string) int32 {
	l.p.slots = append(l.p.slots, slotInfo{bits, name})
	return int32(len(l.p.slots) - 1)
}

func (l *lowerer) slotOf(reg int32) int32 {
	if s, ok := l.env.regs[reg]; ok {
		return s
	}
	r := l.env.fn.Registers[reg]
	bits := r.Bits
	if bits == 128 { // two slots, low half first
		s := l.newSlot(64, r.Name)
		l.newSlot(64, r.Name)
		l.env.regs[reg] = s
		return s
	}
	s := l.newSlot(bits, r.Name)
	l.env.regs[reg] = s
	return s
}

func (l *lowerer) regBits(op syntax.Operand) int {
	if op.Kind == syntax.KindRegister {
		return int(l.env.fn.Registers[op.Register].Bits)
	}
	return 0
}

func (l *lowerer) constant(k constant, bits uint8) int32 {
	if s, ok := l.consts[k]; ok {
		return s
	}
	key := k
	k.slot = l.newSlot(bits, "")
	l.consts[key] = k.slot
	l.p.consts = append(l.p.consts, k)
	return k.slot
}

func (l *lowerer) number(v uint64, bits uint8) int32 {
	return l.constant(constant{value: v & widthMask(bits), param: -1, size: int(bits)}, bits)
}

// dest gives the slot of a destination; a sink gets one that nobody reads.
func (l *lowerer) dest(op syntax.Operand, bits uint8) (int32, error) {
	switch op.Kind {
	case syntax.KindRegister:
		return l.slotOf(op.Register), nil
	case syntax.KindSink:
		return l.newSlot(bits, "_"), nil
	}
	return 0, l.fail("a register expected as destination")
}

// floatBits gives the bits of a float constant (kept as float64 bits) in a type.
func floatBits(bits64 uint64, typ string) uint64 {
	f := math.Float64frombits(bits64)
	switch typ {
	case "f32", "tf32", "b32", "u32", "s32":
		return uint64(math.Float32bits(float32(f)))
	case "f16", "b16":
		return uint64(f64ToF16(f, roundNearest))
	case "bf16":
		return uint64(f64ToBF16(f, roundNearest))
	}
	return bits64
}

// immBits gives a constant's bits in a type.
func immBits(op syntax.Operand, typ string) uint64 {
	switch {
	case op.Float:
		return floatBits(op.Bits, typ)
	case op.Name == "f32" && typ == "f64":
		return math.Float64bits(float64(math.Float32frombits(uint32(op.Bits))))
	case op.Name == "f64" && typ == "f32":
		return uint64(math.Float32bits(float32(math.Float64frombits(op.Bits))))
	}
	return op.Bits
}

// source gives the slot of a source operand of a type.
func (l *lowerer) source(op syntax.Operand, typ string) (int32, error) {
	bits := uint8(syntax.TypeBits(typ))
	if bits == 0 {
		return 0, l.fail("unknown type .%s", syntax.Clip(typ))
	}
	switch op.Kind {
	case syntax.KindRegister:
		s := l.slotOf(op.Register)
		switch {
		case op.Not:
			return l.unary(s, 1, func(_ *code, a, _, _, _ uint64) uint64 { return a ^ 1 }), nil
		case op.Minus:
			return l.unary(s, l.p.slots[s].bits, func(c *code, a, _, _, _ uint64) uint64 { return -a & widthMask(c.bits) }), nil
		}
		return s, nil
	case syntax.KindConstant:
		v := immBits(op, typ)
		if typ == "pred" && v != 0 {
			v = 1
		}
		if op.Not {
			v ^= 1
		}
		return l.number(v, min(bits, 64)), nil
	case syntax.KindSymbol:
		a, err := l.symbol(op.Variable)
		return l.number(a+op.Bits, min(bits, 64)), err
	case syntax.KindSpecial:
		return l.special(op)
	}
	return 0, l.fail("this operand is not supported here")
}

func (l *lowerer) unary(src int32, bits uint8, fn scalar) int32 {
	d := l.newSlot(bits, "")
	l.emit(&code{run: runPure, fn: fn, bits: bits, dst: d, src: []int32{src}})
	return d
}

func (l *lowerer) special(op syntax.Operand) (int32, error) {
	bits := uint8(32)
	name := op.Name
	switch strings.SplitN(name, ".", 2)[0] {
	case "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid":
		if len(name) < 2 || name[len(name)-2] != '.' || !strings.ContainsRune("xyz", rune(name[len(name)-1])) {
			return 0, l.fail("unknown special register %%%s", syntax.Clip(name))
		}
	case "laneid", "warpid", "nwarpid", "smid", "nsmid", "cluster_ctarank", "cluster_nctarank",
		"lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "clock", "clock_hi",
		"globaltimer_lo", "globaltimer_hi", "total_smem_size", "dynamic_smem_size", "aggr_smem_size":
	case "gridid", "clock64", "globaltimer":
		bits = 64
	case "is_explicit_cluster":
		bits = 1
	default:
		return 0, l.fail("unknown special register %%%s", syntax.Clip(name))
	}
	return l.constant(constant{special: name, param: -1}, bits), nil
}
