package alias_test

// The oracle: it runs a random program and keeps, for every value that exists, the
// custom calls' results that were written over it since. A read of an overwritten
// value is a fault of all of them.

type fault struct {
	overwrite
	value int64
}

type simulation struct {
	p      *program
	faults map[fault]bool
	choice func() int    // which branch a conditional takes
	owner  map[*comp]*op // the instruction through which a computation runs
}

func simulate(p *program, choice func() int) map[fault]bool {
	s := &simulation{p: p, faults: map[fault]bool{}, choice: choice, owner: map[*comp]*op{}}
	for _, c := range p.comps {
		for _, o := range c.ops {
			for _, k := range o.called {
				s.owner[k] = o
			}
		}
	}
	for _, v := range p.vals {
		v.defined = v.isParameter || v.op.opcode == "constant"
		clear(v.overwrittenBy)
	}
	s.run(p.entry)
	for _, v := range p.vals {
		if v.keptForEver {
			s.readValue(v)
		}
	}
	return s.faults
}

func (s *simulation) run(c *comp) {
	for _, o := range c.ops {
		s.step(o)
	}
	s.read(c.root)
}

func (s *simulation) step(o *op) {
	switch o.opcode {
	case "parameter", "constant", "get-tuple-element", "bitcast", "tuple":
		s.defineTable(o)
		return
	}
	for _, in := range o.operands {
		s.read(in)
	}
	switch o.opcode {
	case "while":
		s.loop(o)
	case "conditional":
		s.run(o.called[s.choice()])
	case "call":
		s.run(o.called[0])
	}
	result := 0
	for _, v := range o.values {
		s.define(v)
		if o.opcode == "custom-call" && !v.isTable {
			s.overwrites(o, v, result)
			result++
		}
	}
}

func (s *simulation) defineTable(o *op) {
	for _, v := range o.values {
		if v.isTable {
			v.defined = true
		}
	}
}

// loop goes round twice.
func (s *simulation) loop(o *op) {
	body, cond := o.called[0], o.called[1]
	for range 2 {
		s.phis(cond)
		s.run(cond)
		s.phis(body)
		s.run(body)
	}
	s.phis(cond)
	s.run(cond)
}

// phis gives the loop's computation its parameter anew.
func (s *simulation) phis(c *comp) {
	for _, v := range c.ops[0].values {
		s.define(v)
	}
}

func (s *simulation) define(v *val) {
	v.defined = true
	clear(v.overwrittenBy)
}

func (s *simulation) overwrites(o *op, r *val, result int) {
	for _, v := range s.p.vals {
		if v.op != o && v.defined && !v.isTable && v.alloc == r.alloc &&
			v.offset < r.offset+r.size && r.offset < v.offset+v.size {
			v.overwrittenBy[overwrite{o.id, result}] = true
		}
	}
}

// read reads every array of an instruction.
func (s *simulation) read(o *op) {
	if o.shape.tuple == nil {
		s.readValue(s.value(o, -1))
		return
	}
	for n := range o.shape.tuple {
		s.readValue(s.value(o, n))
	}
}

func (s *simulation) readValue(v *val) {
	for w := range v.overwrittenBy {
		s.faults[fault{w, v.id}] = true
	}
}

// value follows a position to its value, one step a call.
func (s *simulation) value(o *op, index int) *val {
	for _, v := range o.values {
		if v.index == index {
			return v
		}
	}
	switch o.opcode {
	case "get-tuple-element":
		return s.value(o.operands[0], int(o.number))
	case "tuple":
		return s.value(o.operands[index], -1)
	case "bitcast", "while":
		return s.value(o.operands[0], index)
	case "call":
		return s.value(o.called[0].root, index)
	case "parameter":
		by := s.owner[o.comp]
		n := int(o.number)
		if by.opcode == "conditional" {
			n = 1
			if by.called[1] == o.comp {
				n = 2
			}
		}
		return s.value(by.operands[n], index)
	}
	panic(o.name() + " has no value")
}
