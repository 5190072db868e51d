package ptx

// guardMask gives the threads of a set for which a guard holds. The result may
// be the worker's scratch set, good until the next call.
func (m *worker) guardMask(c *code, mask *threadSet, p *value) *threadSet {
	if p.kind == uniform {
		if p.u != 0 != c.not {
			return mask
		}
		return m.none()
	}
	if p.kind == thread && p.u == 0 && mask.kept {
		key := guardKey{mask, p.t, c.not}
		last := &m.lastGuard[c.index]
		if last.out != nil && last.key == key {
			return last.out
		}
		out := m.guards[key]
		if out == nil {
			out = newSet(m.threads)
			for _, t := range mask.list {
				if p.t.v[t] != 0 != c.not {
					out.add(int(t))
				}
			}
			out.kept = true
			if out.n == mask.n {
				out = mask
			}
			if len(m.guards) < maxOffsets {
				m.guards[key] = out
			}
		}
		*last = guardEntry{key, out}
		return out
	}
	out := m.scratch
	clear(out.bits)
	out.list, out.n = out.list[:0], 0
	for _, t := range mask.list {
		if p.at(int(t), 1) != 0 != c.not {
			out.add(int(t))
		}
	}
	if out.n == mask.n {
		return mask
	}
	return out
}

func (m *worker) none() *threadSet {
	out := m.scratch
	clear(out.bits)
	out.list, out.n = out.list[:0], 0
	return out
}

// keepSet gives a set that does not change: a copy of the scratch set.
func (m *worker) keepSet(s *threadSet) *threadSet {
	if s != m.scratch {
		s.kept = true
		return s
	}
	c := &threadSet{bits: append([]uint64(nil), s.bits...), list: append([]int32(nil), s.list...), n: s.n, kept: true}
	return c
}

// active gives the threads that execute a code, nil when there are none.
func (s *threadGroup) active(c *code) *threadSet {
	if c.guard < 0 {
		return s.mask
	}
	p := &s.r[c.guard]
	if p.taint != 0 {
		s.m.useControl(p.taint, c, "guard")
		out := s.guarded(c)
		if p.taint&taintBits != 0 {
			taken := 0
			if out != nil {
				taken = out.n
			}
			s.m.decided(c, "guard", taken, s.mask.n)
		}
		return out
	}
	return s.guarded(c)
}
