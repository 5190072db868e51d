package ptx

import (
	"math"
	"strings"
)

func (l *lowerer) newSlot(bits uint8, name string) int32 {
	l.p.slots = append(l.p.slots, slotInfo{bits, name})
	return int32(len(l.p.slots) - 1)
}

func (l *lowerer) slotOf(reg int32) int32 {
	if s, ok := l.env.regs[reg]; ok {
		return s
	}
	r := l.env.fn.regs[reg]
	bits := r.bits
	if bits == 128 { // two slots, low half first
		s := l.newSlot(64, r.name)
		l.newSlot(64, r.name)
		l.env.regs[reg] = s
		return s
	}
	s := l.newSlot(bits, r.name)
	l.env.regs[reg] = s
	return s
}

func (l *lowerer) regBits(op operand) int {
	if op.kind == opReg {
		return int(l.env.fn.regs[op.reg].bits)
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
func (l *lowerer) dest(op operand, bits uint8) (int32, error) {
	switch op.kind {
	case opReg:
		return l.slotOf(op.reg), nil
	case opSink:
		return l.newSlot(bits, "_"), nil
	}
	return 0, l.fail("a register expected as destination")
}

// immBits gives a constant's bits in a type.
func immBits(op operand, typ string) uint64 {
	switch {
	case op.float:
		return floatBits(op.imm, typ)
	case op.name == "f32" && typ == "f64":
		return math.Float64bits(float64(math.Float32frombits(uint32(op.imm))))
	case op.name == "f64" && typ == "f32":
		return uint64(math.Float32bits(float32(math.Float64frombits(op.imm))))
	}
	return op.imm
}

// source gives the slot of a source operand of a type.
func (l *lowerer) source(op operand, typ string) (int32, error) {
	bits := uint8(typeBits(typ))
	if bits == 0 {
		return 0, l.fail("unknown type .%s", clip(typ))
	}
	switch op.kind {
	case opReg:
		s := l.slotOf(op.reg)
		switch {
		case op.not:
			return l.unary(s, 1, func(_ *code, a, _, _, _ uint64) uint64 { return a ^ 1 }), nil
		case op.minus:
			return l.unary(s, l.p.slots[s].bits, func(c *code, a, _, _, _ uint64) uint64 { return -a & widthMask(c.bits) }), nil
		}
		return s, nil
	case opImm:
		v := immBits(op, typ)
		if typ == "pred" && v != 0 {
			v = 1
		}
		if op.not {
			v ^= 1
		}
		return l.number(v, min(bits, 64)), nil
	case opSymbol:
		a, err := l.symbol(op.sym)
		return l.number(a+op.imm, min(bits, 64)), err
	case opSpecial:
		return l.special(op)
	}
	return 0, l.fail("this operand is not supported here")
}

func (l *lowerer) unary(src int32, bits uint8, fn scalar) int32 {
	d := l.newSlot(bits, "")
	l.emit(&code{run: runPure, fn: fn, bits: bits, dst: d, src: []int32{src}})
	return d
}

func (l *lowerer) special(op operand) (int32, error) {
	bits := uint8(32)
	name := op.name
	switch strings.SplitN(name, ".", 2)[0] {
	case "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid":
		if len(name) < 2 || name[len(name)-2] != '.' || !strings.ContainsRune("xyz", rune(name[len(name)-1])) {
			return 0, l.fail("unknown special register %%%s", clip(name))
		}
	case "laneid", "warpid", "nwarpid", "smid", "nsmid", "cluster_ctarank", "cluster_nctarank",
		"lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "clock", "clock_hi",
		"globaltimer_lo", "globaltimer_hi", "total_smem_size", "dynamic_smem_size", "aggr_smem_size":
	case "gridid", "clock64", "globaltimer":
		bits = 64
	case "is_explicit_cluster":
		bits = 1
	default:
		return 0, l.fail("unknown special register %%%s", clip(name))
	}
	return l.constant(constant{special: name, param: -1}, bits), nil
}
