package ptx

// flight is an asynchronous access to a block's shared memory that may not be over: a
// bulk copy into it or out of it, or a wgmma that reads it. What is done to its bytes
// meanwhile is too early: see AC402.
//
// A copy into shared memory is over for who knows of its mbarrier's phase; a copy out of
// it, as far as shared memory goes, and a wgmma are over for who comes after the wait of
// a thread that issued it (PTX ISA 9.7.9.25.4 and 9.7.15.7).
type flight struct {
	code   int32        // no pointer: lists of flights are none of the garbage collector's work
	lo, hi int64        // bytes of the block's shared memory
	parts  matrixLayout // of a wgmma: which of them exactly
	matrix bool         // it is a wgmma
	write  bool         // it writes them

	async uint16 // 1 + mbarrier whose phase ends it; 0: a group
	phase uint32

	rank   int   // of the block in its cluster that issued it
	thread int32 // that issued it, with the n - 1 after it
	n      int32
	group  uint32
	waited uint32 // event of the wait that covers the group; 0: none did
}

// flights are those of a block, and the groups that its threads have committed: of bulk
// copies by thread, of wgmma by the first thread of the warpgroup.
type flights struct {
	list   []flight
	groups [2][]uint32
}

// The kinds of groups.
const (
	bulkGroups   = 0
	matrixGroups = 1
)

const warpgroup = 128

// maxFlights bounds what is outstanding: most kernels have fewer than 20.
const maxFlights = 1 << 12

// add makes a flight outstanding. What it takes the place of, for whoever comes later, is
// forgotten: a copy into the same bytes that is over for the issuing thread, and what the
// same threads issued before.
func (k *flights) add(m *worker, b *block, f *flight) {
	m.charge(int64(len(k.list)))
	if n := len(k.list); n > 0 {
		// Copies row by row are one.
		last := &k.list[n-1]
		if last.code == f.code && last.hi == f.lo && last.write == f.write && last.async == f.async && last.phase == f.phase && !f.matrix &&
			last.rank == f.rank && last.thread == f.thread && last.group == f.group && last.waited == 0 {
			last.hi = f.hi
			return
		}
	}
	k.forget(func(o *flight) bool {
		same := !o.write && !f.write && o.rank == f.rank && o.thread == f.thread && o.matrix == f.matrix
		return o.lo >= f.lo && o.hi <= f.hi && (same || o.write && f.write && o.over(b, int(f.thread)))
	})
	if k.list = append(k.list, *f); len(k.list) > maxFlights {
		m.stopAt(m.p.codes[f.code].in, "too many copies are outstanding")
	}
}

// forget drops the flights for which over holds.
func (k *flights) forget(over func(f *flight) bool) {
	left := 0
	for i := range k.list {
		f := &k.list[i]
		if over(f) {
			continue
		}
		if left < i {
			k.list[left] = *f
		}
		left++
	}
	k.list = k.list[:left]
}

// over says that a flight is over for thread t of block b.
func (f *flight) over(b *block, t int) bool {
	sync := b.snapshot()
	clock := sync.clockOf(t)
	switch {
	case f.async == asyncNever:
		return false
	case f.async != 0:
		return clock != nil && int(f.async) <= len(clock.phases) && clock.phases[f.async-1] > f.phase
	case f.waited == 0:
		return false
	case f.rank != b.rank:
		if f.waited <= sync.cluster {
			return true
		}
	case f.waited <= sync.epoch || t >= int(f.thread) && t < int(f.thread+f.n):
		return true
	case f.n == 1 && int(f.thread)>>5 == t>>5 && f.waited <= sync.warp(t>>5):
		return true
	}
	if clock == nil {
		return false
	}
	for i := range int(f.n) {
		if n := f.rank*b.m.threads + int(f.thread) + i; n < len(clock.threads) && clock.threads[n] >= f.waited {
			return true
		}
	}
	return false
}

// meets says whether a flight touches bytes of [lo, hi).
func (f *flight) meets(lo, hi int64) bool {
	if f.lo >= hi || lo >= f.hi {
		return false
	}
	if !f.matrix {
		return true
	}
	met := false
	f.parts.parts(func(a int64) { met = met || a-sharedBase < hi && lo < a-sharedBase+16 })
	return met
}

// use holds an access of thread t to [off, off+size) of block b against what is
// outstanding there.
func (k *flights) use(t *touch, b *block, thread int, off, size int64, write bool) {
	b.m.charge(int64(len(k.list)))
	for i := range k.list {
		f := &k.list[i]
		if (f.write || write) && f.meets(off, off+size) && !f.over(b, thread) {
			t.s.m.tooEarly(f, t, b, thread, max(off, f.lo), min(off+size, f.hi)-max(off, f.lo), write)
		}
	}
}

// near says that an access to [lo, hi) may be too early for one of its threads.
func (k *flights) near(b *block, threads *threadSet, lo, hi int64, write bool) bool {
	for i := range k.list {
		f := &k.list[i]
		if !f.write && !write || f.lo >= hi || lo >= f.hi {
			continue
		}
		last, known := (*vectorClock)(nil), false
		for i, t := range threads.list {
			// Neighbours mostly know the same.
			if clock := b.clockOf(int(t)); i == 0 || clock != last || f.async == 0 {
				known, last = f.over(b, int(t)), clock
			}
			if !known {
				return true
			}
		}
	}
	return false
}

// commit ends a group of each thread, or of each warpgroup.
func (k *flights) commit(m *worker, kind int, t int32) {
	if k.groups[kind] == nil {
		k.groups[kind] = make([]uint32, m.threads)
	}
	k.groups[kind][t]++
}

// group is how many groups thread t, or its warpgroup, has committed.
func (k *flights) group(kind int, t int32) uint32 {
	if k.groups[kind] == nil {
		return 0
	}
	return k.groups[kind][t]
}

// reset forgets all flights and groups.
func (k *flights) reset() {
	k.list = k.list[:0]
	clear(k.groups[bulkGroups])
	clear(k.groups[matrixGroups])
}

// wait ends what thread t, or its warpgroup, has issued in all but the last n groups.
func (k *flights) wait(b *block, kind int, t int32, n uint64) {
	done := uint64(k.group(kind, t))
	b.m.charge(int64(len(k.list)))
	event := uint32(0)
	for i := range k.list {
		f := &k.list[i]
		if f.async != 0 || f.waited != 0 || f.thread != t || f.matrix != (kind == matrixGroups) || f.rank != b.rank || uint64(f.group)+n >= done {
			continue
		}
		if event == 0 {
			b.cl.seq++
			event = b.cl.seq
		}
		f.waited = event
	}
}

// settle forgets what is over for every thread of the block, after a barrier of all.
func (k *flights) settle(b *block) {
	k.forget(func(f *flight) bool {
		if f.async == 0 && f.rank == b.rank {
			return f.waited != 0 && f.waited <= b.epoch
		}
		return f.over(b, 0) && (f.async != 0 || f.waited <= b.epoch)
	})
}

// tooEarly notes an access that did not wait for a flight.
func (m *worker) tooEarly(f *flight, t *touch, b *block, thread int, at, n int64, write bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	issued := m.p.codes[f.code].orig
	k := lateKey{issued, t.c.orig}
	l := m.launchState.late[k]
	if l == nil {
		l = &LateCopy{Copy: m.p.access(issued), Use: m.p.access(t.c.orig), Write: write, Reads: !f.write, Matrix: f.matrix}
		m.launchState.late[k] = l
	}
	if l.Count == 0 || before(b.id, l.Copy.Block) {
		l.Copy.Block, l.Copy.Thread = b.cl.blocks[f.rank].id, m.threadID(int(f.thread))
		l.Use.Block, l.Use.Thread = t.s.b.id, m.threadID(thread)
		l.Byte = uint64(at)
	}
	l.Count += n
}
