// Package alias looks at one custom call at a time: which bytes its operands and
// results occupy, which pairs it declares, which share bytes, and whose values its
// results are written over.
//
// In: a linked and checked hlo.Module. Out: Calls, whose leaves are resolved to
// slices. Offsets and sizes are bytes, slices are half-open. What cannot be
// resolved carries its reason; nothing is guessed.
package alias

import "aliascheck/hlo"

// Call is one custom call and everything about its memory.
type Call struct {
	Module      *hlo.Module
	Instruction int32 // of opcode custom-call
	Target      string
	Config      []byte // backend_config
	APIVersion  int32

	// Site is the instruction that stands in a scheduled computation for the call:
	// the call itself, the fusion it stands in, or the async-start that wraps it.
	// The call occupies schedule positions Start to End, both included.
	Site       int32
	Start, End int32 // -1 where the computation has no schedule

	Operands []Leaf // every array leaf of every operand, in XLA's order
	Results  []Leaf // every array leaf of the result
	Declared []Declared
}

// Leaf is an array that a call reads or writes, and where it lies.
type Leaf struct {
	Operand int32 // operand number; -1 for a result
	Index   hlo.ShapeIndex
	Element hlo.ElementType
	Dims    []int64
	Bytes   int64 // dense size of the array

	Value      int32 // index into Module.Values, -1 where unresolved
	Allocation int32 // index into Module.Allocations, -1 where unresolved
	Slice      hlo.Slice
	Unresolved string // why there is no slice; empty when there is one
}

// Declared is an entry of output_to_operand_aliasing, looked up among the leaves.
type Declared struct {
	Entry   hlo.DeclaredPair
	Operand int32  // index into Call.Operands, -1 where there is no such leaf
	Result  int32  // index into Call.Results, -1 where there is no such leaf
	Problem string // what is wrong with the entry; empty when it is well formed
}

// Claimed reports whether a declared pair names result leaf r.
func (c *Call) Claimed(r int) bool { return c.Claimant(r) >= 0 }

// Claimant returns the operand leaf that claims result leaf r, or -1.
func (c *Call) Claimant(r int) int {
	for _, d := range c.Declared {
		if d.Result == int32(r) && d.Operand >= 0 {
			return int(d.Operand)
		}
	}
	return -1
}

// IsDeclared reports whether operand leaf o and result leaf r are a declared pair.
func (c *Call) IsDeclared(o, r int) bool {
	for _, d := range c.Declared {
		if d.Operand == int32(o) && d.Result == int32(r) {
			return true
		}
	}
	return false
}

// InDeclaredPair reports whether any declared pair names operand leaf o.
func (c *Call) InDeclaredPair(o int) bool {
	for _, d := range c.Declared {
		if d.Operand == int32(o) {
			return true
		}
	}
	return false
}

// Analyzer audits modules one after another and reuses its memory: the Calls of
// one module are valid until the next.
type Analyzer struct {
	resolver resolver
	lives    lifetimes
	calls    []Call
	leaves   []Leaf
	declared []Declared
	sweep    sweep

	conflicts conflicts
}

// Calls returns every custom call of m that stands in code the program runs, in the
// order of the module's computations and of their instructions.
func (a *Analyzer) Calls(m *hlo.Module) []Call {
	a.resolver.reset(m)
	a.lives.reset(m, &a.resolver)
	a.calls, a.leaves, a.declared = a.calls[:0], a.leaves[:0], a.declared[:0]
	for k := range m.Computations {
		for i := m.Computations[k].First; i < m.Computations[k].End; i++ {
			in := &m.Instructions[i]
			if in.Custom != nil && in.Opcode == "custom-call" {
				a.calls = append(a.calls, a.call(m, i))
			}
		}
	}
	return a.calls
}

func (a *Analyzer) call(m *hlo.Module, i int32) Call {
	in := &m.Instructions[i]
	c := Call{
		Module: m, Instruction: i,
		Target: in.Custom.Target, Config: in.Custom.Config, APIVersion: in.Custom.APIVersion,
	}
	c.Site, c.Start, c.End = site(m, i)
	from := len(a.leaves)
	for n, o := range in.Operands {
		leaves := m.Leaves(o)
		for k := range leaves {
			a.leaf(m, int32(n), o, &leaves[k])
		}
	}
	mid := len(a.leaves)
	leaves := m.Leaves(i)
	for k := range leaves {
		a.leaf(m, -1, i, &leaves[k])
	}
	c.Operands = a.leaves[from:mid:mid]
	c.Results = a.leaves[mid:len(a.leaves):len(a.leaves)]
	from = len(a.declared)
	a.declare(&c)
	c.Declared = a.declared[from:len(a.declared):len(a.declared)]
	return c
}

// leaf adds a leaf of the call's operand, or of its results where that is -1: l of the
// instruction at.
func (a *Analyzer) leaf(m *hlo.Module, operand, at int32, l *hlo.Leaf) {
	a.leaves = append(a.leaves, Leaf{
		Operand: operand, Index: l.Index, Element: l.Element, Dims: l.Dims, Bytes: l.Bytes,
		Value: -1, Allocation: -1,
	})
	out := &a.leaves[len(a.leaves)-1]
	var v int32
	var err error
	if operand < 0 {
		v, err = a.resolver.result(at, l.Index)
	} else {
		v, err = a.resolver.resolve(at, l.Index)
	}
	if err != nil {
		out.Unresolved = err.Error()
		return
	}
	value := &m.Values[v]
	out.Value = v
	if value.Allocation < 0 {
		out.Unresolved = "the buffer assignment gives its value no allocation"
		return
	}
	out.Allocation = value.Allocation
	out.Slice = hlo.Slice{
		Allocation: m.Allocations[value.Allocation].Index,
		Offset:     value.Offset, Size: value.Size,
	}
}
