package ptx

import (
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
