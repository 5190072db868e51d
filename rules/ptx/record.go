package ptx

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// stored is one execution of one memory instruction by some threads of a block,
// as it is kept: without pointers, so that the record costs the collector nothing.
type stored struct {
	cluster uint32 // number of the cluster in the grid
	seq     uint32 // in the cluster
	orig    int32  // number of the instruction; of a merged event, of the first
	context uint32 // number of the circumstances
	rank    uint16 // of the block in its cluster
	async   uint16 // 1 + mbarrier whose phase completes the access; asyncNever: nothing does
	phase   uint32 // that phase
	thread  int32  // of a range: who
	size    uint32 // of a range
	base    int64  // offset in the buffer of the first byte
}

// circumstances are what many events have in common. They never change once made.
type circumstances struct {
	plan *plan // nil: a range of size bytes, or single threads
	sync *syncState
	more []int32 // of a merged event: the instructions of its pieces, by address
}

// event is a stored event with its circumstances.
type event struct {
	*stored
	*circumstances
}

const (
	asyncNever = 0xffff
	eventBytes = 48
	entryBytes = 32
	cellBytes  = 4
)

// entry is a part of an event in a line's chain.
type entry struct {
	mask   uint64
	ev     uint32 // event + 1
	next   uint32 // entry + 1
	thread int16  // of byte first; -1: as the event says
	how    uint8  // bytes of a piece as a power of two; 16 * (thread of the next piece, + 1)
	first  uint8  // bit in mask when the entry was made
	bound  uint32 // of a full chain's head
	all    uint64 // of a chain's head: the bytes that the chain touches
}

const anyThread = -1

const (
	chunkLog  = 9
	chunkSize = 1 << chunkLog
	maxChunks = 1 << 20
	pageLog   = 16 // bytes of a buffer per page of cells
	pageLines = 1 << (pageLog - 6)
	chainFlag = uint32(1) << 31
	fullFlag  = uint32(1) << 30 // of a chain: no cluster from bound on changes it
	indexBits = fullFlag - 1
	maxChain  = 256
)

// arena holds elements that several workers append, each to chunks of its own.
type arena[T any] struct {
	mu     sync.Mutex
	chunks atomic.Pointer[[]*[chunkSize]T]
}

func newArena[T any]() *arena[T] {
	a := &arena[T]{}
	a.chunks.Store(&[]*[chunkSize]T{})
	return a
}

func (a *arena[T]) get(i uint32) *T { return &(*a.chunks.Load())[i>>chunkLog][i&(chunkSize-1)] }

// used counts the elements that there is room for.
func (a *arena[T]) used() int64 { return int64(len(*a.chunks.Load())) << chunkLog }

// grow adds a chunk and gives its number.
func (a *arena[T]) grow() (n uint32, chunk *[chunkSize]T, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := *a.chunks.Load()
	if len(old) >= maxChunks {
		return 0, nil, false
	}
	chunk = new([chunkSize]T)
	list := append(old, chunk)
	a.chunks.Store(&list)
	return uint32(len(old)), chunk, true
}

// cursor is a worker's place in an arena.
type cursor[T any] struct {
	a         *arena[T]
	next, end uint32
	chunk     *[chunkSize]T
}

// alloc gives a new element's number; ok is false when the arena is full.
func (c *cursor[T]) alloc() (i uint32, x *T, ok bool) {
	if c.next == c.end {
		n, chunk, ok := c.a.grow()
		if !ok {
			return 0, nil, false
		}
		c.chunk, c.next, c.end = chunk, n<<chunkLog, n<<chunkLog+chunkSize
	}
	i = c.next
	c.next++
	return i, &c.chunk[i&(chunkSize-1)], true
}

// table says, for each line of a buffer, which events touched which bytes.
//
// Of reads it keeps the last ones (no later read by the same threads makes them
// needless), of writes the first ones. Bytes that several clusters touch keep
// the two smallest cluster numbers: that is enough for any verdict, and does
// not depend on the order in which blocks run.
type table struct {
	last  bool // keep the last: reads
	pages []atomic.Pointer[page]
	any   atomic.Bool
}

type page struct {
	mu    sync.Mutex
	cells [pageLines]uint32
}

func newTable(size int64, last bool) *table {
	return &table{last: last, pages: make([]atomic.Pointer[page], size>>pageLog+1)}
}

func (t *table) page(m *worker, i int64) *page {
	p := t.pages[i].Load()
	if p == nil {
		p = new(page)
		if t.pages[i].CompareAndSwap(nil, p) {
			m.memory(pageLines * cellBytes)
		} else {
			p = t.pages[i].Load()
		}
	}
	return p
}

// recorder is a worker's side of the record.
type recorder struct {
	m       *worker
	events  cursor[stored]
	entries cursor[entry]
	shared  bool   // several workers: pages are locked
	free    uint32 // entries to use again, linked by next
}

// add records an event's plan on a table.
func (r *recorder) add(t *table, ev event) {
	id, st, ok := r.events.alloc()
	if !ok {
		r.m.stop("the record of accesses is full")
		return
	}
	*st = *ev.stored
	e := event{st, ev.circumstances}
	if !t.any.Load() {
		t.any.Store(true)
	}
	used := false
	first := ev.base >> 6
	if ev.plan == nil {
		end := ev.base + int64(ev.size)
		for line := first; line<<6 < end; line++ {
			used = r.line(t, line, e, id, e.lineMask(line)) || used
		}
	} else {
		used = r.lines(t, ev.plan, first, e, id)
	}
	if !used && id+1 == r.events.next {
		r.events.next--
		return
	}
	r.m.memory(eventBytes)
}

// event gives an event by number.
func (r *recorder) event(i uint32) event {
	st := r.events.a.get(i)
	return event{st, *r.m.contexts.get(st.context)}
}

// lines records a plan's lines: the fast path writes one cell a line.
func (r *recorder) lines(t *table, p *plan, first int64, e event, id uint32) bool {
	used := false
	var pg *page
	at := int64(-1)
	for i := range p.lines {
		l := &p.lines[i]
		line := first + l.delta
		if n := line >> (pageLog - 6); n != at {
			if pg != nil && r.shared {
				pg.mu.Unlock()
			}
			pg, at = t.page(r.m, n), n
			if r.shared {
				pg.mu.Lock()
			}
		}
		cell := &pg.cells[line&(pageLines-1)]
		if *cell == 0 {
			*cell = id + 1
			used = true
			continue
		}
		used = r.merge(t, cell, line, e, id, entry{mask: l.mask, thread: anyThread}) || used
	}
	if pg != nil && r.shared {
		pg.mu.Unlock()
	}
	return used
}

// line records one line.
func (r *recorder) line(t *table, line int64, e event, id uint32, mask uint64) bool {
	pg := t.page(r.m, line>>(pageLog-6))
	if r.shared {
		pg.mu.Lock()
		defer pg.mu.Unlock()
	}
	cell := &pg.cells[line&(pageLines-1)]
	if *cell == 0 {
		*cell = id + 1
		return true
	}
	return r.merge(t, cell, line, e, id, entry{mask: mask, thread: anyThread})
}

// piece records bytes of a line that single threads touch.
func (r *recorder) piece(t *table, line int64, e event, id uint32, en entry) bool {
	pg := t.page(r.m, line>>(pageLog-6))
	if r.shared {
		pg.mu.Lock()
		defer pg.mu.Unlock()
	}
	cell := &pg.cells[line&(pageLines-1)]
	return r.merge(t, cell, line, e, id, en)
}

// lineMask gives the bytes that the event touches of a line, one that it does touch.
func (e event) lineMask(line int64) uint64 {
	end := e.base + int64(e.size)
	if e.plan != nil {
		if e.plan.whole {
			return ^uint64(0)
		}
		if !e.plan.solid {
			return e.plan.lineMask(line - e.base>>6)
		}
		end = e.base + e.plan.span
	}
	lo, hi := max(e.base, line<<6), min(end, (line+1)<<6)
	if lo >= hi {
		return 0
	}
	return widthMask(uint8(hi-lo)) << (lo & 63)
}

// merge adds to a line that has accesses already; false when it changes nothing.
func (r *recorder) merge(t *table, cell *uint32, line int64, e event, id uint32, en entry) bool {
	mask := en.mask
	if *cell&(chainFlag|fullFlag) == chainFlag|fullFlag && e.cluster >= r.entries.a.get(*cell&indexBits).bound {
		return false
	}
	if *cell != 0 && *cell&chainFlag == 0 {
		old := r.event(*cell - 1)
		om := old.lineMask(line)
		if old.cluster == e.cluster && en.thread == anyThread && old.async == 0 &&
			(old.rank == e.rank && old.seq <= e.sync.epoch || om == mask && sameThreads(old, e, 0)) {
			if t.last && om&^mask == 0 {
				*cell = id + 1
				return true
			}
			if !t.last && mask&^om == 0 {
				return false
			}
		}
		if !r.push(cell, entry{mask: om, ev: *cell, thread: anyThread}, true) {
			return false
		}
	}
	en.ev = id + 1
	if *cell != 0 && r.entries.a.get(*cell&indexBits).all&mask != 0 {
		if en.mask = r.settle(t, cell, line, e, en); en.mask == 0 {
			return false
		}
	}
	return r.push(cell, en, *cell == 0)
}

// push puts an entry at the head of a chain, or makes the chain.
func (r *recorder) push(cell *uint32, en entry, first bool) bool {
	var i uint32
	var x *entry
	if r.free != 0 {
		i = r.free - 1
		x = r.entries.a.get(i)
		r.free = x.next
	} else {
		var ok bool
		if i, x, ok = r.entries.alloc(); !ok {
			r.m.stop("the record of accesses is full")
			return false
		}
		r.m.memory(entryBytes)
	}
	en.all = en.mask
	if !first && *cell&chainFlag != 0 {
		en.next = *cell&indexBits + 1
		en.all |= r.entries.a.get(*cell & indexBits).all
	}
	*x = en
	*cell = chainFlag | i
	return true
}

// sameThreads says that two events of one block touch their bytes by the same
// threads, byte for byte: one thread's program order orders them.
func sameThreads(a, b event, delta int64) bool {
	if a.rank != b.rank || a.cluster != b.cluster {
		return false
	}
	if a.plan == nil || b.plan == nil {
		return a.plan == nil && b.plan == nil && a.thread == b.thread
	}
	if a.plan.t == nil || b.plan.t == nil {
		return a.plan.t == b.plan.t && a.plan.mask.n == 1 && b.plan.mask.n == 1 && a.plan.mask.list[0] == b.plan.mask.list[0] ||
			a.plan.t == nil && b.plan.t == nil && a.plan.mask.equal(b.plan.mask) && a.orig == b.orig && a.plan.mask.n == 1
	}
	return a.base == b.base+delta && a.plan.t == b.plan.t && a.plan.size == b.plan.size && a.plan.mask.equal(b.plan.mask) && a.plan.exclusive()
}

// exclusive says that no two threads touch the same byte.
func (sh *shape) exclusive() bool {
	if sh.tight {
		return true
	}
	for i := 1; i < len(sh.offs); i++ {
		if sh.offs[i] < sh.offs[i-1]+sh.size {
			return false
		}
	}
	return true
}

// settle removes what a new access makes needless, from the chain or from its
// own mask, which it returns.
func (r *recorder) settle(t *table, cell *uint32, line int64, e event, add entry) uint64 {
	mask := add.mask
	now := part{e, add}
	var near neighbours
	prev := (*entry)(nil)
	count := 0
	for i := *cell & indexBits; ; {
		en := r.entries.a.get(i)
		next := en.next
		count++
		old := r.event(en.ev - 1)
		if both := en.mask & mask; both != 0 {
			switch {
			case old.cluster != e.cluster:
				near.add(old.cluster, both)
			case t.last:
				en.mask &^= r.soon(part{old, *en}, now, line, both, count)
			default:
				mask &^= r.soon(part{old, *en}, now, line, both, count)
				now.entry.mask = mask
			}
		}
		if en.mask == 0 && (prev != nil || next != 0) {
			if prev == nil {
				*cell = chainFlag | (next - 1)
				r.entries.a.get(next - 1).all |= en.all
			} else {
				prev.next = next
			}
			en.next, r.free = r.free, i+1
		} else {
			prev = en
		}
		if next == 0 || mask == 0 {
			break
		}
		i = next - 1
	}
	if near.n > 1 {
		twice := near.twice(e.cluster)
		if mask &^= twice; twice == ^uint64(0) {
			r.entries.a.get(*cell & indexBits).bound = near.top + 1
			*cell |= fullFlag
		}
	}
	if near.n > 1 && near.top > e.cluster && mask != 0 {
		r.trim(cell, mask, e.cluster)
	}
	if count > maxChain {
		r.m.crowded.Store(true)
		return 0
	}
	return mask
}

// soon is before where that is quickly known, or where the chain is long.
func (r *recorder) soon(a, b part, line int64, mask uint64, count int) uint64 {
	if a.rank == b.rank && a.async == 0 {
		if a.seq <= b.sync.epoch {
			return mask
		}
		if a.entry.thread == anyThread && b.entry.thread == anyThread && sameThreads(a.event, b.event, 0) {
			return mask
		}
	}
	if count < 6 && (a.entry.thread == anyThread || b.entry.thread == anyThread) {
		return 0
	}
	return r.before(a, b, line, mask)
}

// neighbours are the other clusters that touch a line's bytes.
type neighbours struct {
	cluster [12]uint32
	mask    [12]uint64
	n       int
	top     uint32
}

func (n *neighbours) add(c uint32, mask uint64) {
	for i := 0; i < n.n; i++ {
		if n.cluster[i] == c {
			n.mask[i] |= mask
			return
		}
	}
	n.top = max(n.top, c)
	if n.n < len(n.cluster) {
		n.cluster[n.n], n.mask[n.n] = c, mask
		n.n++
		return
	}
	// No room: bytes that two have already do not need a third. Fold the rest.
	n.mask[len(n.mask)-1] |= mask &^ n.twice(^uint32(0))
}

// twice gives the bytes that two clusters smaller than c touch.
func (n *neighbours) twice(c uint32) uint64 {
	once, two := uint64(0), uint64(0)
	for i := 0; i < n.n; i++ {
		if n.cluster[i] < c {
			two |= once & n.mask[i]
			once |= n.mask[i]
		}
	}
	return two
}

// trim takes bytes from clusters above c that are no longer among the two
// smallest once c is added.
func (r *recorder) trim(cell *uint32, mask uint64, c uint32) {
	for b := mask; b != 0; b &= b - 1 {
		bit := b & -b
		lo := c
		second := ^uint32(0)
		r.each(*cell, func(en *entry, ev event) bool {
			if en.mask&bit != 0 && ev.cluster != lo {
				if ev.cluster < lo {
					lo, second = ev.cluster, lo
				} else if ev.cluster < second {
					second = ev.cluster
				}
			}
			return true
		})
		r.each(*cell, func(en *entry, ev event) bool {
			if en.mask&bit != 0 && ev.cluster > second {
				en.mask &^= bit
			}
			return true
		})
	}
}

func (r *recorder) each(cell uint32, f func(en *entry, ev event) bool) {
	for i := cell & indexBits; ; {
		en := r.entries.a.get(i)
		if !f(en, r.event(en.ev-1)) || en.next == 0 {
			return
		}
		i = en.next - 1
	}
}

// part is what one event did to a line.
type part struct {
	event
	entry entry
}

// before gives the bytes of mask whose every touch in a is ordered before every touch in b.
func (r *recorder) before(a, b part, line int64, mask uint64) uint64 {
	return orderedBytes(r.m.threads, a, b, line, line, 0, mask, 0)
}

// orderedBytes is before for lines of two buffers: bit i of a's line la is bit
// i+shift of b's line lb, and byte i of b's buffer is byte i+delta of a's.
func orderedBytes(threads int, a, b part, la, lb int64, shift int, mask uint64, delta int64) uint64 {
	if a.cluster != b.cluster {
		return 0
	}
	if a.rank == b.rank && a.async == 0 {
		if a.seq <= b.sync.epoch {
			return mask
		}
		if a.entry.thread == anyThread && b.entry.thread == anyThread && a.seq < b.seq && sameThreads(a.event, b.event, delta) {
			return mask
		}
	}
	var out uint64
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		ok := a.threadsOn(la, i, func(ta int) bool {
			return b.threadsOn(lb, i+shift, func(tb int) bool { return happens(threads, a.event, ta, b.event, tb) })
		})
		if ok {
			out |= 1 << i
		}
	}
	return out
}

// threadsOn calls f for each thread that touches byte i of the line.
func (p *part) threadsOn(line int64, i int, f func(t int) bool) bool {
	switch {
	case p.entry.thread != anyThread:
		n := (i - int(p.entry.first)) >> (p.entry.how & 15)
		return f(int(p.entry.thread) + (int(p.entry.how>>4)-1)*n)
	case p.plan == nil:
		return f(int(p.event.thread))
	}
	return p.plan.threadsAt(line<<6+int64(i)-p.base, f)
}

// happens says that thread ta's part of a is ordered before thread tb's part of b.
// Threads are numbered in their block.
func happens(threads int, a event, ta int, b event, tb int) bool {
	k := b.sync.knowOf(tb)
	if a.async != 0 {
		return a.async != asyncNever && k != nil && int(a.async-1) < len(k.bar) && k.bar[a.async-1] > a.phase
	}
	if a.rank == b.rank {
		if ta == tb {
			return a.seq < b.seq
		}
		if a.seq <= b.sync.epoch || ta>>5 == tb>>5 && a.seq <= b.sync.warp(tb>>5) {
			return true
		}
	} else if a.seq <= b.sync.cluster {
		return true
	}
	n := int(a.rank)*threads + ta
	return k != nil && n < len(k.thr) && k.thr[n] >= a.seq
}
