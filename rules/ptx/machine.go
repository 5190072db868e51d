package ptx

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
)

// launchState is what the workers of one run share.
type launchState struct {
	l        *Launch
	p        *program
	ctx      context.Context
	plan     *slicing
	bufs     []*gbuf // of the launch, then the module's own variables
	own      *gbuf
	events   *arena[stored]
	contexts *arena[*circumstances]
	leaves   *arena[leaf]
	entries  *arena[entry]
	sheets   *arena[sheet]
	duos     *arena[duo]
	solos    *arena[uint32]
	grid     [3]uint32
	block    [3]uint32
	cluster  [3]uint32 // blocks of a cluster
	threads  int
	shared   int64 // bytes, static and dynamic
	locked   bool  // several workers

	_         [64]byte // what all workers look at is not where they write
	stopped   atomic.Bool
	crowded   atomic.Bool
	needsFull atomic.Bool
	hung      atomic.Bool
	_         [64]byte
	steps     atomic.Int64
	used      atomic.Int64 // bytes
	_         [64]byte

	mu          sync.Mutex
	reason      string
	reasonIn    *instr
	from        taint // reached an address, guard or branch
	order       *Access
	orderFrom   taint
	orderLine   int
	strays      map[strayKey]*Stray
	late        map[lateKey]*LateCopy
	descriptors map[string]*Descriptor
	hang        *Hang
	stats       Stats
	sampled     bool
	tagsOf      []*tagTable
	seenBy      map[sight]bool
}

// worker runs blocks, one cluster at a time.
type worker struct {
	*launchState
	rec     recorder
	books   []*book // by buffer
	threads int
	warps   int

	threadBits uint8  // of a thread's number
	full       *mset  // all threads of a block
	began      *began // of the copy whose reads are recorded

	template []value // constants and what depends on nothing else
	zero     value
	tmp      value
	buf      [4][]uint64
	zeros    []uint64
	lane     [2][]uint64

	nextID      uint32
	made        map[offsetsKey]*offsets
	recent      [recentOffsets]recentEntry
	memo        []memos
	shapes      map[shapeKey]*shape
	lastShape   []shapeEntry
	merges      []merged
	held        [6]heldEvent
	heldCount   int
	contextOf   map[contextKey]uint32
	lastContext []contextEntry
	syncs       map[syncKey]*syncState
	aparts      map[apartKey]bool
	lastApart   apartKey
	lastApartIs bool
	guards      map[guardKey]*mset
	lastGuard   []guardEntry
	tags        tagTable
	scratch     *mset
	pool        [][]value // register files to use again

	localSteps int64
	tick       int
	from       taint
	instrs     int64
	executed   int64
	blocks     int64
	cluster0   clusterRun // the one that runs
	strands0   []*strand
	firstSnap  *syncState // of a block that has done nothing yet
	empty      *mset
	sharedPool []sharedMemory
	overCopies []*copyOp // to be used again
	scatter    scatter
	results    results
	addrCopy   value
	lastSaw    []int32 // by instruction: 1 + the buffer that it read last
	seen       map[sight]bool
}

type memos struct {
	entry  [memoSize]memo
	next   uint8
	misses uint32
}

type guardKey struct {
	mask *mset
	t    *offsets
	not  bool
}

type guardEntry struct {
	key guardKey
	out *mset
}

// stop ends the run: the launch is not analysed, for this reason.
func (s *launchState) stop(format string, args ...any) { s.stopAt(nil, format, args...) }

func (s *launchState) stopAt(in *instr, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" {
		s.reason = fmt.Sprintf(format, args...)
		if s.reasonIn = in; in != nil {
			at := s.p.entry.module.access(in)
			s.reason = at.told(s.reason)
		}
	}
	s.stopped.Store(true)
}

// memory accounts for n more bytes.
func (s *launchState) memory(n int64) {
	limit := s.l.Budget.Memory
	if limit <= 0 {
		limit = DefaultMemory
	}
	if s.used.Add(n) > limit {
		s.stop("the run needs more than %d bytes of memory", limit)
	}
}

// step accounts for executed instructions; it is called at each basic block.
func (m *worker) step(n int64) {
	m.localSteps += n
	m.instrs += n
	m.tick++
	if m.tick&1023 == 0 || m.localSteps > 1<<26 {
		m.flushSteps()
	}
}

func (m *worker) flushSteps() {
	limit := m.l.Budget.Steps
	if limit <= 0 {
		limit = DefaultSteps
	}
	if m.launchState.steps.Add(m.localSteps) > limit {
		m.stop("the launch takes more than %d steps", limit)
	}
	m.localSteps = 0
	if m.ctx.Err() != nil {
		m.stop("the time for this launch is over")
	}
}

func newWorker(s *launchState, first bool) *worker {
	m := &worker{launchState: s, threads: s.threads, warps: (s.threads + 31) / 32}
	m.threadBits = uint8(bits.Len(uint(s.threads - 1)))
	m.rec, m.books = newRecorder(m, s), s.openBooks(first)
	m.seen = map[sight]bool{}
	m.full = newSet(s.threads)
	for i := 0; i < s.threads; i++ {
		m.full.add(i)
	}
	m.full.kept = true
	m.empty, m.firstSnap = newSet(s.threads), &syncState{}
	m.empty.kept = true
	m.scratch = newSet(s.threads)
	for i := range m.buf {
		m.buf[i] = make([]uint64, s.threads)
	}
	m.lane = [2][]uint64{make([]uint64, s.threads), make([]uint64, s.threads)}
	m.zeros = make([]uint64, s.threads)
	m.made = map[offsetsKey]*offsets{}
	m.contextOf, m.syncs = map[contextKey]uint32{}, map[syncKey]*syncState{}
	m.lastContext = make([]contextEntry, len(s.p.codes))
	m.aparts = map[apartKey]bool{}
	m.shapes = map[shapeKey]*shape{}
	m.guards = map[guardKey]*mset{}
	m.memo = make([]memos, len(s.p.codes))
	m.lastShape = make([]shapeEntry, len(s.p.codes))
	m.merges = make([]merged, len(s.p.codes))
	m.lastGuard = make([]guardEntry, len(s.p.codes))
	m.lastSaw = make([]int32, len(s.p.instrs)+1)
	m.tags.init()
	m.memory(int64(len(s.p.codes))*600 + int64(len(s.p.slots))*64)
	m.template = make([]value, len(s.p.slots))
	m.presets()
	m.hoist()
	return m
}

// presets fills the slots whose value does not depend on the block.
func (m *worker) presets() {
	for _, k := range m.p.consts {
		x := &m.template[k.slot]
		switch {
		case k.param >= 0:
			v, t := m.param(k.param, k.off, k.size)
			x.setU(v, t)
		case k.special == "":
			x.setU(k.value, 0)
		default:
			m.presetSpecial(x, k.special)
		}
	}
}

func (m *worker) presetSpecial(x *value, name string) {
	dim := func(t int) [3]int {
		bx, by := int(m.block[0]), int(m.block[1])
		return [3]int{t % bx, t / bx % by, t / bx / by}
	}
	perThread := func(f func(t int) int64) { x.setT(0, m.offsetsOf(f), 0) }
	if n := len(name); n > 2 && name[n-2] == '.' {
		d := int(name[n-1] - 'x')
		blocks := [3]uint32{m.grid[0], m.grid[1], m.grid[2]}
		switch name[:n-2] {
		case "tid":
			perThread(func(t int) int64 { return int64(dim(t)[d]) })
		case "ntid":
			x.setU(uint64(m.block[d]), 0)
		case "nctaid":
			x.setU(uint64(blocks[d]), 0)
		case "nclusterid":
			x.setU(uint64(blocks[d]/m.cluster[d]), 0)
		case "cluster_nctaid":
			x.setU(uint64(m.cluster[d]), 0)
		}
		return
	}
	switch name {
	case "laneid":
		perThread(func(t int) int64 { return int64(t & 31) })
	case "warpid":
		perThread(func(t int) int64 { return int64(t >> 5) })
	case "nwarpid":
		x.setU(uint64(m.warps), 0)
	case "nsmid":
		x.setU(132, taintOpaque)
	case "smid", "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi":
		x.setU(0, taintOpaque)
	case "lanemask_eq":
		perThread(func(t int) int64 { return int64(int32(uint32(1) << (t & 31))) })
	case "lanemask_le":
		perThread(func(t int) int64 { return int64(int32(uint32(1)<<(t&31)<<1 - 1)) })
	case "lanemask_lt":
		perThread(func(t int) int64 { return int64(int32(uint32(1)<<(t&31) - 1)) })
	case "lanemask_ge":
		perThread(func(t int) int64 { return int64(int32(^uint32(0) << (t & 31))) })
	case "lanemask_gt":
		perThread(func(t int) int64 { return int64(int32(^uint32(0) << (t & 31) << 1)) })
	case "total_smem_size", "aggr_smem_size":
		x.setU(uint64(m.shared), 0)
	case "dynamic_smem_size":
		x.setU(uint64(m.l.DynamicShared), 0)
	case "cluster_nctarank":
		x.setU(uint64(m.cluster[0]*m.cluster[1]*m.cluster[2]), 0)
	case "is_explicit_cluster":
		x.setU(b2u(m.cluster[0]*m.cluster[1]*m.cluster[2] > 1), 0)
	}
}

// hoist computes, once, the registers that depend on the thread and on
// constants alone, and that one instruction defines.
func (m *worker) hoist() {
	s := &strand{m: m, r: m.template, mask: m.full}
	for _, c := range m.plan.hoisted {
		evalPure(s, c, &s.r[c.dst])
	}
}

// mayBlockChange names the special registers that change from block to block.
func blockSpecial(name string) bool {
	switch name {
	case "gridid", "cluster_ctarank":
		return true
	}
	n := len(name)
	if n < 2 || name[n-2] != '.' {
		return false
	}
	switch name[:n-2] {
	case "ctaid", "clusterid", "cluster_ctaid":
		return true
	}
	return false
}

// useControl notes a value that decides a branch or a guard.
func (m *worker) useControl(t taint, c *code, what string) {
	if t == 0 {
		return
	}
	m.from |= t & taintBits
	if t&taintOpaque != 0 {
		m.stopAt(c.in, "the %s depends on a value that is not computed%s", what, m.unknownOf(t))
	}
	if t&taintOrder != 0 {
		m.noteOrder(t, c)
	}
}

func (s *launchState) unknownOf(t taint) string {
	for i, b := range s.bufs {
		if i < len(s.l.Buffers) && t&bufferTaint(i) != 0 && b.contents == nil && !s.l.Buffers[i].Scratch {
			return fmt.Sprintf(" (contents of buffer %d are not known)", i)
		}
	}
	return ""
}

func (m *worker) noteOrder(t taint, c *code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.orderFrom |= t & taintBits
	if m.order == nil || int(c.in.at.line) < m.orderLine {
		a := m.p.access(c.orig)
		m.order, m.orderLine = &a, int(c.in.at.line)
	}
}

// access describes an instruction without a thread.
func (p *program) access(orig int32) Access { return p.entry.module.access(p.instrs[orig]) }

func (m *Module) access(in *instr) Access {
	a := Access{PTXLine: int(in.at.line), Instruction: in.name}
	if in.loc.line > 0 {
		a.File, a.Line = m.Files[int(in.loc.file)], int(in.loc.line)
	}
	return a
}
