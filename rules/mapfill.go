package rules

import (
	"strings"

	"aliascheck/alias"
	"aliascheck/hlo"
)

// maxMapValues bounds the values of one memory map.
const maxMapValues = 50_000

// memoryMap is the allocation of a finding's result, or else of its operand, over
// the schedule; nil where the dump has no schedule, or the finding no slice.
func (p *Pass) memoryMap(f *Finding) *MemoryMap {
	slice := f.ResultSlice
	if slice == nil {
		slice = f.OperandSlice
	}
	if slice == nil {
		return nil
	}
	c := p.Call
	allocation := p.allocation(slice)
	if allocation < 0 {
		return nil
	}
	lives, steps, left := p.Lives.Lives(c, allocation, maxMapValues)
	if len(lives) == 0 {
		return nil
	}
	m := &MemoryMap{
		Allocation: slice.Allocation, Size: c.Module.Allocations[allocation].Size, Steps: steps,
		At: int(max(c.Start, 0)), Until: int(max(c.End, c.Start, 0)), LeftOut: left,
		Values: make([]MapValue, 0, len(lives)),
	}
	roles := p.mapRoles(f)
	for _, l := range lives {
		out := mapValue(c.Module, l, roles[l.Value])
		if out.Role == "" && isRelated(f, &out, slice.Allocation) {
			out.Role = MapOverwritten
		}
		m.Values = append(m.Values, out)
	}
	return m
}

func mapValue(m *hlo.Module, l alias.Live, role MapRole) MapValue {
	v := &m.Values[l.Value]
	name := strings.Clone(clip(m.Instructions[v.Instruction].Name, maxText))
	out := MapValue{
		Name: name, Instruction: name, Offset: v.Offset, Size: v.Size,
		From: int(l.From), To: int(l.To), Role: role,
	}
	if len(v.Index) > 0 {
		out.Name += alias.Index(v.Index).String()
	}
	return out
}

// memoryMap is the allocation of a finding's values over the schedule of the computation
// that it is in; nil where that has none. Parameters bear the names of the program.
func (p *ModulePass) memoryMap(pr ModuleProblem) *MemoryMap {
	m := p.Module
	in := &m.Instructions[pr.Instruction]
	first := []int32{pr.Lost}
	if pr.Written >= 0 && m.Values[pr.Written].Allocation == m.Values[pr.Lost].Allocation {
		first = append(first, pr.Written)
	}
	allocation := m.Values[pr.Lost].Allocation
	lives, steps, left := p.Lives.LivesIn(in.Computation, first, allocation, maxMapValues)
	if len(lives) == 0 {
		return nil
	}
	out := &MemoryMap{
		Allocation: m.Allocations[allocation].Index, Size: m.Allocations[allocation].Size, Steps: steps,
		At: int(max(in.Position, 0)), Until: int(max(in.Position, 0)), LeftOut: left,
		Values: make([]MapValue, 0, len(lives)),
	}
	for _, l := range lives {
		role := MapRole("")
		switch l.Value {
		case pr.Lost:
			role = MapOverwritten
		case pr.Written:
			role = MapResult
		}
		v := mapValue(m, l, role)
		v.Name = p.Name(l.Value)
		out.Values = append(out.Values, v)
	}
	return out
}

// allocation returns the index of the allocation that one of the call's leaves with
// this slice lies in, or -1.
func (p *Pass) allocation(slice *hlo.Slice) int32 {
	for _, leaves := range [...][]alias.Leaf{p.Call.Results, p.Call.Operands} {
		for i := range leaves {
			if leaves[i].Allocation >= 0 && leaves[i].Slice == *slice {
				return leaves[i].Allocation
			}
		}
	}
	return -1
}

// mapRoles says which values are the finding's, and which are others of its call.
func (p *Pass) mapRoles(f *Finding) map[int32]MapRole {
	roles := map[int32]MapRole{}
	for i := range p.Call.Operands {
		l := &p.Call.Operands[i]
		switch {
		case l.Value < 0:
		case f.Operand != nil && int(l.Operand) == *f.Operand && sameIndex(l.Index, f.OperandIndex):
			roles[l.Value] = MapOperand
		case roles[l.Value] == "":
			roles[l.Value] = MapOther
		}
	}
	for i := range p.Call.Results {
		l := &p.Call.Results[i]
		switch {
		case l.Value < 0:
		case f.ResultIndex != nil && sameIndex(l.Index, f.ResultIndex):
			roles[l.Value] = MapResult
		case roles[l.Value] == "":
			roles[l.Value] = MapOther
		}
	}
	return roles
}

// isRelated reports whether a value is one that the finding says is overwritten.
func isRelated(f *Finding, v *MapValue, allocation int64) bool {
	for _, r := range f.Related {
		if r.Slice != nil && r.Instruction == v.Instruction && *r.Slice == (hlo.Slice{Allocation: allocation, Offset: v.Offset, Size: v.Size}) {
			return true
		}
	}
	return false
}

func sameIndex(x hlo.ShapeIndex, y []int) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != int64(y[i]) {
			return false
		}
	}
	return true
}
