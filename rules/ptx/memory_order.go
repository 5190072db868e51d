package ptx

// Order by memory. A value that another thread may have stored without an order that the
// machine knows (a flag, a ticket, a lock) carries taintOrder. Where it decides a branch,
// a guard or an address, another run of the launch may decide otherwise: which accesses
// there are, and by whom, is certain only outside of what it decides.
//
// So the buffers that such a value decides about are noted, every access between the
// branch and where its sides meet among them, and what its sides compute carries the
// taint on. Barriers that are passed in between order nothing here: another run may not
// pass them. What is said of other buffers holds for all runs. A pair of them is safe if
// all is ordered without memory; if it is not, memory may order it, and nothing is said:
// but for blocks apart where only shared memory was waited for.

// memoryOrder is what a launch notes of it.
type memoryOrder struct {
	at     *Access
	line   int
	from   taint // buffers whose contents were waited for
	global bool  // some of them lie in global memory
	shared bool  // shared memory was waited for
	about  taint // buffers that it decides about
}

// noteOrder notes that a code's branch, guard, address or operand depends on order by memory.
func (m *worker) noteOrder(t taint, c *code, about taint) {
	key := orderKey{c.index, t, about}
	if m.found.orders[key] {
		return
	}
	m.found.orders[key] = true
	m.mu.Lock()
	defer m.mu.Unlock()
	o := &m.order
	o.from |= t & taintBits
	o.about |= about
	o.global = o.global || t&taintBits != 0
	o.shared = o.shared || t&taintBits == 0
	if o.at == nil || int(c.in.At.Line) < o.line {
		a := m.p.access(c.orig)
		o.at, o.line = &a, int(c.in.At.Line)
	}
}

type orderKey struct {
	code  int32
	t     taint
	about taint
}

// touches gives the buffers that a code may access.
func (m *worker) touches(c *code) taint {
	switch {
	case c.bulk != nil || c.mem != nil && c.mem.what == "cp.async":
		return taintBits
	case c.mem == nil || c.mem.space != spaceGlobal && c.mem.space != spaceGeneric:
		return 0
	}
	return m.slice.bases(c) & taintBits
}

// decidedBy gives the buffers that code between a branch and where its sides meet may access.
func (m *worker) decidedBy(b *basicBlock) taint {
	about, ok := m.found.decided[b]
	if !ok {
		for _, k := range m.p.region(b.index) {
			for _, c := range m.p.codes[m.p.blocks[k].start:m.p.blocks[k].end] {
				about |= m.touches(c)
			}
		}
		m.found.decided[b] = about
	}
	return about
}

// ordersBranch notes that order by memory decides the branch at the end of a block: until
// its sides meet nothing is certain, and what they compute depends on it.
func (s *threadGroup) ordersBranch(b *basicBlock, t taint) {
	m := s.m
	m.noteOrder(t, b.last, m.decidedBy(b))
	if b.join < 0 {
		s.adrift = true
		return
	}
	r := m.found.between[b]
	if r == nil {
		r = m.p.regionOf(b)
		m.found.between[b] = r
	}
	if s.top == nil || s.top.bb != b.join {
		s.top = &reconvergence{bb: b.join, parent: s.top, pending: 1}
	}
	s.top.adrift = true
	s.top.owe(r, t&(taintOrder|taintBits))
}

// regionOf lists what is between a branch and where its sides meet.
func (p *program) regionOf(b *basicBlock) *idleRegion {
	r := &idleRegion{blocks: p.region(b.index)}
	seen := map[int32]bool{}
	for _, k := range r.blocks {
		for _, c := range p.codes[p.blocks[k].start:p.blocks[k].end] {
			c.defs(func(s int32) {
				if !seen[s] {
					seen[s] = true
					r.defs = append(r.defs, s)
				}
			})
		}
	}
	return r
}

// uncertain says that another run may not come by here.
func (s *threadGroup) uncertain() bool {
	if s.adrift {
		return true
	}
	for j := s.top; j != nil; j = j.parent {
		if j.adrift {
			return true
		}
	}
	return false
}

// sharedOwner is who stored a 4-byte word of shared memory last, and when.
type sharedOwner struct {
	thread uint32 // of the cluster, + 1; 0 nobody, or a copy
	seq    uint32
}

// wrote notes who stored bytes of shared memory.
func (s *sharedMemory) wrote(off, size int64, thread int, seq uint32) {
	if s.owner == nil {
		return
	}
	for w := off >> 2; w<<2 < off+size; w++ {
		s.owner[w] = sharedOwner{uint32(thread) + 1, seq}
	}
}

// unordered gives taintOrder where a thread loads what another one stored last, and
// nothing orders them.
func (b *block) unordered(from *block, off, size int64, thread int) taint {
	if from.shared.owner == nil {
		return 0
	}
	for w := off >> 2; w<<2 < off+size; w++ {
		o := from.shared.owner[w]
		if o.thread == 0 || o.thread-1 == uint32(b.rank*b.m.threads+thread) {
			continue
		}
		writer := int(o.thread - 1)
		rank, t := writer/b.m.threads, writer%b.m.threads
		clock := b.clockOf(thread)
		switch {
		case rank == b.rank && (o.seq <= b.epoch || t>>5 == thread>>5 && o.seq <= b.warpEpoch(t>>5)):
		case rank != b.rank && o.seq <= b.cl.epoch:
		case clock != nil && writer < len(clock.threads) && clock.threads[writer] >= o.seq:
		default:
			return taintOrder
		}
	}
	return 0
}

func (b *block) warpEpoch(w int) uint32 {
	if b.warps != nil {
		return b.warps[w]
	}
	return b.warpAll
}
