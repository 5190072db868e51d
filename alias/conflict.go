package alias

import (
	"math/rand/v2"
	"slices"

	"aliascheck/hlo"
)

// ConflictKind says what is wrong with where two values lie.
type ConflictKind uint8

// The kinds of conflicts.
const (
	// Overwritten: Written is written over Lost, which is needed afterwards.
	Overwritten ConflictKind = iota
	// ReadWhileWritten: the instruction that writes Written reads Lost, and may not do
	// both in the same bytes.
	ReadWhileWritten
	// TwoParameters: the caller passes Lost in memory of its own, but the program reads
	// it where Written, another parameter, is.
	TwoParameters
	// Misplaced: the caller passes Lost in memory of its own, but the program reads it
	// elsewhere. There is no Written.
	Misplaced
	// NotReturned: the caller was promised Written in the memory of parameter Lost, but
	// the program leaves it elsewhere.
	NotReturned
	// TwoResults: one instruction writes both.
	TwoResults
)

// Conflict is two values that share bytes while both are needed.
type Conflict struct {
	Kind    ConflictKind
	Lost    int32  // into Module.Values: what is read wrong afterwards
	Written int32  // into Module.Values: what lies there instead, -1 for none
	Reader  int32  // the instruction that reads Lost wrong, -1: see Why
	Why     string // why Lost is needed
}

// conflicts finds what of a module's values is in the way of one another. It goes along
// the timeline with a tree of what is alive, and looks closer at what it finds together.
type conflicts struct {
	m     *hlo.Module
	lives *lifetimes
	time  timeline
	alive tree
	seed  uint32
	// By tick: the first value that is not needed after it; by value: the next such.
	expired, next []int32
	site          []bool // by instruction: rules about custom calls speak of it
	beside        []bool // by value: others lie in bytes of it
	met           []int32
	left          int // looks that are left: a hostile file has all values in one place
	out           []Conflict
	crowded       bool
}

const (
	// maxConflicts bounds what is told of one module.
	maxConflicts = 1 << 10
	// A healthy value meets those that it takes its place from, and is met by those that
	// take its: few.
	meetingsPerValue = 64
	fewMeetings      = 1 << 12
)

// Conflicts returns the conflicts among the values of the module whose Calls were asked
// for last, and why some values were not looked at; empty where all were. What a custom
// call writes is left to Overlaps and Overwrites. Valid until the next module.
func (a *Analyzer) Conflicts() ([]Conflict, string) {
	c := &a.conflicts
	c.m, c.lives, c.out, c.crowded = a.lives.m, &a.lives, c.out[:0], false
	a.lives.build()
	c.parameters()
	if reason := c.time.reset(c.m); reason != "" {
		return c.out, reason
	}
	c.reset(a.calls)
	for tick := range c.time.events {
		c.happen(int32(tick))
	}
	if c.crowded {
		return c.out, "more values lie over one another than can be looked at"
	}
	return c.out, c.time.skipped
}

func (c *conflicts) reset(calls []Call) {
	m := c.m
	if c.seed == 0 {
		c.seed = rand.Uint32() | 1
	}
	c.alive.reset(len(m.Allocations), len(m.Values), c.seed)
	c.expired, c.next = filled(c.expired, len(c.time.events)), filled(c.next, len(m.Values))
	if cap(c.site) < len(m.Instructions) {
		c.site = make([]bool, len(m.Instructions))
	}
	c.site = c.site[:len(m.Instructions)]
	clear(c.site)
	for i := range calls {
		c.site[calls[i].Instruction], c.site[calls[i].Site] = true, true
	}
	c.crowds()
	c.left = fewMeetings + meetingsPerValue*len(m.Values)
}

// crowds marks the values that share bytes with another at all: most of a small module's
// do not, and need not be looked at.
func (c *conflicts) crowds() {
	m := c.m
	if cap(c.beside) < len(m.Values) {
		c.beside = make([]bool, len(m.Values))
	}
	c.beside = c.beside[:len(m.Values)]
	clear(c.beside)
	for k := range m.Allocations {
		if x := &m.Allocations[k]; !x.ThreadLocal && len(x.Values) > 1 {
			c.crowd(x.Values)
		}
	}
}

// crowd is crowds of an allocation's values, which come by offset. Who shares bytes with
// one that came before shares some with the one that reaches farthest.
func (c *conflicts) crowd(list []int32) {
	before, reach := int32(-1), int64(0)
	for _, v := range list {
		value := &c.m.Values[v]
		if value.Size <= 0 || len(value.Index) == 0 && c.lives.kinds[value.Instruction] == isTuple {
			continue
		}
		if before >= 0 && value.Offset < reach {
			c.beside[before], c.beside[v] = true, true
		}
		if end := value.Offset + value.Size; before < 0 || end > reach {
			before, reach = v, end
		}
	}
}

// happen lets the values go that nothing needs any more, and takes in those that a tick
// brings.
func (c *conflicts) happen(tick int32) {
	if tick > 0 {
		for v := c.expired[tick-1]; v >= 0; v = c.next[v] {
			c.alive.remove(c.m.Values[v].Allocation, v)
		}
	}
	e := c.time.events[tick]
	if e.instruction >= 0 {
		if c.lives.kinds[e.instruction] != isParameter && c.lives.kinds[e.instruction] != isConstant {
			c.define(e.instruction, tick)
		}
		return
	}
	if e.computation < 0 {
		return
	}
	for _, p := range c.m.Computations[e.computation].Parameters {
		if p >= 0 {
			c.define(p, tick)
		}
	}
	if tick == 0 {
		c.constants()
	}
}

// constants are there from the beginning, wherever they stand.
func (c *conflicts) constants() {
	for k := range c.m.Allocations {
		if x := &c.m.Allocations[k]; x.Constant && len(x.Values) > 1 {
			for _, v := range x.Values {
				i := c.m.Values[v].Instruction
				if c.lives.kinds[i] == isConstant && c.time.begin[c.m.Instructions[i].Computation] >= 0 {
					c.take(v, 0)
				}
			}
		}
	}
}

// define takes in the values of an instruction.
func (c *conflicts) define(i, tick int32) {
	in := &c.m.Instructions[i]
	first := in.FirstValue
	if c.lives.kinds[i] == isTuple && first < in.EndValue {
		first++ // a table of pointers
	}
	for v := first; v < in.EndValue; v++ {
		c.take(v, tick)
	}
}

// take holds a value to those that are alive where it lies, and lets it live.
func (c *conflicts) take(v, tick int32) {
	if !c.beside[v] || !c.lives.isArray(v) {
		return
	}
	value := &c.m.Values[v]
	c.met = c.alive.meet(c.met[:0], value.Allocation, value.Offset, value.Offset+value.Size)
	if len(c.met) > 1 {
		slices.Sort(c.met)
	}
	for _, u := range c.met {
		if c.left--; c.left < 0 || len(c.out) >= maxConflicts {
			c.crowded = true
			break
		}
		c.meet(u, v, tick)
	}
	last := c.last(v, tick)
	c.next[v], c.expired[last] = c.expired[last], v
	c.alive.add(value.Allocation, v, value.Offset, value.Offset+value.Size)
}

// last is the tick of the last thing that needs value v, which comes into being at tick.
func (c *conflicts) last(v, tick int32) int32 {
	t, m := &c.time, c.m
	if c.lives.forEver(v) != "" {
		return t.now() - 1
	}
	i := m.Values[v].Instruction
	home := m.Instructions[i].Computation
	last := max(tick, t.until(i))
	for h := c.lives.head[v]; h >= 0; h = c.lives.uses[h].next {
		last = max(last, c.used(&c.lives.uses[h], home))
	}
	if start := t.async[home]; start >= 0 {
		last = max(last, t.until(start))
	}
	return last
}

// used is the tick until which a use needs a value of computation home: a loop that
// reads what is not its own needs it to its end, an asynchronous operation too.
func (c *conflicts) used(u *use, home int32) int32 {
	t, m := &c.time, c.m
	if t.begin[u.comp] < 0 {
		return -1
	}
	last := t.end[u.comp]
	if u.pos != atEnd {
		last = t.enter[m.Computations[u.comp].Schedule[u.pos]]
	}
	for k := u.comp; !t.around(k, home); {
		x := m.Computations[k].Callers[0]
		if op := m.Instructions[x].Opcode; op == "while" || op == "async-start" {
			last = max(last, t.until(x))
		}
		k = m.Instructions[x].Computation
	}
	return last
}

// meet looks closer at two values that share bytes and seem to be alive together; u came
// first, v at tick.
func (c *conflicts) meet(u, v, tick int32) {
	m := c.m
	x, y := m.Values[u].Instruction, m.Values[v].Instruction
	switch {
	case c.isPassed(u) && c.isPassed(v):
		return // parameters told of it
	case x == y:
		if c.writes(x) {
			c.add(Conflict{Kind: TwoResults, Lost: u, Written: v, Reader: -1})
		}
	case c.onItsWay(u, v, tick):
		c.race(u, v)
	case c.overwrites(v, u):
	default:
		c.overwrites(u, v) // in a loop's next round
	}
}

// onItsWay reports whether an asynchronous operation still writes u when v comes into
// being beside it, at tick.
func (c *conflicts) onItsWay(u, v, tick int32) bool {
	i := c.m.Values[u].Instruction
	inside := c.time.async[c.m.Instructions[i].Computation]
	if c.time.done[i] >= 0 && tick < c.time.until(i) {
		return true
	}
	return inside >= 0 && tick < c.time.until(inside) && c.time.async[c.m.Instructions[c.m.Values[v].Instruction].Computation] != inside
}

// race tells of what an asynchronous operation writes, u, and of v that comes into being
// meanwhile: whoever reads either may read the other.
func (c *conflicts) race(u, v int32) {
	const why = "an asynchronous operation writes there at any time until it is done"
	if h := c.lives.head[v]; !c.site[c.m.Values[u].Instruction] && (h >= 0 || c.lives.forEver(v) != "") {
		x := Conflict{Kind: Overwritten, Lost: v, Written: u, Reader: -1, Why: why}
		if h >= 0 {
			x.Reader = c.lives.uses[h].reader
		}
		c.add(x)
		return
	}
	if h := c.lives.head[u]; h >= 0 && c.writes(c.m.Values[v].Instruction) {
		c.add(Conflict{Kind: Overwritten, Lost: u, Written: v, Reader: c.lives.uses[h].reader, Why: why})
	}
}

func (c *conflicts) add(x Conflict) {
	c.out = append(c.out, x)
}

// isPassed reports whether the caller passes v.
func (c *conflicts) isPassed(v int32) bool {
	i := c.m.Values[v].Instruction
	return c.lives.kinds[i] == isParameter && c.m.Instructions[i].Computation == c.m.Entry
}

// writes reports whether instruction i writes its own values: what a loop, a branch or a
// call hands on lies there already.
func (c *conflicts) writes(i int32) bool {
	if c.site[i] {
		return false // AC101 to AC105 speak of it
	}
	switch c.lives.kinds[i] {
	case isOwn, isEnd:
		return true
	case isShared:
		return !runsItsComputations(c.m.Instructions[i].Opcode)
	}
	return false
}

// overwrites reports, and tells, whether value w is written over v, which is needed.
func (c *conflicts) overwrites(w, v int32) bool {
	i := c.m.Values[w].Instruction
	if !c.writes(i) {
		return false
	}
	if c.isCopyOf(w, v) {
		return false
	}
	if c.readsBadly(i, w, v) {
		c.add(Conflict{Kind: ReadWhileWritten, Lost: v, Written: w, Reader: i, Why: "the instruction that writes there reads it"})
		return true
	}
	start := c.m.Instructions[i].Position
	end := start
	if d := c.time.done[i]; d >= 0 {
		end = c.m.Instructions[d].Position
	}
	reader, why := c.lives.neededAfter(i, start, end, v)
	if why == "" {
		return false
	}
	c.add(Conflict{Kind: Overwritten, Lost: v, Written: w, Reader: reader, Why: why})
	return true
}

// maxCopies bounds how far copies of copies are followed.
const maxCopies = 16

// isCopyOf reports whether w is a copy of v, or of its copy, that lies where v does: it
// writes what is there already. XLA leaves such a copy where branches of a conditional
// that take one value take it in one place.
func (c *conflicts) isCopyOf(w, v int32) bool {
	x, y := &c.m.Values[w], &c.m.Values[v]
	if x.Offset != y.Offset || x.Size != y.Size {
		return false
	}
	for range maxCopies {
		i := c.m.Values[w].Instruction
		in := &c.m.Instructions[i]
		if in.Opcode != "copy" || len(in.Operands) == 0 || !c.m.SameShape(i, in.Operands[0]) {
			return false
		}
		from, err := c.lives.resolver.resolve(in.Operands[0], nil)
		if err != nil || from == v {
			return err == nil
		}
		w = from
	}
	return false
}

// readsBadly reports whether instruction i, which writes w, reads v and may not in w's
// place.
func (c *conflicts) readsBadly(i, w, v int32) bool {
	in := &c.m.Instructions[i]
	if u, ok := c.lives.useIn(v, in.Computation); !ok || u.reader != i {
		return false
	}
	x, y := &c.m.Values[w], &c.m.Values[v]
	exact := x.Offset == y.Offset && x.Size == y.Size
	for n, o := range in.Operands {
		for _, leaf := range c.m.Leaves(o) {
			if at, err := c.lives.resolver.resolve(o, leaf.Index); err != nil || at != v {
				continue
			}
			if !exact || !inPlace(in, n, leaf.Index, x.Index) {
				return true
			}
		}
	}
	return false
}
