package ptx

// sharedMemory is a block's shared memory: bytes, and the number of each byte's taint.
type sharedMemory struct {
	data  []byte
	tag   []uint8
	owner []sharedOwner // by 4-byte word, where values that are loaded decide something
}

func (s *sharedMemory) init(m *worker) {
	n := int(m.shared)
	if n == 0 {
		return
	}
	if k := len(m.sharedPool); k > 0 {
		s.data, s.tag, s.owner = m.sharedPool[k-1].data, m.sharedPool[k-1].tag, m.sharedPool[k-1].owner
		m.sharedPool = m.sharedPool[:k-1]
		if m.slice.keepShared || m.p.hasBars {
			clear(s.data)
			clear(s.tag)
			clear(s.owner)
		}
		return
	}
	m.memory(int64(2 * n))
	s.data, s.tag = make([]byte, n), make([]uint8, n)
	if m.slice.keepShared {
		m.memory(int64(2 * n))
		s.owner = make([]sharedOwner, (n+3)/4)
	}
}

func (s *sharedMemory) free(m *worker) {
	if s.data != nil {
		m.sharedPool = append(m.sharedPool, sharedMemory{data: s.data, tag: s.tag, owner: s.owner})
		s.data, s.tag, s.owner = nil, nil, nil
	}
}

func (s *sharedMemory) load(m *worker, off int64, n int) (uint64, taint) {
	t := s.tag[off : off+int64(n)]
	tt := m.tags.taints[t[0]]
	for _, x := range t[1:] {
		if x != t[0] {
			tt |= m.tags.taints[x]
		}
	}
	return little(s.data, off, n), tt
}

func (s *sharedMemory) store(m *worker, off int64, n int, v uint64, tt taint) {
	tag := m.tags.of(tt)
	d, t := s.data[off:off+int64(n)], s.tag[off:off+int64(n)]
	for i := range d {
		d[i] = byte(v >> (8 * i))
		t[i] = tag
	}
}
