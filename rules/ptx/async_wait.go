package ptx

// runCommit executes cp.async.commit_group.
func runCommit(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	k := &s.b.copies
	if mask.n == s.m.threads && k.commits == nil {
		k.commit++
		return
	}
	if k.commits == nil {
		k.commits = make([]uint32, s.m.threads)
		for i := range k.commits {
			k.commits[i] = k.commit
		}
	}
	for _, t := range mask.list {
		k.commits[t]++
	}
}

// runWait executes cp.async.wait_group N and wait_all (N = 0, uncommitted ones too).
func runWait(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	k := &s.b.copies
	s.m.charge(int64(len(k.list)))
	left := k.list[:0]
	for _, o := range k.list {
		if o.end(s, mask, func(t int) bool {
			return c.flags&waitAll != 0 || uint64(o.groupOf(t))+c.imm < uint64(k.groupOf(t))
		}, 0, 0) {
			left = append(left, o)
		} else {
			s.m.overCopies = append(s.m.overCopies, o)
		}
	}
	clear(k.list[len(left):])
	k.list = left
}

const waitAll = 1 << 0

// end ends the copies of those threads of mask for which over holds, and
// records their reads; it says whether any remain.
func (o *copyOp) end(s *threadGroup, mask *threadSet, over func(t int) bool, async uint16, phase uint32) bool {
	m := s.m
	done, rest := o.mask, (*threadSet)(nil)
	all := mask == o.mask || mask.n == m.threads
	if all && o.groups == nil && s.b.copies.commits == nil {
		if !over(int(o.mask.list[0])) {
			return true
		}
	} else {
		done, rest = newSet(m.threads), newSet(m.threads)
		for _, t := range o.mask.list {
			if mask.has(int(t)) && over(int(t)) {
				done.add(int(t))
			} else {
				rest.add(int(t))
			}
		}
		if done.n == 0 {
			return true
		}
		if rest.n == 0 {
			done, rest = o.mask, nil
		}
	}
	if o.read > 0 {
		c := o.c
		if o.read != c.mem.size {
			clone, op := *o.c, *o.c.mem
			op.size = o.read
			clone.mem = &op
			c = &clone
		}
		t := touch{s: s, c: c, mask: m.keepSet(done), addr: &o.src, u: o.src.u, space: spaceGlobal}
		t.async, t.phase = async, phase
		m.unhold()
		m.began = &o.began
		t.global(reads, nil)
		m.unhold()
		m.began = nil
	}
	o.mask = rest
	return rest != nil
}

// abandon records the reads of copies that no thread waited for: they never end.
func (k *copies) abandon(b *block) {
	for _, o := range k.list {
		s := &threadGroup{m: b.m, b: b, mask: o.mask}
		o.end(s, b.m.full, func(int) bool { return true }, asyncNever, 0)
	}
	k.list = nil
}

// runCopyArrive executes cp.async.mbarrier.arrive: the copies end with a phase.
func runCopyArrive(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	a := &s.r[c.src[0]]
	for _, i := range mask.list {
		mb := s.mbarAt(c, a.at(int(i), 0xffffffff)+c.mem.off, false)
		if mb == nil {
			return
		}
		one := newSet(s.m.threads)
		one.add(int(i))
		k := &s.b.copies
		left := []*copyOp{}
		for _, o := range k.list {
			if o.end(s, one, func(int) bool { return true }, uint16(mb.id+1), mb.phase) {
				left = append(left, o)
			}
		}
		k.list = left
		n := int64(0)
		if c.flags&copyNoInc != 0 {
			n = 1
		}
		mb.arrive(s.b, int(i), n)
		mb.advance(s.b.cl)
	}
}

const copyNoInc = 1 << 0
