package alias_test

import (
	"fmt"
	"math/rand/v2"
)

// A random program: computations of operations, custom calls, loops, conditionals
// and calls, whose values lie anywhere. It is kept in the tests' own form, from
// which both the proto and the simulation are made.

// op is one instruction.
type op struct {
	id       int64
	opcode   string
	operands []*op
	shape    shape
	called   []*comp
	number   int64 // of a parameter; of a get-tuple-element its index
	values   []*val
	comp     *comp
}

// shape is an array of bytes, or a tuple of such.
type shape struct {
	size  int64
	tuple []int64 // sizes of the elements; nil for an array
}

// val is a value: what op defines at index (-1: the whole).
type val struct {
	id                       int64
	op                       *op
	index                    int
	alloc, offset, size      int64
	isTable                  bool
	overwrittenBy            map[overwrite]bool
	lostTo                   map[*val]bool // what any instruction wrote over it
	contents                 int           // a number of its own, or what it is a copy of
	defined                  bool
	keptForEver, isParameter bool
}

// overwrite is a custom call and the number of its result.
type overwrite struct {
	call   int64
	result int
}

type comp struct {
	id   int64
	ops  []*op
	root *op
}

type alloc struct {
	size      int64
	parameter int64 // -1 for none
	constant  bool
}

type program struct {
	rnd     *rand.Rand
	next    int64
	comps   []*comp
	vals    []*val
	allocs  []alloc
	donated map[int64]bool
	entry   *comp
	budget  int
}

const tempAllocs = 3

func newProgram(seed uint64) *program {
	p := &program{rnd: rand.New(rand.NewPCG(seed, 7)), next: 1, donated: map[int64]bool{}, budget: 40}
	for range tempAllocs {
		p.allocs = append(p.allocs, alloc{size: 24, parameter: -1})
	}
	p.entry = p.newComp()
	var live []*op
	for n := range int64(1 + p.rnd.IntN(3)) {
		o := p.add(p.entry, &op{opcode: "parameter", number: n, shape: p.array()})
		v := p.define(o, -1, o.shape.size)
		v.isParameter = true
		p.allocs = append(p.allocs, alloc{size: o.shape.size, parameter: n})
		v.alloc, v.offset = int64(len(p.allocs)-1), 0
		p.donated[n] = p.rnd.IntN(2) == 0
		v.keptForEver = !p.donated[n]
		live = append(live, o)
	}
	if p.rnd.IntN(2) == 0 {
		o := p.add(p.entry, &op{opcode: "constant", shape: p.array()})
		v := p.define(o, -1, o.shape.size)
		p.allocs = append(p.allocs, alloc{size: o.shape.size, parameter: -1, constant: true})
		v.alloc, v.offset, v.keptForEver = int64(len(p.allocs)-1), 0, true
		live = append(live, o)
	}
	live = p.body(p.entry, live, 0)
	p.entry.root = live[len(live)-1]
	return p
}

func (p *program) newComp() *comp {
	c := &comp{id: p.next}
	p.next++
	p.comps = append(p.comps, c)
	return c
}

func (p *program) array() shape { return shape{size: int64(1 + p.rnd.IntN(6))} }

func (p *program) add(c *comp, o *op) *op {
	o.id, o.comp = p.next, c
	p.next++
	c.ops = append(c.ops, o)
	return o
}

// define gives o a value at index, somewhere in memory.
func (p *program) define(o *op, index int, size int64) *val {
	v := &val{id: int64(len(p.vals) + 1), op: o, index: index, size: size, overwrittenBy: map[overwrite]bool{}, lostTo: map[*val]bool{}}
	v.alloc = int64(p.rnd.IntN(tempAllocs))
	if p.rnd.IntN(6) == 0 { // into a parameter's or a constant's memory, if it fits
		if a := int64(p.rnd.IntN(len(p.allocs))); p.allocs[a].size >= size {
			v.alloc = a
		}
	}
	v.offset = p.rnd.Int64N(p.allocs[v.alloc].size - size + 1)
	o.values = append(o.values, v)
	p.vals = append(p.vals, v)
	return v
}

func (p *program) pick(live []*op) *op { return live[p.rnd.IntN(len(live))] }

// body appends random instructions to c and returns what can be read at its end.
func (p *program) body(c *comp, live []*op, depth int) []*op {
	for range 2 + p.rnd.IntN(6) {
		if p.budget--; p.budget < 0 {
			break
		}
		switch kind := p.rnd.IntN(17); {
		case kind == 12:
			live = append(live, p.ofOne(c, live))
		case kind == 13:
			live = append(live, p.updated(c, live))
		case kind == 14:
			live = append(live, p.exchanged(c, live)...)
		case kind > 14:
			live = p.halves(c, live, kind == 15)
		case kind < 4:
			o := p.add(c, &op{opcode: "concatenate", operands: p.some(live), shape: p.array()})
			p.define(o, -1, o.shape.size)
			live = append(live, o)
		case kind < 7:
			live = append(live, p.customCall(c, live)...)
		case kind == 7:
			from := p.pick(live)
			live = append(live, p.add(c, &op{opcode: "bitcast", operands: []*op{from}, shape: from.shape}))
		case depth < 2 && kind == 8:
			live = append(live, p.loop(c, live, depth)...)
		case depth < 2 && kind == 9:
			live = append(live, p.conditional(c, live, depth))
		case depth < 2 && kind == 10:
			live = append(live, p.call(c, live, depth))
		}
	}
	o := p.add(c, &op{opcode: "concatenate", operands: p.some(live), shape: p.array()})
	p.define(o, -1, o.shape.size)
	return append(live, o)
}

func (p *program) some(live []*op) []*op {
	out := []*op{p.pick(live)}
	if p.rnd.IntN(2) == 0 {
		out = append(out, p.pick(live))
	}
	return out
}

func (p *program) customCall(c *comp, live []*op) []*op {
	o := p.add(c, &op{opcode: "custom-call", operands: p.some(live)})
	if p.rnd.IntN(3) > 0 {
		o.shape = p.array()
		p.define(o, -1, o.shape.size)
		return []*op{o}
	}
	o.shape = shape{tuple: []int64{p.array().size, p.array().size}}
	return p.elements(c, o, true)
}

// elements defines a tuple's table and elements, and takes the elements out. Where
// phi is false for an element it has no value of its own.
func (p *program) elements(c *comp, o *op, phi ...bool) []*op {
	p.define(o, -1, 8).isTable = true
	var out []*op
	for n, size := range o.shape.tuple {
		if phi[min(n, len(phi)-1)] {
			p.define(o, n, size)
		}
		out = append(out, p.add(c, &op{opcode: "get-tuple-element", operands: []*op{o}, number: int64(n), shape: shape{size: size}}))
	}
	return out
}

func (p *program) tuple(c *comp, elements []*op) *op {
	o := p.add(c, &op{opcode: "tuple", operands: elements})
	for _, e := range elements {
		o.shape.tuple = append(o.shape.tuple, e.shape.size)
	}
	p.define(o, -1, 8).isTable = true
	return o
}

// loop has two carried elements: one goes round through phis, one may pass through
// untouched.
func (p *program) loop(c *comp, live []*op, depth int) []*op {
	init := p.tuple(c, []*op{p.pick(live), p.pick(live)})
	through := p.rnd.IntN(2) == 0
	body, cond := p.newComp(), p.newComp()

	param := p.add(body, &op{opcode: "parameter", shape: init.shape})
	inner := p.elements(body, param, true, !through)
	inner = p.body(body, inner, depth+1)
	out := p.sized(body, inner, init.shape.tuple[0])
	second := inner[1]
	if !through {
		second = p.sized(body, inner, init.shape.tuple[1])
	}
	body.root = p.tuple(body, []*op{out, second})

	param = p.add(cond, &op{opcode: "parameter", shape: init.shape})
	inner = p.elements(cond, param, true, !through)
	cond.root = p.add(cond, &op{opcode: "concatenate", operands: p.some(inner), shape: shape{size: 1}})
	p.define(cond.root, -1, 1)

	w := p.add(c, &op{opcode: "while", operands: []*op{init}, shape: init.shape, called: []*comp{body, cond}})
	return p.elements(c, w, true, !through)
}

// sized makes an array of a size that reads something live.
func (p *program) sized(c *comp, live []*op, size int64) *op {
	o := p.add(c, &op{opcode: "concatenate", operands: p.some(live), shape: shape{size: size}})
	p.define(o, -1, size)
	return o
}

func (p *program) conditional(c *comp, live []*op, depth int) *op {
	pred := p.sized(c, live, 1)
	o := &op{opcode: "conditional", operands: []*op{pred}, shape: p.array()}
	for range 2 {
		arg := p.pick(live)
		branch := p.newComp()
		param := p.add(branch, &op{opcode: "parameter", shape: arg.shape})
		inner := p.body(branch, []*op{param}, depth+1)
		branch.root = p.sized(branch, inner, o.shape.size)
		o.operands = append(o.operands, arg)
		o.called = append(o.called, branch)
	}
	p.add(c, o)
	p.define(o, -1, o.shape.size)
	return o
}

// call forwards its arguments in and its root out.
func (p *program) call(c *comp, live []*op, depth int) *op {
	args := p.some(live)
	callee := p.newComp()
	var inner []*op
	for n, a := range args {
		inner = append(inner, p.add(callee, &op{opcode: "parameter", number: int64(n), shape: a.shape}))
	}
	inner = p.body(callee, inner, depth+1)
	callee.root = inner[len(inner)-1]
	return p.add(c, &op{opcode: "call", operands: args, shape: callee.root.shape, called: []*comp{callee}})
}

func (o *op) name() string { return fmt.Sprintf("%s.%d", o.opcode, o.id) }
