package ptx

// gate is a cluster's barrier: arrive and wait apart.
type gate struct {
	arrived []*mset // by block
	rel     *joiner
	last    *know
	waiting []*strand
}

func runClusterArrive(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	cl := s.b.cl
	g := &cl.gate
	if g.arrived == nil {
		g.arrived = make([]*mset, len(cl.blocks))
		for i := range g.arrived {
			g.arrived[i] = newSet(s.m.threads)
		}
	}
	g.arrived[s.b.rank] = g.arrived[s.b.rank].union(mask, s.m.threads)
	if g.rel == nil {
		g.rel = &joiner{b: s.b}
	}
	if c.flags&barArrive == 0 { // not .relaxed
		g.rel.b = s.b
		g.rel.releaseAll(mask)
	}
	cl.version++
	cl.tryGate()
}

func runClusterWait(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	g := &s.b.cl.gate
	if g.arrived != nil && g.arrived[s.b.rank].has(int(mask.list[0])) {
		s.state, s.wait = blocked, c
		g.waiting = append(g.waiting, s)
		return
	}
	s.b.acquireAll(s.m.keepSet(mask), g.last)
}

// tryGate opens the gate when every thread of the cluster that lives has arrived.
func (cl *clusterRun) tryGate() {
	g := &cl.gate
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
	*g = gate{last: g.last}
	cl.version++
	for _, s := range waiting {
		if s.state == blocked {
			s.state, s.wait = running, nil
			s.b.acquireAll(s.mask, g.last)
		}
	}
}
