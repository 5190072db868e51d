package alias

import (
	"aliascheck/hlo/kernel"
)

// Request asks for the kernel that the call launches. It is valid while the module is.
func (c *Call) Request() *kernel.Request {
	m := c.Module
	in := &m.Instructions[c.Instruction]
	r := &kernel.Request{
		Target: c.Target, Config: c.Config,
		Instruction: in.Name, Computation: m.Computations[in.Computation].Name, Module: m.Name,
		Operands: arrays(c.Operands), Results: arrays(c.Results),
		Prefix: m.Companions.Prefix(), Files: m.Companions,
	}
	for _, d := range c.Declared {
		if d.Operand >= 0 && d.Result >= 0 {
			r.Pairs = append(r.Pairs, kernel.Pair{Operand: int(d.Operand), Result: int(d.Result)})
		}
	}
	return r
}

// arrays are the leaves as a decoder sees them.
func arrays(leaves []Leaf) []kernel.Array {
	out := make([]kernel.Array, 0, len(leaves))
	for i := range leaves {
		l := &leaves[i]
		out = append(out, kernel.Array{Element: l.Element.String(), Dims: l.Dims, Bytes: l.Bytes})
	}
	return out
}
