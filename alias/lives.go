package alias

// Live is a value that lies in an allocation, and the schedule positions of one
// computation at which it holds its bytes, both included.
type Live struct {
	Value    int32 // into Module.Values
	From, To int32
}

// Lives returns when the values of an allocation hold their bytes, in positions of
// the computation that runs c, and how many positions that has: for a picture of the
// memory around the call. At most `most` values are given, and left is how many more
// there are; those of c come first. Values of other branches than c's are left out
// without count: they are never there at the same time. Without a schedule there are
// no positions and nothing is returned.
//
// A value from outside is there from position 0, one that is needed after the
// computation ends to the last; what a called computation does is done at its caller.
func (a *Analyzer) Lives(c *Call, allocation int32, most int) (lives []Live, steps, left int) {
	var own []int32
	for _, leaves := range [...][]Leaf{c.Results, c.Operands} {
		for i := range leaves {
			if v := leaves[i].Value; v >= 0 && leaves[i].Allocation == allocation {
				own = append(own, v)
			}
		}
	}
	return a.LivesIn(c.Module.Instructions[c.Site].Computation, own, allocation, most)
}

// LivesIn is Lives for any computation; some values of the allocation come first, and
// are given however many they are.
func (a *Analyzer) LivesIn(comp int32, first []int32, allocation int32, most int) (lives []Live, steps, left int) {
	l := &a.lives
	schedule := l.m.Computations[comp].Schedule
	if schedule == nil || l.m.Allocations[allocation].ThreadLocal {
		return nil, 0, 0
	}
	l.build()
	last := int32(len(schedule)) - 1
	own := map[int32]bool{}
	for _, v := range first {
		if !own[v] {
			own[v] = true
			lives = l.live(lives, v, comp, last)
		}
	}
	for _, v := range l.m.Allocations[allocation].Values {
		switch {
		case own[v] || l.m.Values[v].Size <= 0:
		case len(lives) >= most:
			left++
		case l.isArray(v):
			lives = l.live(lives, v, comp, last)
		}
	}
	return lives, len(schedule), left
}

// live appends when value v holds its bytes, where computation comp knows of it.
func (l *lifetimes) live(out []Live, v, comp, last int32) []Live {
	from, ok := l.appears(v, comp)
	if !ok {
		return out
	}
	to := from
	for h := l.head[v]; h >= 0; h = l.uses[h].next {
		to = max(to, l.lastly(&l.uses[h], comp, last))
	}
	if l.forEver(v) != "" {
		to = last
	}
	return append(out, Live{v, min(from, last), min(to, last)})
}

// appears returns the position in comp from which on v is there; false where comp
// and v's computation never run inside one another.
func (l *lifetimes) appears(v, comp int32) (int32, bool) {
	in := &l.m.Instructions[l.m.Values[v].Instruction]
	if in.Computation == comp {
		if in.Opcode == "parameter" || in.Opcode == "constant" {
			return 0, true
		}
		return max(in.Position, 0), true
	}
	if x, ok := l.callerIn(in.Computation, comp); ok {
		start, _ := interval(l.m, x)
		return max(start, 0), true
	}
	_, ok := l.callerIn(comp, in.Computation)
	return 0, ok
}

// lastly returns the position in comp of a read, -1 where it is over before comp runs.
func (l *lifetimes) lastly(u *use, comp, last int32) int32 {
	if u.comp == comp {
		return min(u.pos, last)
	}
	if x, ok := l.callerIn(u.comp, comp); ok {
		_, end := interval(l.m, x)
		return end
	}
	if x, ok := l.callerIn(comp, u.comp); ok && u.pos > l.m.Instructions[x].Position {
		return last
	}
	return -1
}
