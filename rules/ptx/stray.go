package ptx

type strayKey struct {
	orig  int32
	space space
}

// stray notes a touch outside of every buffer.
func (m *worker) stray(t *touch, i int32, a uint64, size int64, write bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := strayKey{t.c.orig, t.space}
	if s := m.strays[k]; s != nil {
		s.Count++
		if !before(t.s.b.id, s.Block) {
			return
		}
		count := s.Count
		*s = m.newStray(t, i, a, size, write)
		s.Count = count
		return
	}
	s := m.newStray(t, i, a, size, write)
	m.strays[k] = &s
}

func (m *worker) newStray(t *touch, i int32, a uint64, size int64, write bool) Stray {
	s := Stray{Access: m.p.access(t.c.orig), Space: t.space.String(), Address: a, Size: int(size), Write: write, Nearest: -1, Offset: int64(a), Count: 1}
	s.Block, s.Thread = t.s.b.id, m.threadID(int(i))
	if t.space == spaceGlobal {
		s.Nearest, s.Offset = m.nearest(a)
	}
	return s
}
