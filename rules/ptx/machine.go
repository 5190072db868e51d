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
	l          *Launch
	p          *program
	ctx        context.Context
	slice      *slicing
	bufs       []*gbuf // of the launch, then the module's own variables
	own        *gbuf
	events     *arena[stored]
	contexts   *arena[*circumstances]
	leaves     *arena[leaf]
	entries    *arena[entry]
	ownerLines *arena[ownerLine]
	eventPairs *arena[eventPair]
	solos      *arena[uint32]
	grid       [3]uint32
	block      [3]uint32
	cluster    [3]uint32 // blocks of a cluster
	threads    int
	shared     int64 // bytes, static and dynamic
	locked     bool  // several workers
	alone      bool  // there is to be one worker
	plain      bool  // loads that may be of flags are loads like any other
	helped     bool  // there have been several

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
	order       memoryOrder
	strays      map[strayKey]*Stray
	late        map[lateKey]*LateCopy
	descriptors map[string]*Descriptor
	hang        *Hang
	stats       Stats
	sampled     bool
	tagsOf      []*tagTable
	seenBy      map[sight]bool
	sides       map[sideKey]uint64
	steering    steering
}

// worker runs blocks, one cluster at a time.
type worker struct {
	*launchState
	rec     recorder
	shadows []*bufferShadow // by buffer
	threads int
	warps   int

	threadBits uint8      // of a thread's number
	full       *threadSet // all threads of a block
	empty      *threadSet

	registerStore
	sameAgain
	coalescer
	counters
	found findings
	spare

	tags    tagTable
	scatter scatter
	began   *began // of the copy whose reads are recorded
}

// registerStore is register files, and vectors of a value a thread for use within an
// instruction.
type registerStore struct {
	template []value   // constants and what depends on nothing else
	pool     [][]value // register files to use again
	zero     value
	tmp      value
	addrCopy value
	buf      [4][]uint64
	zeros    []uint64
	lane     [2][]uint64
	scratch  *threadSet
	results  results
}

// sameAgain remembers, since blocks are alike, what came of equal arguments: hash maps
// of interned values, and before them what each instruction asked for last. last* and
// memo are by code.
type sameAgain struct {
	nextID      uint32
	made        map[offsetsKey]*offsets
	recent      [recentOffsets]recentEntry
	memo        []memos
	shapes      map[shapeKey]*shape
	lastShape   []shapeEntry
	contextOf   map[contextKey]uint32
	lastContext []contextEntry
	guards      map[guardKey]*threadSet
	lastGuard   []guardEntry
	syncs       map[syncKey]*syncState
	firstSnap   *syncState // of a block that has done nothing yet
	aparts      map[apartKey]bool
	lastApart   apartKey
	lastApartIs bool
}

// coalescer holds back events that the next access may add to.
type coalescer struct {
	held      [6]heldEvent
	heldCount int
	merges    []merged // by code
}

// counters are of work done.
type counters struct {
	localSteps int64 // that the launch has not been told of
	tick       int
	instrs     int64
	executed   int64
	blocks     int64
}

// findings are what a worker tells of when its blocks have run.
type findings struct {
	from    taint // reached an address, guard or branch
	strays  map[strayKey]*Stray
	orders  map[orderKey]bool
	decided map[*basicBlock]taint       // by order: see decidedBy
	between map[*basicBlock]*idleRegion // see ordersBranch
	lastSaw []int32                     // by instruction: 1 + the buffer that it read last
	seen    map[sight]bool
	sides   map[sideKey]uint64 // ways that threads went where contents decide
	steering
}

// spare is memory of blocks that are over, for the next.
type spare struct {
	cluster0   clusterRun // the one that runs
	groups0    []*threadGroup
	sharedPool []sharedMemory
	overCopies []*copyOp
}

type memos struct {
	entry  [memoSize]memo
	next   uint8
	misses uint32
}

type guardKey struct {
	mask *threadSet
	t    *offsets
	not  bool
}

type guardEntry struct {
	key guardKey
	out *threadSet
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
	m.rec, m.shadows = newRecorder(m, s), s.openShadows(first)
	m.found.seen, m.found.strays = map[sight]bool{}, map[strayKey]*Stray{}
	m.found.orders, m.found.decided = map[orderKey]bool{}, map[*basicBlock]taint{}
	m.found.between = map[*basicBlock]*idleRegion{}
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
	m.guards = map[guardKey]*threadSet{}
	m.memo = make([]memos, len(s.p.codes))
	m.lastShape = make([]shapeEntry, len(s.p.codes))
	m.merges = make([]merged, len(s.p.codes))
	m.lastGuard = make([]guardEntry, len(s.p.codes))
	m.found.lastSaw = make([]int32, len(s.p.instrs)+1)
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
	m.steers(t, c, what == "guard" || what == "source size")
	m.found.from |= t & taintBits
	if t&taintOpaque != 0 {
		m.stopAt(c.in, "the %s depends on a value that is not computed%s", what, m.unknownOf(t))
	}
	if t&taintOrder != 0 && c.term == termNone { // a branch: see ordersBranch
		about := m.touches(c)
		if what != "guard" {
			about = taintBits
		}
		m.noteOrder(t, c, about)
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
