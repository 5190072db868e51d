package ptx

// space is a state space (PTX ISA, "State Spaces").
type space uint8

const (
	spaceGeneric space = iota
	spaceGlobal
	spaceConst
	spaceShared  // of the own block
	spaceCluster // shared memory of any block of the cluster
	spaceLocal
	spaceParam
)

func (s space) String() string {
	return [...]string{"generic", "global", "const", "shared", "shared", "local", "param"}[s]
}

// memOp is what a memory instruction does. The address is src[0].
type memOp struct {
	space        space
	write        bool
	atomic       bool
	bits         uint8 // of an element
	extend       bool  // sign-extend what is loaded
	dstBits      uint8 // of the destination registers
	vec          int   // elements
	size         int64 // bytes in all
	off          uint64
	weak         bool // .volatile, .relaxed, .acquire: may be looked at again and again
	partial      bool // writes some threads' registers only
	want         bool // the loaded value is needed
	keep         bool // the stored value is needed
	update       func(old, b, c uint64) uint64
	updateGlobal func(old, b, c uint64) uint64 // in global memory, where that differs
	what         string
}

// touch is one access by several threads, all in one space.
type touch struct {
	s     *threadGroup
	c     *code
	mask  *threadSet
	addr  *value
	u     uint64 // address, offset included, without per-thread part
	space space
	async uint16 // of the events, for asynchronous reads
	phase uint32
}

// resolve finds the space of an access; ok is false when it was split up or cannot be done.
func (s *threadGroup) resolve(c *code, mask *threadSet) (touch, bool) {
	t := s.aim(c, mask)
	return t, t.checked()
}

// aim makes a touch, on the caller's stack.
func (s *threadGroup) aim(c *code, mask *threadSet) touch {
	a := &s.r[c.src[0]]
	return touch{s: s, c: c, mask: mask, addr: a, u: a.u + c.mem.off, space: c.mem.space}
}

// checked notes what the address depends on and finds its space.
func (t *touch) checked() bool {
	if t.addr.taint != 0 {
		t.s.m.useAddress(t.addr.taint, t.c, true)
	}
	return t.space != spaceGeneric || t.findSpace()
}

// findSpace finds the space of a generic address; it is false where threads
// address several.
func (t *touch) findSpace() bool {
	s, c, a, mask := t.s, t.c, t.addr, t.mask
	first := spaceOf(t.at(mask.list[0]))
	if a.kind != uniform {
		if a.kind == thread && spaceOf(t.u+uint64(a.t.lo)) == spaceOf(t.u+uint64(a.t.hi)) {
			first = spaceOf(t.u + uint64(a.t.lo))
		} else {
			for _, i := range mask.list {
				if spaceOf(t.at(i)) != first {
					s.m.stopAt(c.in, "threads address different spaces at once")
					return false
				}
			}
		}
	}
	t.space = first
	switch first {
	case spaceCluster:
		t.u -= sharedWindow
	case spaceLocal:
		t.u -= localWindow
	case spaceParam:
		t.u -= paramWindow
	}
	return true
}

func spaceOf(a uint64) space {
	switch {
	case a >= paramWindow && a < paramWindow+1<<40:
		return spaceParam
	case a >= localWindow && a < localWindow+1<<32:
		return spaceLocal
	case a >= sharedWindow && a < sharedWindow+1<<32:
		return spaceCluster
	}
	return spaceGlobal
}

// at gives one thread's address.
func (t *touch) at(i int32) uint64 {
	switch t.addr.kind {
	case uniform:
		return t.u
	case thread:
		return t.u + uint64(t.addr.t.v[i])
	}
	return t.u - t.addr.u + t.addr.v[i]
}

// useAddress notes a value that decides an address.
// It moves that access alone where it is the address of one to global memory.
func (m *worker) useAddress(t taint, c *code, alone bool) {
	m.found.from |= t & taintBits
	m.steers(t, c, alone)
	if t&taintOrder != 0 {
		about := m.touches(c)
		if c.mem == nil {
			about = taintBits
		}
		m.noteOrder(t, c, about)
	}
	if t&taintOpaque != 0 {
		m.stopAt(c.in, "the address depends on a value that is not computed%s", m.unknownOf(t))
	}
}

// direction of an access, and of the shadow that it goes to.
type direction uint8

const (
	reads direction = iota
	writes
	updates
)

// global records an access to global memory. It calls each with every thread
// whose access is inside a buffer, when each is not nil.
func (t *touch) global(d direction, each func(i int32, g *gbuf, off int64)) {
	m := t.s.m
	size := t.c.mem.size
	if t.addr.kind != vector {
		sh := m.shapeFor(t.c, t.addr.t, t.mask, size)
		lo := t.u + uint64(sh.lo)
		if g := m.find(lo); g != nil && int64(lo-g.base)+sh.span <= g.size {
			off := int64(lo - g.base)
			t.recordShape(g, d, sh, off)
			if each != nil {
				for _, i := range t.mask.list {
					each(i, g, int64(t.at(i)-g.base))
				}
			}
			return
		}
	}
	t.scattered(d, size, each)
}
