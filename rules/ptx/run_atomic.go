package ptx

// runAtomic executes atom and red, thread after thread.
func runAtomic(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	t, ok := s.resolve(c, mask)
	if !ok {
		return
	}
	op := c.mem
	var out *results
	if op.want {
		out = t.results()
		out.begin()
	}
	changed := false
	gt := t.guardTaint()
	each := int64(op.bits / 8)
	m := s.m
	value := func(k int, i int32) (uint64, taint) {
		x := &s.r[c.src[k+1]]
		return x.at(int(i), widthMask(m.p.slots[c.src[k+1]].bits)), x.taint
	}
	update := op.update
	if op.updateGlobal != nil && t.space != spaceShared && t.space != spaceCluster {
		update = op.updateGlobal
	}
	one := func(i int32, off int64, load func(off int64) (uint64, taint), store func(off int64, v uint64, tt taint)) {
		for k := 0; k < op.vec; k++ {
			old, tt := load(off + int64(k)*each)
			b, bt := value(k, i)
			x, xt := uint64(0), taint(0)
			if k+1 < len(c.src)-1 && op.vec == 1 {
				x, xt = value(k+1, i)
			}
			v := update(old, b, x)
			changed = changed || v != old
			store(off+int64(k)*each, v, tt|bt|xt|gt)
			if out != nil && k < len(out.regs) {
				out.put(k, i, old, tt|gt)
			}
		}
	}
	switch {
	case t.space == spaceShared || t.space == spaceCluster:
		s.b.cl.seq++
		if !op.want && !op.keep {
			t.sharedEach(true, nil)
			return
		}
		t.sharedEach(true, func(i int32, b *block, off int64) {
			one(i, off, func(o int64) (uint64, taint) {
				v, tt := b.shared.load(m, o, int(each))
				if op.want {
					tt |= taintOrder
				}
				return v, tt
			}, func(o int64, v uint64, tt taint) { b.shared.store(m, o, int(each), v, tt) })
			b.shared.wrote(off, op.size, s.b.rank*m.threads+int(i), s.b.cl.seq)
		})
	case t.space == spaceLocal || t.space == spaceParam:
		m.stopAt(c.in, "not an address of global or shared memory")
	default:
		t.atomicGlobal(one)
	}
	if out != nil {
		out.end()
	}
	t.stored(changed)
}

func (t *touch) atomicGlobal(one func(i int32, off int64, load func(off int64) (uint64, taint), store func(off int64, v uint64, tt taint))) {
	m, op := t.s.m, t.c.mem
	each := int(op.bits / 8)
	if !op.want && !op.keep {
		t.global(updates, func(_ int32, g *gbuf, _ int64) { g.drop(m) })
		return
	}
	t.global(updates, func(i int32, g *gbuf, off int64) {
		if op.want {
			g.noteLoad(t)
		}
		one(i, off, func(o int64) (uint64, taint) {
			v, tt := g.load(m, o, each)
			if op.want {
				tt |= taintOrder | bufferTaint(g.index)
			}
			return v, tt
		}, func(o int64, v uint64, tt taint) { g.store(m, o, each, v, tt) })
	})
}
