package ptx

// Order between accesses (the base of every verdict).
//
// Each cluster counts its memory events: seq. A barrier of a whole block sets
// epoch to seq: every event up to it is before whatever follows, for all
// threads of the block. A synchronization of a whole warp does the same for
// its lanes, a cluster barrier for the cluster. What orders only some threads
// (mbarriers, named barriers, parts of warps) is kept in a vector clock.

// vectorClock is what a thread knows besides the above. It never changes once made.
type vectorClock struct {
	threads []uint32 // by cluster thread: events up to this one are before; nil: none
	phases  []uint32 // by mbarrier: phases known to be complete
}

// syncState is a block's state of order at an event. It never changes once made.
type syncState struct {
	epoch   uint32
	cluster uint32
	warpAll uint32         // of every warp, where warps is nil
	warps   []uint32       // by warp
	all     *vectorClock   // of every thread, where each is nil
	each    []*vectorClock // by thread of the block
}

// syncKey is a state without vectors: many blocks come to the same.
type syncKey struct{ epoch, cluster, warpAll uint32 }

func (s *syncState) clockOf(tid int) *vectorClock {
	if s.each != nil {
		return s.each[tid]
	}
	return s.all
}

func (s *syncState) warp(w int) uint32 {
	if s.warps != nil {
		return s.warps[w]
	}
	return s.warpAll
}

// snapshot gives the block's state, the same one while nothing changes.
func (b *block) snapshot() *syncState {
	if b.snap != nil && !b.dirty {
		return b.snap
	}
	b.dirty = false
	if old := b.snap; old != nil && b.warps == nil && b.clocks == nil && old.warps == nil && old.each == nil &&
		old.epoch == b.epoch && old.cluster == b.cl.epoch && old.warpAll == b.warpAll && old.all == b.clock {
		return old
	}
	key := syncKey{b.epoch, b.cl.epoch, b.warpAll}
	plain := b.warps == nil && b.clocks == nil && b.clock == nil
	if known := b.m.syncs[key]; plain && known != nil {
		b.snap = known
		return known
	}
	s := &syncState{epoch: b.epoch, cluster: b.cl.epoch, warpAll: b.warpAll, all: b.clock}
	if plain {
		if len(b.m.syncs) < maxOffsets {
			b.m.syncs[key] = s
		}
		b.snap = s
		return s
	}
	if b.warps != nil {
		s.warps = append([]uint32(nil), b.warps...)
	}
	if b.clocks != nil {
		s.each = append([]*vectorClock(nil), b.clocks...)
	}
	b.snap = s
	return s
}

// warpSynced notes a synchronization of whole warps: of all of the block's, or of those in mask.
func (b *block) warpSynced(mask *threadSet) {
	b.dirty = true
	seq := b.cl.seq
	if mask.n == b.live.n {
		b.warpAll, b.warps = seq, nil
		if b.clocks != nil {
			for w := 0; w < b.m.warps; w++ {
				b.shareWarp(w, ^uint32(0))
			}
		}
		return
	}
	b.ownWarps()
	for w := 0; w < b.m.warps; w++ {
		if mask.warp(w) != 0 {
			b.warps[w] = seq
			if b.clocks != nil {
				b.shareWarp(w, ^uint32(0))
			}
		}
	}
}

func (b *block) ownWarps() {
	if b.warps == nil {
		b.warps = make([]uint32, b.m.warps)
		for i := range b.warps {
			b.warps[i] = b.warpAll
		}
	}
}

// shareWarp gives lanes of a warp what each of them knows.
func (b *block) shareWarp(w int, lanes uint32) {
	same, n := true, 0
	var first *vectorClock // nil is a knowledge too
	for i := 0; i < 32; i++ {
		t := w*32 + i
		if t >= b.m.threads || lanes>>i&1 == 0 {
			continue
		}
		k := b.clockOf(t)
		if n == 0 {
			first = k
		}
		same = same && k == first
		n++
	}
	if same {
		return
	}
	j := &clockJoin{b: b}
	for i := 0; i < 32; i++ {
		if t := w*32 + i; t < b.m.threads && lanes>>i&1 != 0 {
			j.add(b.clockOf(t))
		}
	}
	k := j.done()
	b.ownClocks()
	for i := 0; i < 32; i++ {
		if t := w*32 + i; t < b.m.threads && lanes>>i&1 != 0 {
			b.clocks[t] = k
		}
	}
}

// lanesSynced orders some lanes of a warp.
func (b *block) lanesSynced(w int, lanes uint32) {
	b.dirty = true
	j := &clockJoin{b: b}
	for i := 0; i < 32; i++ {
		if t := w*32 + i; t < b.m.threads && lanes>>i&1 != 0 {
			j.release(t)
		}
	}
	k := j.done()
	b.ownClocks()
	for i := 0; i < 32; i++ {
		if t := w*32 + i; t < b.m.threads && lanes>>i&1 != 0 {
			b.clocks[t] = k
		}
	}
}

func (b *block) clockOf(t int) *vectorClock {
	if b.clocks != nil {
		return b.clocks[t]
	}
	return b.clock
}

func (b *block) ownClocks() {
	if b.clocks == nil {
		b.clocks = make([]*vectorClock, b.m.threads)
		for i := range b.clocks {
			b.clocks[i] = b.clock
		}
	}
}

// barrierAll notes a barrier of the whole block: all threads know what any knew.
func (b *block) barrierAll() {
	b.dirty = true
	if b.clocks != nil {
		j := &clockJoin{b: b}
		var last *vectorClock
		for _, k := range b.clocks {
			if k != last {
				j.add(k)
				last = k
			}
		}
		b.clock, b.clocks = j.done(), nil
	}
	b.epoch, b.warpAll, b.warps = b.cl.seq, b.cl.seq, nil
	if len(b.flights.list) > 0 {
		b.flights.settle(b)
	}
}

// acquire adds k to what a thread knows.
func (b *block) acquire(t int, k *vectorClock) {
	old := b.clockOf(t)
	if k == nil || old == k {
		return
	}
	b.dirty = true
	j := &clockJoin{b: b}
	j.add(old)
	j.add(k)
	b.ownClocks()
	b.clocks[t] = j.done()
}

// acquireAll is acquire for every thread of a set, made once per distinct knowledge.
func (b *block) acquireAll(set *threadSet, k *vectorClock) {
	if k == nil {
		return
	}
	b.dirty = true
	if b.clocks == nil && set.n == b.live.n {
		j := &clockJoin{b: b}
		j.add(b.clock)
		j.add(k)
		b.clock = j.done()
		return
	}
	b.ownClocks()
	made := map[*vectorClock]*vectorClock{}
	for _, t := range set.list {
		old := b.clocks[t]
		n, ok := made[old]
		if !ok {
			j := &clockJoin{b: b}
			j.add(old)
			j.add(k)
			n = j.done()
			made[old] = n
		}
		b.clocks[t] = n
	}
}
