package ptx

// watchProgress compares the group with what it was at the same place the last time:
// if nothing in it nor in the memory of the cluster has changed, it is stuck.
func (s *threadGroup) watchProgress() {
	v := s.b.cl.version
	if s.watch == s.bb && s.seen == v {
		if h := s.fingerprint(); h == s.hash {
			s.stuck = v + 1
			return
		}
	}
	s.stuck = 0
	if s.watch != s.bb {
		s.global, s.test = nil, nil
	}
	s.watch, s.seen, s.hash, s.looks = s.bb, v, s.fingerprint(), 2
}

func (s *threadGroup) fingerprint() uint64 {
	h := uint64(14695981039346656037)
	mix := func(x uint64) { h = (h ^ x) * 1099511628211; h ^= h >> 29 }
	each := func(i int32) {
		if !s.m.slice.control[i] {
			return
		}
		x := &s.r[i]
		mix(uint64(x.kind))
		switch x.kind {
		case uniform:
			mix(x.u)
		case thread:
			mix(x.u)
			mix(uint64(x.t.id))
		default:
			for _, t := range s.mask.list {
				mix(x.v[t])
			}
		}
	}
	if live := s.m.p.blocks[s.bb].live; live != nil {
		for _, i := range live {
			each(i)
		}
	} else {
		for i := range s.r {
			each(int32(i))
		}
	}
	return h
}
