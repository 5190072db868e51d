package alias

import "slices"

// OtherReader finds an instruction, other than the call itself, that reads value
// v, before or after it, or the root of a computation through which v leaves: the
// entry's, a loop's, a branch's. It walks the whole module: ask it only where
// something was found.
func (a *Analyzer) OtherReader(c *Call, v int32) (reader int32, ok bool) {
	for i := range c.Module.Instructions {
		in := &c.Module.Instructions[i]
		comp := &c.Module.Computations[in.Computation]
		if int32(i) == c.Instruction || int32(i) == c.Site || comp.Fusion && in.Computation != c.Module.Instructions[c.Instruction].Computation {
			continue
		}
		if !forwards(in.Opcode) && slices.ContainsFunc(in.Operands, func(o int32) bool { return a.carries(c, o, v) }) {
			return int32(i), true
		}
	}
	for k := range c.Module.Computations {
		comp := &c.Module.Computations[k]
		if comp.Decoded && comp.Root >= 0 && a.outlives(c, int32(k)) && a.carries(c, comp.Root, v) {
			return comp.Root, true
		}
	}
	return -1, false
}

// forwards reports whether an opcode hands its operands on without reading them.
func forwards(opcode string) bool {
	switch opcode {
	case "get-tuple-element", "tuple", "bitcast", "opt-barrier", "parameter", "constant",
		"call", "async-start", "async-update", "async-done":
		return true
	}
	return false
}

// outlives reports whether what computation k's root holds is somebody else's value
// afterwards: the caller's of the entry, the next iteration's, the conditional's.
func (a *Analyzer) outlives(c *Call, k int32) bool {
	if k == c.Module.Entry {
		return true
	}
	for _, caller := range c.Module.Computations[k].Callers {
		if op := c.Module.Instructions[caller].Opcode; op == "while" || op == "conditional" {
			return true
		}
	}
	return false
}

// carries reports whether value v is among the arrays of instruction i.
func (a *Analyzer) carries(c *Call, i, v int32) bool {
	for _, leaf := range c.Module.Leaves(i) {
		if x, err := a.resolver.resolve(i, leaf.Index); err == nil && x == v {
			return true
		}
	}
	return false
}
