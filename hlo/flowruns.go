package hlo

import (
	"slices"
	"strings"
)

// run is some positions [at, at+count) of an instruction, and where their values come
// from: they define them, or they take them from the positions that begin at each of
// from, where one after the other may come by. Neither: it is not known.
type run struct {
	at, count int32
	defines   bool
	from      []int32
}

// fits reports whether all positions of a run are there: shapes that must be equal are
// not always so in a hostile file.
func (f *flow) fits(i int32, r run) bool {
	ok := r.at >= f.first[i] && r.count >= 0 && r.count <= f.first[i+1]-r.at
	for _, from := range r.from {
		ok = ok && from >= 0 && r.count <= int32(len(f.value))-from
	}
	return ok
}

// runs says where the values of an instruction's positions come from, as XLA has it
// (HloDataflowAnalysis, xla/hlo/analysis/hlo_dataflow_analysis.cc). What releases differ
// in is left out as not known: what lies in the tuples of instructions in two halves,
// asynchronous ones and those between devices.
func (f *flow) runs(i int32, each func(run)) {
	in := &f.b.m.Instructions[i]
	at, count := f.first[i], f.first[i+1]-f.first[i]
	switch in.Opcode {
	case "get-tuple-element":
		o := in.Operands[0]
		each(run{at: at, count: count, from: []int32{f.first[o] + f.element(o, in.TupleIndex)}})
	case "bitcast", "opt-barrier", "domain", "add-dependency":
		each(run{at: at, count: count, from: f.ofAll(in.Operands[:min(len(in.Operands), 1)])})
	case "copy":
		each(run{at: at, count: 1, defines: true})
		each(run{at: at + 1, count: count - 1, from: []int32{f.first[in.Operands[0]] + 1}})
	case "tuple":
		each(run{at: at, count: 1, defines: true})
		at++
		for _, o := range in.Operands {
			n := f.first[o+1] - f.first[o]
			each(run{at: at, count: n, from: []int32{f.first[o]}})
			at += n
		}
	case parameter:
		f.parameter(i, each)
	case "while":
		each(run{at: at, count: count, from: f.ofAll(f.roots(in.Called[:1]), in.Operands...)})
	case "conditional", "call":
		each(run{at: at, count: count, from: f.ofAll(f.roots(in.Called))})
	default:
		if halved(in.Opcode) {
			f.halves(i, each)
			return
		}
		each(run{at: at, count: count, defines: true})
	}
}

// ofAll are the first positions of instructions, but of those that are not there.
func (f *flow) ofAll(instructions []int32, more ...int32) []int32 {
	var list []int32
	for _, i := range append(instructions, more...) {
		if i >= 0 {
			list = append(list, f.first[i])
		}
	}
	return list
}

// roots are the roots of computations, -1 for those that are not decoded.
func (f *flow) roots(computations []int32) []int32 {
	var list []int32
	for _, c := range computations {
		list = append(list, f.b.m.Computations[c].Root)
	}
	return list
}

// parameter is runs of a parameter: it takes what its computation's caller passes, and
// in a loop what the body's root hands to the next round. Computations that are called
// for each element define their parameters.
func (f *flow) parameter(i int32, each func(run)) {
	m := &f.b.m
	in := &m.Instructions[i]
	r := run{at: f.first[i], count: f.first[i+1] - f.first[i]}
	callers := m.Computations[in.Computation].Callers
	switch {
	case len(callers) == 0:
		r.defines = true
	case len(callers) > 1: // XLA makes a set
	default:
		caller := &m.Instructions[callers[0]]
		switch caller.Opcode {
		case "while":
			r.from = f.ofAll(f.roots(caller.Called[:1]), caller.Operands...)
		case "conditional":
			branch := slices.Index(caller.Called, in.Computation)
			r.from = f.ofAll(caller.Operands[branch+1 : branch+2])
		case "call", asyncStart:
			r.from = f.ofAll(caller.Operands[in.Parameter : in.Parameter+1])
		case "fusion", "async-update", "async-done":
		default:
			r.defines = true
		}
	}
	each(r)
}

// halves is runs of instructions in two halves. Their tuples are theirs, and so is the
// context of an asynchronous start; what else lies in the tuples is an operand's, the
// other half's or their own, and is not followed.
func (f *flow) halves(i int32, each func(run)) {
	opcode, arity := f.b.m.Instructions[i].Opcode, f.b.insts[i].arity
	if arity < 0 || opcode == "all-reduce-done" {
		return
	}
	at := f.first[i]
	each(run{at: at, count: 1, defines: true})
	for k := int32(0); k < arity && strings.HasPrefix(opcode, "async-"); k++ {
		from, end := f.element(i, k), f.element(i, k+1)
		if end-from > 1 || opcode == asyncStart && k > 1 {
			each(run{at: at + from, count: 1, defines: true})
		}
	}
}

// halved reports whether an instruction is of two halves.
func halved(opcode string) bool {
	return strings.HasSuffix(opcode, "-start") || strings.HasSuffix(opcode, "-update") || strings.HasSuffix(opcode, "-done") ||
		opcode == "send" || opcode == "recv"
}
