package ptx

// steering is what contents decide in a run: which accesses to global memory they
// move, switch on or off, and whether they decide anything that all accesses hang on.
type steering struct {
	all   bool   // a branch, a barrier, shared memory
	codes []bool // accesses to global memory, by code; nil: none
}

// steers notes that contents decide something of a code: of that access alone where
// it is one to global memory, whose values cannot hide what they depend on.
func (m *worker) steers(t taint, c *code, here bool) {
	if t&taintBits == 0 || m.found.steering.all {
		return
	}
	if !here || c.mem == nil || c.bulk != nil {
		m.found.steering.all = true
		return
	}
	global := c.mem.space == spaceGlobal || c.mem.space == spaceGeneric || c.mem.what == "cp.async"
	stores := c.mem.write || c.mem.atomic
	switch {
	case stores && (!global || c.decides): // what is not kept there has no taint
		m.found.steering.all = true
		return
	case !global: // the values that it loads depend on the address, and say so
		return
	}
	if m.found.steering.codes == nil {
		m.found.steering.codes = make([]bool, len(m.p.codes))
	}
	m.found.steering.codes[c.index] = true
}

func (s *steering) add(o *steering) {
	s.all = s.all || o.all
	if s.codes == nil {
		s.codes = o.codes
		return
	}
	for c, is := range o.codes {
		s.codes[c] = s.codes[c] || is
	}
}

// steered tells, by buffer, whether contents decide anything of the accesses to it.
func (s *launchState) steered() []bool {
	out := make([]bool, len(s.l.Buffers))
	var f *flow
	for i := range out {
		out[i] = s.steering.all
	}
	if s.steering.all || s.steering.codes == nil {
		return out
	}
	f = newFlow(s.p, s.l)
	f.follow()
	for c, is := range s.steering.codes {
		if !is {
			continue
		}
		read, written := f.touches(s.p.codes[c])
		if read|written == 0 { // tables of the module, or what looks like no buffer's
			read = taintBits
		}
		for i := range out {
			out[i] = out[i] || (read|written)&bufferTaint(i) != 0
		}
	}
	return out
}
