package ptx

// reconvergence is an entry of the stack of a group (a SIMT stack): where the parts of a
// split group meet, the branch's immediate post-dominator.
type reconvergence struct {
	bb      int32
	parent  *reconvergence
	pending int          // parts that are still to come
	arrived *threadGroup // those that have come
	adrift  bool         // order by memory parted them: see uncertain
	owed    []owed       // what the groups that come are to pay
}

// split leaves the threads of taken to go to one block, the others, which it
// returns, to another.
func (s *threadGroup) split(at, to int32, taken *threadSet, other int32) *threadGroup {
	m := s.m
	if at >= 0 {
		if s.top != nil && s.top.bb == at {
			s.top.pending++
		} else {
			s.top = &reconvergence{bb: at, parent: s.top, pending: 2}
		}
	} else if s.top != nil {
		s.top.pending++
	}
	o := &threadGroup{m: m, b: s.b, mask: m.keepSet(s.mask.minus(taken, m.threads)), bb: other, top: s.top, watch: -1, adrift: s.adrift}
	o.r = m.registers()
	for i := range s.r {
		o.r[i].copyFrom(&s.r[i])
	}
	s.mask, s.bb = taken, to
	s.b.cl.groups = append(s.b.cl.groups, o)
	m.memory(0)
	if len(s.b.cl.groups) > maxGroups {
		m.stop("the threads of a block go more than %d ways", maxGroups)
	}
	return o
}

const maxGroups = 2048

// arrive parks the group where it reconverges; the last one to come goes on for all.
func (s *threadGroup) arrive() {
	j := s.top
	s.pay(j)
	if j.pending == 1 && j.arrived == nil { // nobody else comes
		s.top = j.parent
		return
	}
	s.state = gone
	if j.arrived == nil {
		j.arrived = s
	} else {
		s.mergeInto(j.arrived)
	}
	j.pending--
	if j.pending <= 0 {
		j.resume()
	}
}

// resume lets the threads that have come to a join go on.
func (j *reconvergence) resume() {
	a := j.arrived
	j.arrived = nil
	if a == nil {
		if j.parent != nil {
			j.parent.leave()
		}
		return
	}
	a.state = running
	a.top = j.parent
	a.b.cl.version++
	a.b.cl.groups = append(a.b.cl.groups, a)
}

// leave notes that a part will never come.
func (j *reconvergence) leave() {
	j.pending--
	if j.pending <= 0 {
		j.resume()
	}
}

// mergeInto adds the group's threads and registers to another's.
func (s *threadGroup) mergeInto(a *threadGroup) {
	m := s.m
	a.adrift = a.adrift || s.adrift
	if s.guests != nil && a.guests == nil {
		a.guests = s.guests
	}
	live := m.p.blocks[s.bb].live
	each := func(i int32) {
		x, y := &a.r[i], &s.r[i]
		if x.same(y) {
			return
		}
		tt := x.taint | y.taint
		if x.kind != vector && x.kind == y.kind && x.u == y.u && x.t == y.t {
			x.taint = tt
			return
		}
		w := widthMask(m.p.slots[i].bits)
		old := x.spread(m.buf[0], w)
		v := x.vec(m.threads)
		copy(v, old)
		for _, t := range s.mask.list {
			v[t] = y.at(int(t), w)
		}
		x.kind, x.t, x.taint = vector, nil, tt
	}
	if live == nil {
		for i := range s.r {
			each(int32(i))
		}
	} else {
		for _, i := range live {
			each(i)
		}
	}
	a.mask = m.keepSet(a.mask.union(s.mask, m.threads))
	m.release(s.r)
	s.r = nil
}

// exit ends the group's threads.
func (s *threadGroup) exit() {
	s.state = gone
	b := s.b
	b.leaveThreads(s.mask)
	b.cl.version++
	s.m.release(s.r)
	s.r = nil
	if s.top != nil {
		s.top.leave()
	}
}
