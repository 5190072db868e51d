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
	choice func() int        // which branch a conditional takes
	owner  map[*comp]*op     // the instruction through which a computation runs
	pairs  map[[2]int64]bool // values that were in one another's way, the lesser first
	made   int               // contents so far
	going  []*val            // what operations that began and did not end write
}

func simulate(p *program, choice func() int) *simulation {
	s := &simulation{p: p, faults: map[fault]bool{}, choice: choice, owner: map[*comp]*op{}, pairs: map[[2]int64]bool{}}
	for _, c := range p.comps {
		for _, o := range c.ops {
			for _, k := range o.called {
				s.owner[k] = o
			}
		}
	}
	for _, v := range p.vals {
		s.made++
		v.contents = s.made
		v.defined = v.isParameter || v.op.opcode == "constant"
		clear(v.overwrittenBy)
		clear(v.lostTo)
	}
	s.run(p.entry)
	for _, v := range p.vals {
		if v.keptForEver {
			s.readValue(v)
		}
	}
	return s
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
	case "copy-done", "all-gather-done":
		s.end(o.operands[0])
		return
	case "while":
		s.loop(o)
	case "conditional":
		s.run(o.called[s.choice()])
	case "call":
		s.run(o.called[0])
	}
	s.write(o)
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
		s.condition(cond)
		s.phis(body)
		s.run(body)
	}
	s.condition(cond)
}

// condition runs a loop's condition: what goes round must have come through it.
func (s *simulation) condition(c *comp) {
	s.phis(c)
	s.run(c)
	s.read(c.ops[0])
}

// phis gives the loop's computation its parameter anew.
func (s *simulation) phis(c *comp) {
	for _, v := range c.ops[0].values {
		s.define(v)
	}
}

func (s *simulation) define(v *val) {
	v.defined = true
	s.made++
	v.contents = s.made
	if v.op.opcode == "copy" {
		v.contents = s.value(v.op.operands[0], -1).contents
	}
	clear(v.overwrittenBy)
	clear(v.lostTo)
	for _, w := range s.going {
		if w.op != v.op && overlap(v, w) {
			v.lostTo[w] = true
		}
	}
}

func overlap(v, w *val) bool {
	return !v.isTable && !w.isTable && v.alloc == w.alloc && v.offset < w.offset+w.size && w.offset < v.offset+v.size
}

// write lets an instruction that is no custom call write its results over what is there.
// What loops, branches and calls hand on is written already.
func (s *simulation) write(o *op) {
	switch o.opcode {
	case "while", "conditional", "call", "custom-call":
		return
	}
	for _, w := range o.values {
		for _, v := range s.p.vals {
			switch {
			case !overlap(v, w) || v == w:
			case v.op == o:
				s.pair(v, w)
			case v.defined && !(o.opcode == "copy" && v.offset == w.offset && v.size == w.size && v.contents == s.value(o.operands[0], -1).contents):
				v.lostTo[w] = true
			}
		}
		for n, in := range o.operands {
			s.readAndWritten(o, n, in, w)
		}
		if o.opcode == "copy-start" || o.opcode == "all-gather-start" {
			s.going = append(s.going, w)
		}
	}
}

// readAndWritten is a fault where an instruction writes w while it reads its operand n,
// and may not do both in one place.
func (s *simulation) readAndWritten(o *op, n int, in *op, w *val) {
	for k := range max(1, len(in.shape.tuple)) {
		if in.shape.tuple == nil {
			k = -1
		}
		v := s.value(in, k)
		inPlace := o.opcode == "negate" || o.opcode == "copy" || o.opcode == "compare" || o.opcode == "dynamic-update-slice" && n == 0
		if overlap(v, w) && !(inPlace && v.offset == w.offset && v.size == w.size) {
			s.pair(v, w)
		}
	}
}

// end lets an operation end: until then it read its operand, and its tuple is given to it.
func (s *simulation) end(start *op) {
	for _, in := range start.operands {
		s.read(in)
	}
	going := s.going[:0]
	for _, w := range s.going {
		if w.op != start {
			going = append(going, w)
		}
	}
	s.going = going
}

func (s *simulation) pair(v, w *val) {
	s.pairs[[2]int64{min(v.id, w.id), max(v.id, w.id)}] = true
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
	for w := range v.lostTo {
		s.pair(v, w)
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
	case "copy-start", "all-gather-start": // one element of their tuples is the operand
		return s.value(o.operands[0], -1)
	case "copy-done":
		return s.value(o.operands[0], 0)
	case "all-gather-done":
		return s.value(o.operands[0], 1)
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
