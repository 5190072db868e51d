package alias_test

import (
	"fmt"
	"strings"
)

// The instructions of random programs that XLA knows more of than that they read and
// write: which may write in their operand's place, which have several results, and which
// go on while others run.

// ofOne has one operand: in its place, or not.
func (p *program) ofOne(c *comp, live []*op) *op {
	from := p.pick(live)
	opcode := []string{"transpose", "negate", "copy"}[p.rnd.IntN(3)]
	o := p.add(c, &op{opcode: opcode, operands: []*op{from}, shape: from.shape})
	v := p.define(o, -1, o.shape.size)
	if from := p.ownValue(from); from != nil && p.rnd.IntN(2) == 0 {
		v.alloc, v.offset = from.alloc, from.offset
	}
	return o
}

// ownValue is the value of an array that is an instruction's own, else nil.
func (p *program) ownValue(o *op) *val {
	if len(o.values) == 1 && o.values[0].index < 0 && !o.values[0].isTable {
		return o.values[0]
	}
	return nil
}

// updated is an update that may be done in the first operand's place alone.
func (p *program) updated(c *comp, live []*op) *op {
	into := p.pick(live)
	o := p.add(c, &op{opcode: "dynamic-update-slice", operands: []*op{into, p.pick(live), p.pick(live)}, shape: into.shape})
	v := p.define(o, -1, o.shape.size)
	if from := p.ownValue(into); from != nil && p.rnd.IntN(3) > 0 {
		v.alloc, v.offset = from.alloc, from.offset
	}
	return o
}

// exchanged has two results, which may not lie in one place.
func (p *program) exchanged(c *comp, live []*op) []*op {
	x, y := p.pick(live), p.pick(live)
	o := p.add(c, &op{opcode: "all-to-all", operands: []*op{x, y}, shape: shape{tuple: []int64{x.shape.size, y.shape.size}}})
	return p.elements(c, o, true)
}

// halves is an operation that begins, goes on while others run, and ends. Its tuple holds
// the operand and the result, in an order that its opcode tells.
func (p *program) halves(c *comp, live []*op, isCopy bool) []*op {
	from := p.pick(live)
	size := from.shape.size
	o := &op{opcode: "all-gather-start", operands: []*op{from}, shape: shape{tuple: []int64{size, size}}}
	done, result := "all-gather-done", 1
	if isCopy {
		o.opcode, done, result = "copy-start", "copy-done", 0
		o.shape.tuple = append(o.shape.tuple, 4)
	}
	p.add(c, o)
	p.define(o, -1, 8).isTable = true
	for n := range o.shape.tuple {
		if n == result || n == 2 {
			p.define(o, n, o.shape.tuple[n])
		}
	}
	live = p.body(c, live, 2)
	return append(live, p.add(c, &op{opcode: done, operands: []*op{o}, shape: from.shape}))
}

// String prints a program: instructions, what they read, and where their values lie.
func (p *program) String() string {
	var b strings.Builder
	for _, c := range p.comps {
		fmt.Fprintf(&b, "computation %d\n", c.id)
		for _, o := range c.ops {
			fmt.Fprintf(&b, "  %s", o.name())
			for _, in := range o.operands {
				fmt.Fprintf(&b, " %s", in.name())
			}
			for _, k := range o.called {
				fmt.Fprintf(&b, " calls %d", k.id)
			}
			for _, v := range o.values {
				fmt.Fprintf(&b, "  <%d>{%d} %d+%d:%d", v.id, v.index, v.alloc, v.offset, v.size)
			}
			if o == c.root {
				b.WriteString("  ROOT")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
