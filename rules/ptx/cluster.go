package ptx

// block is one thread block while it runs.
type block struct {
	m    *worker
	cl   *clusterRun
	rank int
	id   [3]uint32
	live *threadSet // threads that have not exited

	epoch   uint32
	warpAll uint32
	warps   []uint32
	clock   *vectorClock
	clocks  []*vectorClock
	snap    *syncState
	dirty   bool

	shared sharedMemory
	local  []byte
	ltags  []uint8
	bars   []barrier // 16, once one is waited at
	copies copies

	flights flights
}

// clusterRun is a cluster while it runs: its blocks run together.
type clusterRun struct {
	m       *worker
	number  uint32
	seq     uint32
	epoch   uint32
	blocks  []*block
	groups  []*threadGroup
	rest    []*threadGroup // of the groups, those whose turn is to come
	groups0 []*threadGroup // room for them
	many    bool           // several groups run
	version uint64         // of everything that a waiting thread may look at
	mbars   map[mbarKey]*mbar
	nbars   int
	barrier clusterBarrier
}

// runCluster runs the blocks of one cluster to their end.
func (m *worker) runCluster(number uint32) {
	cl := m.startCluster(number)
	for !m.stopped.Load() {
		turn := cl.groups
		cl.groups = cl.groups[len(cl.groups):]
		moving := false
		cl.many = len(turn) > 1
		for i, s := range turn {
			if s.state == gone {
				continue
			}
			if s.state == running {
				cl.rest = turn[i+1:]
				s.run(len(turn) == 1 && i == 0)
				if m.stopped.Load() {
					return
				}
				if s.state == running && s.stuck != cl.version+1 {
					moving = true
				}
			}
			if s.state != gone {
				cl.groups = append(cl.groups, s)
			}
		}
		if len(cl.groups) == 0 {
			break
		}
		for _, s := range cl.groups {
			if s.state == running && s.stuck != cl.version+1 {
				moving = true
			}
		}
		if !moving && !cl.unstall() {
			cl.hang()
			return
		}
	}
	cl.finish()
}

// startCluster makes the blocks of a cluster, each one group at its first instruction.
func (m *worker) startCluster(number uint32) *clusterRun {
	cx, cy, cz := m.cluster[0], m.cluster[1], m.cluster[2]
	gx, gy := m.grid[0]/cx, m.grid[1]/cy
	base := [3]uint32{number % gx * cx, number / gx % gy * cy, number / gx / gy * cz}
	cl := m.newCluster(number, int(cx*cy*cz))
	for r := range cl.blocks {
		in := [3]uint32{uint32(r) % cx, uint32(r) / cx % cy, uint32(r) / cx / cy}
		b := cl.blocks[r]
		b.id = [3]uint32{base[0] + in[0], base[1] + in[1], base[2] + in[2]}
		b.shared.init(m)
		s := m.firstGroup(r)
		if s.b != b {
			s.b = b
		}
		for _, i := range m.p.inputs {
			s.r[i].setU(0, 0)
		}
		m.blockSpecials(s, in)
		cl.groups = append(cl.groups, s)
		m.blocks++
	}
	return cl
}

// newCluster gives the worker's cluster, made anew: nothing of the last one is left.
func (m *worker) newCluster(number uint32, blocks int) *clusterRun {
	cl := &m.cluster0
	if len(cl.blocks) == 0 {
		cl.m, cl.groups0 = m, make([]*threadGroup, 0, 8*blocks)
		for r := range blocks {
			cl.blocks = append(cl.blocks, &block{m: m, cl: cl, rank: r})
		}
	}
	cl.number, cl.seq, cl.epoch, cl.version, cl.many, cl.nbars = number, 0, 0, 0, false, 0
	cl.groups = cl.groups0
	if cl.mbars != nil {
		cl.mbars = nil
	}
	if cl.barrier.arrived != nil || cl.barrier.last != nil {
		cl.barrier = clusterBarrier{}
	}
	for _, b := range cl.blocks {
		b.reset()
	}
	return cl
}

// reset makes a block as it is before its first instruction.
func (b *block) reset() {
	b.live, b.epoch, b.warpAll, b.dirty = b.m.full, 0, 0, false
	if b.snap != b.m.firstSnap {
		b.snap = b.m.firstSnap
	}
	if b.warps != nil || b.clock != nil || b.clocks != nil {
		b.warps, b.clock, b.clocks = nil, nil, nil
	}
	if b.local != nil {
		b.local, b.ltags = nil, nil
	}
	if b.bars != nil {
		b.bars = nil
	}
	if b.copies.list != nil || b.copies.commits != nil {
		b.copies.list, b.copies.commits = nil, nil
	}
	b.copies.commit = 0
	if b.m.p.flights {
		b.flights.reset()
	}
}

// firstGroup gives a block's first group, with registers.
func (m *worker) firstGroup(r int) *threadGroup {
	for len(m.groups0) <= r {
		m.groups0 = append(m.groups0, new(threadGroup))
	}
	s := m.groups0[r]
	if s.top == nil && s.global == nil && s.test == nil && s.wait == nil && s.tired == nil && s.guests == nil { // as most end
		s.bb, s.pc, s.state, s.yield, s.stuck, s.hash, s.seen, s.looks, s.lanes, s.adrift = 0, 0, running, false, 0, 0, 0, 0, false, false
	} else {
		*s = threadGroup{}
	}
	s.watch, s.r = -1, m.registers()
	if s.m != m || s.mask != m.full {
		s.m, s.mask = m, m.full
	}
	return s
}

func (m *worker) blockSpecials(s *threadGroup, in [3]uint32) {
	for i := range m.slice.perBlock {
		k := &m.slice.perBlock[i]
		v := uint64(0)
		switch k.special {
		case "cluster_ctarank":
			v = uint64(s.b.rank)
		case "gridid":
		default:
			d := int(k.special[len(k.special)-1] - 'x')
			switch k.special[:len(k.special)-2] {
			case "ctaid":
				v = uint64(s.b.id[d])
			case "clusterid":
				v = uint64(s.b.id[d] / m.cluster[d])
			case "cluster_ctaid":
				v = uint64(in[d])
			}
		}
		s.r[k.slot].setU(v, 0)
	}
}

// finish ends a cluster: copies that nobody waited for have no end.
func (cl *clusterRun) finish() {
	for _, b := range cl.blocks {
		b.copies.abandon(b)
		b.shared.free(cl.m)
	}
	cl.m.unhold()
}

// leaveThreads notes threads that have exited; barriers no longer wait for them.
func (b *block) leaveThreads(set *threadSet) {
	if set == b.live {
		b.live = b.m.empty
		b.cl.tryBarrier()
		return
	}
	b.live = b.m.keepSet(b.live.minus(set, b.m.threads))
	b.dirty = true
	for i := range b.bars {
		if b.bars[i].arrived > 0 {
			b.tryBarrier(i)
		}
	}
	b.cl.tryBarrier()
}
