package alias

import "aliascheck/hlo"

// parameters holds the entry's parameters, and what was promised of its results, to the
// memory that the caller passes: each leaf is in the allocation that is its own.
func (c *conflicts) parameters() {
	for _, p := range c.m.Computations[c.m.Entry].Parameters {
		if p < 0 {
			continue
		}
		in := &c.m.Instructions[p]
		for v := in.FirstValue; v < in.EndValue; v++ {
			if value := &c.m.Values[v]; value.Allocation >= 0 && value.Size > 0 && !c.isOwnPlace(v) && c.lives.isArray(v) {
				c.misplaced(v)
			}
		}
	}
	c.promises()
}

// isOwnPlace reports whether an entry parameter's value begins the allocation that the
// caller passes for it.
func (c *conflicts) isOwnPlace(v int32) bool {
	value := &c.m.Values[v]
	x := &c.m.Allocations[value.Allocation]
	return x.EntryParameter && x.Parameter == int64(c.m.Instructions[value.Instruction].Parameter) &&
		equal(x.ParameterIndex, value.Index) && value.Offset == 0
}

// misplaced tells of a parameter that the program reads where the caller did not pass it.
func (c *conflicts) misplaced(v int32) {
	why := c.lives.forEver(v)
	if h := c.lives.head[v]; why == "" && h < 0 {
		return // nobody reads it
	}
	x := Conflict{Kind: Misplaced, Lost: v, Written: -1, Reader: -1, Why: why}
	if h := c.lives.head[v]; h >= 0 {
		x.Reader, x.Why = c.lives.uses[h].reader, "an instruction reads it"
		if c.lives.uses[h].pos == atEnd {
			x.Why = "it is part of what its computation returns"
		}
	}
	value := &c.m.Values[v]
	for _, w := range c.m.Allocations[value.Allocation].Values {
		if o := &c.m.Values[w]; w != v && c.isPassed(w) && c.isOwnPlace(w) && o.Offset < value.Offset+value.Size && value.Offset < o.Offset+o.Size {
			x.Kind, x.Written = TwoParameters, w
		}
	}
	c.add(x)
}

// promises looks for outputs that are not in the memory of the parameter whose memory
// the caller was promised them in.
func (c *conflicts) promises() {
	root := c.m.Computations[c.m.Entry].Root
	for _, d := range c.m.Donated {
		if !d.Aliased || root < 0 {
			continue
		}
		w, err := c.lives.resolver.resolve(root, d.Output)
		if err != nil || c.m.Values[w].Allocation < 0 || c.m.Values[w].Size <= 0 || !c.lives.isArray(w) {
			continue
		}
		x := &c.m.Allocations[c.m.Values[w].Allocation]
		if x.EntryParameter && x.Parameter == d.Parameter && equal(x.ParameterIndex, d.Index) {
			continue
		}
		v := c.passed(d.Parameter, d.Index)
		if v < 0 || c.isTold(v) {
			continue
		}
		c.add(Conflict{Kind: NotReturned, Lost: v, Written: w, Reader: -1, Why: "the caller takes the parameter's memory for this output"})
	}
}

// passed is the value of an entry parameter's leaf, or -1.
func (c *conflicts) passed(parameter int64, index hlo.ShapeIndex) int32 {
	list := c.m.Computations[c.m.Entry].Parameters
	if parameter < 0 || parameter >= int64(len(list)) || list[parameter] < 0 {
		return -1
	}
	v, ok := c.m.ValueAt(list[parameter], index)
	if !ok {
		return -1
	}
	return v
}

// isTold reports whether a conflict of parameter v was told already.
func (c *conflicts) isTold(v int32) bool {
	for i := range c.out {
		if c.out[i].Lost == v {
			return true
		}
	}
	return false
}
