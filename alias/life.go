package alias

import "aliascheck/hlo"

// Life returns the instructions that bring value v into being and that need it last, of
// the module whose Conflicts were asked for last; -1 stands for the program's start and
// its end. Where the order is not known it is from the defining instruction to the end.
func (a *Analyzer) Life(v int32) (from, to int32) {
	c := &a.conflicts
	from = c.m.Values[v].Instruction
	if c.isPassed(v) || c.lives.kinds[from] == isConstant {
		from = -1
	}
	born := c.m.Values[v].Instruction
	if c.time.leave[born] < 0 {
		return from, -1
	}
	tick := c.time.leave[born]
	if c.lives.kinds[born] == isParameter {
		tick = c.time.begin[c.m.Instructions[born].Computation]
	}
	return from, c.at(c.last(v, tick))
}

// at is the instruction at a tick: of a computation's beginning or end the one that calls
// it, -1 for the entry's.
func (c *conflicts) at(tick int32) int32 {
	for k := range c.time.begin {
		if c.time.begin[k] == tick || c.time.end[k] == tick {
			if callers := c.m.Computations[k].Callers; len(callers) > 0 {
				return callers[0]
			}
			return -1
		}
	}
	for t := tick; int(t) < len(c.time.events); t++ { // what calls others is over at a later tick
		if i := c.time.events[t].instruction; i >= 0 {
			return i
		}
	}
	return -1
}

// Output returns the value at an index of the entry's result, or -1.
func (a *Analyzer) Output(index hlo.ShapeIndex) int32 {
	root := a.lives.m.Computations[a.lives.m.Entry].Root
	if root < 0 {
		return -1
	}
	v, err := a.resolver.resolve(root, index)
	if err != nil {
		return -1
	}
	return v
}
