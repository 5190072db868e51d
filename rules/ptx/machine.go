package ptx

import (
	"context"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"aliascheck/rules/ptx/syntax"
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
	reasonIn    *syntax.Instruction
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
	strays     map[strayKey]*Stray
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

func (s *launchState) stopAt(in *syntax.Instruction, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == "" {
		s.reason = fmt.Sprintf(format, args...)
		if s.reasonIn = in; in != nil {
			at := accessOf(s.p.entry.Module, in)
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

// charge counts work beyond an instruction's own against the budget of steps, so
// that a few instructions cannot take the time of many.
func (m *worker) charge(n int64) {
	if m.localSteps += n; m.localSteps > 1<<22 {
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
	m.seen, m.strays = map[sight]bool{}, map[strayKey]*Stray{}
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
	if m.order == nil || int(c.in.At.Line) < m.orderLine {
		a := m.p.access(c.orig)
		m.order, m.orderLine = &a, int(c.in.At.Line)
	}
}

// access describes an instruction without a thread.
func (p *program) access(orig int32) Access { return accessOf(p.entry.Module, p.instrs[orig]) }

// accessOf describes an instruction without a thread.
func accessOf(m *syntax.Module, in *syntax.Instruction) Access {
	a := Access{PTXLine: int(in.At.Line), Instruction: in.Name}
	if in.Source.Line > 0 {
		a.File, a.Line = m.Files[int(in.Source.File)], int(in.Source.Line)
	}
	return a
}
