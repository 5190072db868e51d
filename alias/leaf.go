package alias

import "aliascheck/hlo"

// Shares reports whether two leaves have a byte in common.
func (l *Leaf) Shares(other *Leaf) bool {
	return l.Allocation >= 0 && other.Allocation >= 0 && l.Slice.Shares(other.Slice)
}

// IsAllocated reports whether the leaf's value is the result of AllocateBuffer
// (jnp.empty): a value without contents.
func (l *Leaf) IsAllocated(m *hlo.Module) bool {
	if l.Value < 0 {
		return false
	}
	in := &m.Instructions[m.Values[l.Value].Instruction]
	return in.Custom != nil && in.Custom.Target == "AllocateBuffer"
}

// IsReady reports whether the leaf's value has its contents before the program runs.
func (l *Leaf) IsReady(m *hlo.Module) bool { return l.Value >= 0 && IsReady(m, l.Value) }

// IsReady reports whether a value has its contents before the program runs: an entry
// parameter's, or a constant's.
func IsReady(m *hlo.Module, value int32) bool {
	in := &m.Instructions[m.Values[value].Instruction]
	return in.Opcode == "constant" || in.Opcode == "parameter" && in.Computation == m.Entry
}
