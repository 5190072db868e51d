package ptx

// clusterBarrier is a cluster's barrier: arrive and wait apart.
type clusterBarrier struct {
	arrived []*threadSet // by block
	rel     *clockJoin
	last    *vectorClock
	waiting []*threadGroup
}

func runClusterArrive(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	cl := s.b.cl
	g := &cl.barrier
	if g.arrived == nil {
		g.arrived = make([]*threadSet, len(cl.blocks))
		for i := range g.arrived {
			g.arrived[i] = newSet(s.m.threads)
		}
	}
	g.arrived[s.b.rank] = g.arrived[s.b.rank].union(mask, s.m.threads)
	if g.rel == nil {
		g.rel = &clockJoin{b: s.b}
	}
	if c.flags&barArrive == 0 && !s.uncertain() { // not .relaxed
		g.rel.b = s.b
		g.rel.releaseAll(mask)
	}
	cl.version++
	cl.tryBarrier()
}

func runClusterWait(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	g := &s.b.cl.barrier
	if g.arrived != nil && g.arrived[s.b.rank].has(int(mask.list[0])) {
		s.state, s.wait = blocked, c
		g.waiting = append(g.waiting, s)
		return
	}
	if !s.uncertain() {
		s.b.acquireAll(s.m.keepSet(mask), g.last)
	}
}

// tryBarrier opens the barrier when every thread of the cluster that lives has arrived.
func (cl *clusterRun) tryBarrier() {
	g := &cl.barrier
	if g.arrived == nil {
		return
	}
	any := false
	for i, b := range cl.blocks {
		for _, t := range b.live.list {
			if !g.arrived[i].has(int(t)) {
				return
			}
			any = true
		}
	}
	if !any {
		return
	}
	g.last = g.rel.done()
	waiting := g.waiting
	*g = clusterBarrier{last: g.last}
	cl.version++
	for _, s := range waiting {
		if s.state == blocked {
			s.state, s.wait = running, nil
			if !s.uncertain() {
				s.b.acquireAll(s.mask, g.last)
			}
		}
	}
}
