package ptx

type strayKey struct {
	orig  int32
	space space
}

// stray notes a touch outside of every buffer, for the worker: there may be as many as
// there are accesses.
func (m *worker) stray(t *touch, i int32, a uint64, size int64, write bool) {
	k := strayKey{t.c.orig, t.space}
	if s := m.found.strays[k]; s != nil {
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
	m.found.strays[k] = &s
	if m.l.StopOutside {
		m.stop("it leaves its buffers")
	}
}

func (m *worker) newStray(t *touch, i int32, a uint64, size int64, write bool) Stray {
	s := Stray{Access: m.p.access(t.c.orig), Space: t.space.String(), Address: a, Size: int(size), Write: write, Nearest: -1, Offset: int64(a), Count: 1}
	s.Block, s.Thread = t.s.b.id, m.threadID(int(i))
	if t.space == spaceGlobal {
		s.Nearest, s.Offset = m.nearest(a)
	}
	return s
}

// addStrays adds what a worker noted to what the launch tells: of each kind the
// first block's.
func (s *launchState) addStrays(m *worker) {
	for k, x := range m.found.strays {
		old := s.strays[k]
		switch {
		case old == nil:
			s.strays[k] = x
		case before(x.Block, old.Block):
			x.Count += old.Count
			s.strays[k] = x
		default:
			old.Count += x.Count
		}
	}
}
