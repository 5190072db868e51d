package ptx

import "encoding/binary"

// A generated kernel is a tree of statements. The tree is written out as PTX,
// which the machine runs, and walked thread by thread by the checker in
// bruteforce_test.go, which shares nothing with the machine.

type gKind int

const (
	gAccess    gKind = iota // global or shared load, store, atomic add
	gLoop                   // body n times
	gBranch                 // body where cond holds, other elsewhere
	gBarrier                // bar.sync, bar.red of warps [lo, hi)
	gSplit                  // bar.arrive of warps [lo, mid), bar.sync of [mid, hi)
	gWarp                   // bar.warp.sync, shfl.sync, vote.sync, redux.sync
	gArrive                 // mbarrier.arrive
	gWait                   // mbarrier.try_wait loop for the phase of the last arrive
	gCopy                   // cp.async
	gCommit                 // cp.async.commit_group
	gWaitGroup              // cp.async.wait_group n
	gCluster                // barrier.cluster.arrive and wait
	gPairs                  // bar.sync of warps lo+i and hi-1-i, the barrier's number in a register
	gFlag                   // thread 0 sets a flag in shared memory, all wait until it is set
	gTicket                 // all take a ticket in shared memory, body for who takes the last
	gIdle                   // a branch on the sum that only computes; see idle
)

// gStmt is one statement; which fields count follows from kind.
type gStmt struct {
	kind        gKind
	guard       *gCond // of accesses and copies: a predicate
	buf         int    // of accesses: buffer, or gShared
	dir         direction
	size, vec   int // bytes of an element, elements
	index       gIndex
	base        int // bytes
	generic     bool
	form        int    // which spelling
	lanes       uint32 // of gWarp: lanes that take part
	group       int    // of gWarp: lanes of a group, a power of two
	n           int
	loop        int // of gLoop: number of its counter
	cond        gCond
	body, other []gStmt
	id          int
	lo, mid, hi int    // warps
	dst         gStmt2 // of gCopy: where in shared memory
	line        int    // of the PTX instruction, set when it is written
	mapLine     int    // of the load of an index
}

// idle gives the sum after a statement of kind gIdle.
func (s *gStmt) idle(sum uint32) uint32 {
	switch s.form {
	case 0:
		if sum&uint32(s.n) != 0 {
			return sum ^ 5
		}
		return sum*3 + 1
	case 1:
		for sum&7 != 0 {
			sum++
		}
	case 2: // by local memory
		if sum&uint32(s.n) == 0 {
			return sum + 9
		}
	case 3:
		if sum&uint32(s.n) != 0 {
			for again := true; again; again = sum&4 != 0 {
				sum += 3
			}
			if sum&1 != 0 {
				return sum ^ uint32(s.n)
			}
		}
	}
	return sum
}

// gStmt2 is the shared side of a copy.
type gStmt2 struct {
	index gIndex
	base  int
}

const gShared = -1

// gLast marks the store of the sum that ends every kernel.
const gLast = 9

// gIndex is an element number computed from the thread's place.
type gIndex struct {
	tid, cta, it, add int // factors, and a constant; modulo 2^32
	loop              int // which counter
	how               int // see eval
	k                 uint32
	mask              uint32 // applied last; elements minus one
	bare              bool   // mask changes nothing and is not written
}

// How an index goes on from its affine part.
const (
	ixAffine = iota
	ixXor
	ixReverse
	ixHash
	ixGather // through the map buffer
	ixShift
	ixRows // the same, by rows of gRow neighbours
)

// gCond is a condition on the thread's place.
type gCond struct {
	what int
	k    int
	loop int
	not  bool
}

const (
	onTid     = iota // tid < k
	onLane           // lane < k
	onLaneBit        // bit k of lane is set
	onWarp           // warp < k
	onCta            // cta == k
	onIter           // counter < k
	onMask           // bit of the lane is set in k
)

// gBuf is a buffer, and how the launch starts it.
type gBuf struct {
	contents []byte
	zero     int
}

type gKernel struct {
	grid, block, cluster [3]uint32
	bufs                 []gBuf
	mapBuf               int // contents are elements' numbers below gMapSize
	out                  int // every thread's sum in the end
	body                 []gStmt
	loops                int
	mbars                []int // threads expected
	nextBar              int
	flags                int  // words of shared memory for flags and tickets
	waits                bool // some threads wait for shared memory, or ask it who came last
	parts                bool // threads go ways in a full run that a sliced one does not take: it numbers events otherwise
	lastLine             int
}

const (
	gMapSize    = 64
	gRowLog     = 4
	gRow        = 1 << gRowLog
	gSharedSize = 1024 // bytes beyond the mbarriers
	gMaxMbars   = 8
)

func (k *gKernel) threads() int { return int(k.block[0] * k.block[1] * k.block[2]) }
func (k *gKernel) blocks() int  { return int(k.grid[0] * k.grid[1]) }
func (k *gKernel) ranks() int   { return int(k.cluster[0]) }

// gPlace is what conditions and indices are computed from.
type gPlace struct {
	tid, cta int
	iters    [4]int
}

func (c *gCond) holds(p *gPlace) bool {
	ok := false
	switch c.what {
	case onTid:
		ok = p.tid < c.k
	case onLane:
		ok = p.tid%32 < c.k
	case onLaneBit:
		ok = p.tid>>c.k&1 == 1
	case onMask:
		ok = c.k>>(p.tid%32)&1 == 1
	case onWarp:
		ok = p.tid/32 < c.k
	case onCta:
		ok = p.cta == c.k
	case onIter:
		ok = p.iters[c.loop] < c.k
	}
	return ok != c.not
}

func (x *gIndex) eval(k *gKernel, p *gPlace) int {
	v := uint32(x.tid*p.tid + x.cta*p.cta + x.add)
	if x.it != 0 {
		v += uint32(x.it * p.iters[x.loop])
	}
	switch x.how {
	case ixXor:
		v ^= x.k
	case ixReverse:
		v = x.k - v
	case ixHash:
		v = v * 0x9E3779B1 >> 7
	case ixShift:
		v >>= x.k
	case ixGather:
		v = k.mapped(v)
	case ixRows:
		v = k.mapped(v/gRow)*gRow + v%gRow
	}
	return int(v & x.mask)
}

// mapped gives an element of the map.
func (k *gKernel) mapped(v uint32) uint32 {
	return binary.LittleEndian.Uint32(k.bufs[k.mapBuf].contents[4*(v%gMapSize):])
}
