package ptx

import "slices"

// The checker runs a generated kernel thread by thread, keeps a full vector
// clock per thread, and compares every two accesses to a byte.

// step is one thing that a thread does: a statement with its place resolved.
type step struct {
	s      *gStmt
	off    int  // of accesses and copies: first byte
	dst    int  // of copies, in shared memory
	off2   int  // of gathers: byte of the map
	on     bool // the guard holds
	gather bool
}

type gThread struct {
	at     gPlace
	steps  []step
	pc     int
	clock  []uint32
	shared bool // clock is referred to by deeds
	sum    uint32
	phase  [gMaxMbars]int
	copies [][]*deed // committed groups, oldest first
	open   []*deed
}

type brute struct {
	k       *gKernel
	deeds   map[touchKey][]*deed
	memory  [][]byte
	gathers bool
	crowded bool // the machine gave up on some byte
}

// bruteForce runs a kernel, cluster by cluster.
func bruteForce(k *gKernel) *brute {
	b := &brute{k: k, deeds: map[touchKey][]*deed{}}
	for i := range k.bufs {
		m := append([]byte(nil), k.bufs[i].contents...)
		clear(m[:k.bufs[i].zero])
		b.memory = append(b.memory, m)
	}
	for c := 0; c < k.blocks(); c += k.ranks() {
		b.cluster(c)
	}
	return b
}

// group is a cluster that runs.
type group struct {
	b       *brute
	first   int // block
	threads []*gThread
	shared  [][]byte
	mbars   map[[2]int]*mbarState
	splits  map[[2]int]*mbarState // bar.arrive and bar.sync, used once
}

type mbarState struct {
	arrived int
	clocks  []uint32   // of the phase under way
	done    [][]uint32 // of phases that are complete
}

func (b *brute) cluster(first int) {
	k := b.k
	g := &group{b: b, first: first, mbars: map[[2]int]*mbarState{}, splits: map[[2]int]*mbarState{}}
	for r := range k.ranks() {
		g.shared = append(g.shared, make([]byte, gSharedSize))
		for t := range k.threads() {
			th := &gThread{at: gPlace{tid: t, cta: first + r}}
			th.sum = uint32(t*7 + (first+r)*1000 + 1)
			th.clock = make([]uint32, k.ranks()*k.threads())
			if len(k.mbars) > 0 || k.waits {
				th.steps = append(th.steps, step{s: &gStmt{kind: gBarrier, lo: 0, hi: (k.threads() + 31) / 32}})
			}
			th.flatten(b, k.body)
			th.steps = append(th.steps, step{s: k.last(), off: 4 * ((first+r)*k.threads() + t), on: true})
			g.threads = append(g.threads, th)
		}
	}
	for progress := true; progress; {
		progress = false
		for n, th := range g.threads {
			for th.pc < len(th.steps) && g.step(n, th) {
				progress = true
			}
		}
	}
	for _, th := range g.threads {
		if th.pc < len(th.steps) {
			panic("the generated kernel does not end")
		}
	}
}

// last is the store of the sum.
func (k *gKernel) last() *gStmt {
	return &gStmt{kind: gAccess, dir: writes, buf: k.out, size: 4, vec: 1, form: gLast, line: k.lastLine}
}

func (th *gThread) flatten(b *brute, body []gStmt) {
	p := &th.at
	for i := range body {
		s := &body[i]
		switch s.kind {
		case gLoop:
			for n := range s.n {
				p.iters[s.loop] = n
				th.flatten(b, s.body)
			}
			p.iters[s.loop] = s.n
		case gBranch:
			if s.cond.holds(p) {
				th.flatten(b, s.body)
			} else {
				th.flatten(b, s.other)
			}
		case gAccess, gCopy:
			st := step{s: s, on: s.guard == nil || s.guard.holds(p), gather: s.index.how == ixGather || s.index.how == ixRows}
			st.off = s.base + s.size*s.vec*s.index.eval(b.k, p)
			if st.gather {
				raw := s.index
				if raw.mask = gMapSize - 1; raw.how == ixRows {
					raw.how, raw.k = ixShift, gRowLog
				} else {
					raw.how = ixAffine
				}
				st.off2 = 4 * raw.eval(b.k, p)
			}
			st.dst = s.dst.base + s.size*s.dst.index.eval(b.k, p)
			b.gathers = b.gathers || st.gather && st.on
			th.steps = append(th.steps, st)
		default:
			th.steps = append(th.steps, step{s: s})
		}
	}
}

// step lets a thread do its next step; false if it must wait.
func (g *group) step(n int, th *gThread) bool {
	st := &th.steps[th.pc]
	s := st.s
	switch s.kind {
	case gAccess:
		g.access(n, th, st)
	case gCopy:
		g.copy(n, th, st)
	case gIdle:
		th.sum = s.idle(th.sum)
	case gFlag: // waits until thread 0 comes, and learns nothing
		key := [2]int{th.at.cta, -1 - s.id}
		if th.at.tid == 0 {
			g.splits[key] = &mbarState{}
		}
		if g.splits[key] == nil {
			return false
		}
	case gTicket:
		key := [2]int{th.at.cta, -1 - s.id}
		if g.splits[key] == nil {
			g.splits[key] = &mbarState{}
		}
		if g.splits[key].arrived++; g.splits[key].arrived == g.b.k.threads() {
			rest := th.steps
			th.steps = nil
			th.flatten(g.b, s.body)
			th.steps = slices.Concat(rest[:th.pc+1], th.steps, rest[th.pc+1:])
		}
	case gCommit:
		th.copies = append(th.copies, th.open)
		th.open = nil
	case gWaitGroup:
		th.tick(n)
		for len(th.copies) > s.n {
			for _, d := range th.copies[0] {
				d.end = th.clock[n]
			}
			th.copies = th.copies[1:]
		}
	case gArrive:
		g.arrive(n, th, s.id)
	case gWait:
		m := g.mbars[[2]int{th.at.cta, s.id}]
		if m == nil || len(m.done) < th.phase[s.id] {
			return false
		}
		th.join(m.done[th.phase[s.id]-1])
	default:
		return g.meet(th, s)
	}
	th.pc++
	return true
}

// tick starts something new in a thread: its own count grows.
func (th *gThread) tick(n int) {
	if th.shared {
		th.clock = append([]uint32(nil), th.clock...)
		th.shared = false
	}
	th.clock[n]++
}

func (th *gThread) join(c []uint32) {
	th.clock = maxInto(append([]uint32(nil), th.clock...), c)
	th.shared = false
}

func (g *group) arrive(n int, th *gThread, id int) {
	k := g.b.k
	key := [2]int{th.at.cta, id}
	if g.mbars[key] == nil {
		g.mbars[key] = &mbarState{}
	}
	m := g.mbars[key]
	m.clocks = maxInto(m.clocks, th.clock)
	m.arrived++
	th.phase[id] = len(m.done) + 1
	if m.arrived == k.mbars[id] {
		m.done = append(m.done, m.clocks)
		m.arrived, m.clocks = 0, nil
	}
}

// meets says whether a thread takes part in a statement that me stands at.
func (s *gStmt) meets(me, th *gThread) bool {
	w, lane := th.at.tid/32, th.at.tid%32
	switch s.kind {
	case gBarrier:
		return th.at.cta == me.at.cta && w >= s.lo && w < s.hi
	case gPairs:
		return th.at.cta == me.at.cta && (w == me.at.tid/32 || w == s.lo+s.hi-1-me.at.tid/32)
	case gSplit:
		return th.at.cta == me.at.cta && w >= s.mid && w < s.hi
	case gWarp:
		return th.at.cta == me.at.cta && w == me.at.tid/32 && s.lanes>>lane&1 != 0 && lane/s.group == me.at.tid%32/s.group
	}
	return true // gCluster
}

// meet is a synchronization of several threads: it happens when all stand at it.
func (g *group) meet(th *gThread, s *gStmt) bool {
	var clock []uint32
	if s.kind == gSplit {
		key := [2]int{th.at.cta, s.id}
		if g.splits[key] == nil {
			g.splits[key] = &mbarState{}
		}
		m := g.splits[key]
		if th.at.tid/32 < s.mid { // only arrives
			m.arrived++
			m.clocks = maxInto(m.clocks, th.clock)
			th.pc++
			return true
		}
		if m.arrived < 32*(s.mid-s.lo) {
			return false
		}
		clock = maxInto(clock, m.clocks)
	}
	var all []*gThread
	for _, o := range g.threads {
		if !s.meets(th, o) {
			continue
		}
		if o.pc >= len(o.steps) || !same(o.steps[o.pc].s, s) {
			return false
		}
		all = append(all, o)
		clock = maxInto(clock, o.clock)
	}
	g.exchange(s, all)
	for _, o := range all {
		o.join(clock)
		o.pc++
	}
	return true
}

// same: the barrier that the header adds is made anew for each thread.
func same(a, b *gStmt) bool {
	return a == b || a.kind == gBarrier && b.kind == gBarrier && a.hi == b.hi && a.lo == b.lo && a.id == b.id && a.form == 0 && b.form == 0
}

// exchange computes what a synchronization adds to the sums.
func (g *group) exchange(s *gStmt, all []*gThread) {
	odd, sum := uint32(0), uint32(0)
	ballot := uint32(0)
	before := map[int]uint32{}
	for _, o := range all {
		odd += o.sum & 1
		sum += o.sum
		ballot |= o.sum & 1 << (o.at.tid & 31)
		before[o.at.tid] = o.sum
	}
	yes := uint32(5)
	if odd != 0 {
		yes = 3
	}
	for _, o := range all {
		switch {
		case s.kind == gBarrier && s.form == 3:
			o.sum += odd
		case s.kind == gBarrier && s.form == 4, s.kind == gWarp && s.form == 4:
			o.sum += yes
		case s.kind == gWarp && (s.form == 1 || s.form == 6):
			o.sum += before[o.at.tid^s.n]
		case s.kind == gWarp && s.form == 2:
			o.sum += ballot
		case s.kind == gWarp && s.form == 3:
			o.sum += sum
		}
	}
}
