package ptx

// matrixMask gives the lanes whose addresses count: 8 a matrix.
func (m *worker) matrixMask(mask *threadSet, n int) *threadSet {
	if n == 4 {
		return mask
	}
	key := guardKey{mask, nil, n == 2}
	if mask.kept {
		if out := m.guards[key]; out != nil {
			return out
		}
	}
	out := newSet(m.threads)
	for _, t := range mask.list {
		if int(t)&31 < 8*n {
			out.add(int(t))
		}
	}
	out.kept = true
	if mask.kept && len(m.guards) < maxOffsets {
		m.guards[key] = out
	}
	return out
}

// matrixRows resolves the rows of n matrices, which the first 8n lanes of each warp
// name; ok is false where there is nothing to do, or the launch has been stopped.
func (s *threadGroup) matrixRows(c *code, mask *threadSet, n int) (t touch, ok bool) {
	rows := s.m.matrixMask(mask, n)
	if rows.n == 0 {
		return touch{}, false
	}
	if t, ok = s.resolve(c, rows); !ok {
		return touch{}, false
	}
	if t.space != spaceShared && t.space != spaceCluster {
		s.m.stopAt(c.in, "not an address of shared memory")
		return touch{}, false
	}
	return t, true
}

func runLdmatrix(s *threadGroup, c *code, n int, trans bool) {
	mask := s.active(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	m := s.m
	t, ok := s.matrixRows(c, mask, n)
	if !ok {
		return
	}
	if !c.mem.want {
		t.sharedEach(false, nil)
		return
	}
	place := make([]int64, m.threads)
	for i := range place {
		place[i] = -1
	}
	t.sharedEach(false, func(i int32, _ *block, off int64) { place[i] = off })
	all := t
	all.mask = mask
	out := all.results()
	out.begin()
	b := s.b
	elem := func(w, k, row, col int) (uint64, taint) {
		off := place[min(w*32+k*8+row, m.threads-1)]
		if off < 0 {
			return 0, taintOpaque
		}
		return b.shared.load(m, off+int64(2*col), 2)
	}
	for _, i := range mask.list {
		w, lane := int(i)/32, int(i)&31
		for k := 0; k < n; k++ {
			var v uint64
			var tt taint
			for h := 0; h < 2; h++ {
				row, col := lane/4, lane%4*2+h
				if trans {
					row, col = col, row
				}
				e, et := elem(w, k, row, col)
				v |= e << (16 * h)
				tt |= et
			}
			out.put(k, i, v, tt)
		}
	}
	out.end()
}

func runStmatrix(s *threadGroup, c *code, n int, trans bool) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m := s.m
	t, ok := s.matrixRows(c, mask, n)
	if !ok {
		return
	}
	s.b.cl.seq++
	if !c.mem.keep {
		t.sharedEach(true, nil)
		return
	}
	gt := t.guardTaint()
	t.sharedEach(true, func(i int32, b *block, off int64) {
		b.shared.wrote(off, 16, s.b.rank*m.threads+int(i), s.b.cl.seq)
		w, k, row := int(i)&^31, int(i)&31/8, int(i)&7
		x := &s.r[c.src[1+k]]
		for col := 0; col < 8; col++ {
			r, cc := row, col
			if trans {
				r, cc = col, row
			}
			lane := w + r*4 + cc/2
			v := x.at(min(lane, m.threads-1), 0xffffffff) >> (16 * (cc & 1)) & 0xffff
			b.shared.store(m, off+int64(2*col), 2, v, x.taint|gt)
		}
	})
	t.stored(true)
}
