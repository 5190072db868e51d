package ptx

// unstall lets threads that wait at a join go on alone, if that is what
// everybody waits for; false when there are none.
func (cl *clusterRun) unstall() bool {
	freed := false
	seen := map[*reconvergence]bool{}
	for _, s := range cl.groups {
		for j := s.top; j != nil; j = j.parent {
			if seen[j] {
				continue
			}
			seen[j] = true
			if j.arrived != nil {
				a := j.arrived
				j.arrived = nil
				a.state, a.top = running, j.parent
				if j.parent != nil {
					j.parent.pending++
				}
				cl.groups = append(cl.groups, a)
				freed = true
			}
		}
		if freed {
			break
		}
	}
	if !freed { // lanes that never come are not waited for
		for _, s := range cl.groups {
			if s.state == blocked && s.lanes {
				s.state, s.lanes, s.tired = running, false, s.wait
				s.pc--
				freed = true
			}
		}
	}
	if freed {
		cl.version++
	}
	return freed
}

// hang reports a cluster whose every thread waits for what no thread does.
func (cl *clusterRun) hang() {
	m := cl.m
	m.unhold()
	for _, s := range cl.groups {
		if s.state == running && s.global != nil && s.test == nil {
			m.noteOrder(taintOrder|m.touches(s.global), s.global, taintBits)
			m.stopAt(s.global.in, "the kernel waits for memory that another block writes")
			return
		}
	}
	waiting := 0
	var at *threadGroup
	for _, s := range cl.groups {
		waiting += s.mask.n
		if at == nil || at.state != running && s.state == running {
			at = s
		}
	}
	h := &Hang{Waiting: waiting}
	c := at.wait
	if at.state == running && at.test != nil {
		c = at.test
	}
	switch {
	case c == nil:
		c = m.p.blocks[at.bb].last
		h.Reason = "it repeats itself for ever"
	case at.state == running:
		h.Reason = "it waits for an mbarrier phase that no thread can complete"
	default:
		h.Reason = "it waits at a barrier that no other thread can reach"
	}
	h.Access = m.p.access(c.orig)
	h.Access.Block, h.Access.Thread = at.b.id, m.threadID(int(at.mask.list[0]))
	m.mu.Lock()
	if m.launchState.hang == nil || before(h.Access.Block, m.launchState.hang.Block) {
		m.launchState.hang = h
	}
	m.mu.Unlock()
	for _, b := range cl.blocks {
		b.shared.free(m)
	}
	m.hung.Store(true)
}

func before(a, b [3]uint32) bool {
	for i := 2; i >= 0; i-- {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func (m *worker) threadID(t int) [3]uint32 {
	bx, by := int(m.block[0]), int(m.block[1])
	return [3]uint32{uint32(t % bx), uint32(t / bx % by), uint32(t / bx / by)}
}
