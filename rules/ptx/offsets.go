package ptx

// offsetsKey names offsets that are made of others, so that equal ones are
// made once per launch and worker.
type offsetsKey struct {
	a, b   *offsets
	ka, kb int64
	how    algebra
	bits   uint8
}

// maxOffsets bounds how many are kept; beyond it they are made anew each time.
const maxOffsets = 1 << 14

func (m *worker) keep(key offsetsKey, make func() *offsets) *offsets {
	h := (uintptrOf(key.a)*31 + uintptrOf(key.b)*17 + uint64(key.ka)*0x9e3779b97f4a7c15 + uint64(key.kb)*7 + uint64(key.how)) >> 3 & (recentOffsets - 1)
	if e := &m.recent[h]; e.out != nil && e.key == key {
		return e.out
	}
	t := m.made[key]
	if t == nil {
		t = make()
		if len(m.made) < maxOffsets {
			m.made[key] = t
		}
	}
	m.recent[h] = recentEntry{key, t}
	return t
}

const recentOffsets = 256

type recentEntry struct {
	key offsetsKey
	out *offsets
}

func uintptrOf(t *offsets) uint64 {
	if t == nil {
		return 0
	}
	return uint64(t.id)
}

// offsetsOf makes offsets from a function of the thread.
func (m *worker) offsetsOf(f func(i int) int64) *offsets {
	m.nextID++
	t := &offsets{v: make([]int64, m.threads), id: m.nextID}
	for i := range t.v {
		t.v[i] = f(i)
	}
	m.memory(int64(m.threads) * 8)
	return t.finish()
}

// sum is a*ka + b*kb, modulo 2^bits and as signed numbers; nil stands for zero.
func (m *worker) sum(a, b *offsets, ka, kb int64, bits uint8) *offsets {
	if ka == 0 {
		a = nil
	}
	if kb == 0 {
		b = nil
	}
	switch {
	case a == nil && b == nil:
		return nil
	case b == nil && ka == 1:
		return a
	case a == nil && kb == 1:
		return b
	}
	return m.keep(offsetsKey{a, b, ka, kb, algAdd, bits}, func() *offsets {
		return m.offsetsOf(func(i int) int64 {
			n := int64(0)
			if a != nil {
				n += a.v[i] * ka
			}
			if b != nil {
				n += b.v[i] * kb
			}
			return signExtend(uint64(n), bits)
		})
	})
}

// masked is t & k or t >> k.
func (m *worker) masked(t *offsets, k uint64, how algebra) *offsets {
	return m.keep(offsetsKey{a: t, ka: int64(k), how: how}, func() *offsets {
		return m.offsetsOf(func(i int) int64 {
			if how == algShr {
				return t.v[i] >> k
			}
			return int64(uint64(t.v[i]) & k)
		})
	})
}

// merged is a bitwise operation on two offsets, nil standing for zero.
func (m *worker) merged(a, b *offsets, how algebra) *offsets {
	if a == nil || b == nil {
		if how == algAnd {
			return nil
		}
		if a == nil {
			return b
		}
		return a
	}
	return m.keep(offsetsKey{a: a, b: b, how: how}, func() *offsets {
		return m.offsetsOf(func(i int) int64 {
			switch how {
			case algAnd:
				return a.v[i] & b.v[i]
			case algOr:
				return a.v[i] | b.v[i]
			}
			return a.v[i] ^ b.v[i]
		})
	})
}
