package ptx

// barrier is one of a block's 16 named barriers.
type barrier struct {
	set     *mset // threads that have arrived
	arrived int   // threads, whole warps counted where a count is given
	want    int64 // threads expected, -1: all that live
	waiting []*strand
	sync    *mset   // of them, those that wait
	rel     *joiner // what those made known that only arrived
	early   bool    // some only arrived
	count   uint64  // of a reduction
	total   uint64
}

// runBarrier executes bar.sync, bar.arrive and bar.red.
func runBarrier(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	id, ok := s.uniformOf(c, c.src[0], mask)
	if !ok || id > 15 {
		s.m.stopAt(c.in, "threads name different barriers, or none that exists")
		return
	}
	want := int64(-1)
	if c.flags&barCount != 0 {
		n, ok := s.uniformOf(c, c.src[1], mask)
		if !ok || n == 0 || n > 1<<16 {
			s.m.stopAt(c.in, "bad thread count")
			return
		}
		want = int64(n)
	}
	b := s.b
	if c.flags&(barArrive|barReduce) == 0 && mask == b.live && (b.bars == nil || b.bars[id].arrived == 0) && (want < 0 || want <= int64(mask.n+31)&^31) {
		b.barrierAll()
		b.cl.version++
		return
	}
	mask = s.m.keepSet(mask)
	if b.bars == nil {
		b.bars = make([]barrier, 16)
	}
	bar := &b.bars[id]
	if bar.arrived == 0 {
		bar.set, bar.sync = newSet(s.m.threads), newSet(s.m.threads)
	}
	bar.want = want
	bar.set = bar.set.union(mask, s.m.threads)
	bar.arrived = bar.set.n
	b.cl.version++
	if c.flags&barReduce != 0 {
		bar.reduce(s, c, mask)
	}
	if c.flags&barArrive != 0 {
		bar.early = true
		if bar.rel == nil {
			bar.rel = &joiner{b: b}
		}
		bar.rel.releaseAll(mask)
	} else {
		bar.sync = bar.sync.union(mask, s.m.threads)
		if mask.n == s.mask.n {
			s.state, s.wait = blocked, c
			bar.waiting = append(bar.waiting, s)
		}
	}
	b.tryBarrier(int(id))
}

const (
	barCount  = 1 << 0
	barArrive = 1 << 1
	barReduce = 1 << 2
	barNot    = 1 << 3
)

// uniformOf reads a value that all threads must agree on.
func (s *strand) uniformOf(c *code, slot int32, mask *mset) (uint64, bool) {
	x := &s.r[slot]
	if x.taint != 0 {
		s.m.useControl(x.taint, c, "operand")
	}
	w := widthMask(s.m.p.slots[slot].bits)
	v := x.at(int(mask.list[0]), w)
	if x.kind != uniform {
		for _, i := range mask.list {
			if x.at(int(i), w) != v {
				return 0, false
			}
		}
	}
	return v, true
}

// tryBarrier completes a barrier when all that it expects have arrived.
func (b *block) tryBarrier(id int) {
	bar := &b.bars[id]
	all := true
	for _, t := range b.live.list {
		if !bar.set.has(int(t)) {
			all = false
			break
		}
	}
	if bar.want >= 0 {
		n := int64(0)
		for w := 0; w < b.m.warps; w++ {
			if here := bar.set.warp(w); here != 0 && here == b.live.warp(w)|here {
				n += 32
			}
		}
		if n < bar.want {
			return
		}
	} else if !all {
		return
	}
	done := *bar
	*bar = barrier{}
	if !done.early && done.sync.n == b.live.n && all {
		b.barrierAll()
	} else {
		j := done.rel
		if j == nil {
			j = &joiner{b: b}
		}
		j.releaseAll(done.sync)
		b.acquireAll(done.sync, j.done())
	}
	b.cl.version++
	for _, s := range done.waiting {
		if s.state == blocked && s.wait != nil {
			if s.wait.flags&barReduce != 0 {
				done.give(s)
			}
			s.state, s.wait = running, nil
		}
	}
}

// reduce counts the threads whose predicate holds.
func (bar *barrier) reduce(s *strand, c *code, mask *mset) {
	p := &s.r[c.src[len(c.src)-1]]
	for _, i := range mask.list {
		v := p.at(int(i), 1)
		if c.flags&barNot != 0 {
			v ^= 1
		}
		bar.count += v
		bar.total++
	}
}

// give sets a waiting strand's result.
func (bar *barrier) give(s *strand) {
	c := s.wait
	v := bar.count
	switch c.imm {
	case 1:
		v = b2u(bar.count == bar.total)
	case 2:
		v = b2u(bar.count != 0)
	}
	p := &s.r[c.src[len(c.src)-1]]
	s.r[c.dsts[0]].setU(v, p.taint)
}

// gate is a cluster's barrier: arrive and wait apart.
type gate struct {
	arrived []*mset // by block
	rel     *joiner
	last    *know
	waiting []*strand
}

func runClusterArrive(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	cl := s.b.cl
	g := &cl.gate
	if g.arrived == nil {
		g.arrived = make([]*mset, len(cl.blocks))
		for i := range g.arrived {
			g.arrived[i] = newSet(s.m.threads)
		}
	}
	g.arrived[s.b.rank] = g.arrived[s.b.rank].union(mask, s.m.threads)
	if g.rel == nil {
		g.rel = &joiner{b: s.b}
	}
	if c.flags&barArrive == 0 { // not .relaxed
		g.rel.b = s.b
		g.rel.releaseAll(mask)
	}
	cl.version++
	cl.tryGate()
}

func runClusterWait(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	g := &s.b.cl.gate
	if g.arrived != nil && g.arrived[s.b.rank].has(int(mask.list[0])) {
		s.state, s.wait = blocked, c
		g.waiting = append(g.waiting, s)
		return
	}
	s.b.acquireAll(s.m.keepSet(mask), g.last)
}

// tryGate opens the gate when every thread of the cluster that lives has arrived.
func (cl *clusterRun) tryGate() {
	g := &cl.gate
	if g.arrived == nil {
		return
	}
	any := false
	for i, b := range cl.blocks {
		for _, t := range b.live.list {
			if !g.arrived[i].has(int(t)) {
				return
			}
			any = true
		}
	}
	if !any {
		return
	}
	g.last = g.rel.done()
	waiting := g.waiting
	*g = gate{last: g.last}
	cl.version++
	for _, s := range waiting {
		if s.state == blocked {
			s.state, s.wait = running, nil
			s.b.acquireAll(s.mask, g.last)
		}
	}
}

func barrierRows() []Row {
	s := "9.7.13 Parallel Synchronization: "
	return []Row{
		{"bar", s + "bar; barrier; bar.warp.sync", lowerBar},
		{"barrier", s + "barrier; barrier.cluster", lowerBar},
		{"membar", s + "membar", lowerNothing},
		{"fence", s + "fence; fence.proxy", lowerFence},
		{"mbarrier", s + "mbarrier", lowerMbarrier},
	}
}

func lowerFence(l *lowerer, in *instr) error {
	for _, w := range in.parts[1:] {
		switch w {
		case "sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "proxy", "alias", "async", "async::generic",
			"async.global", "global", "shared", "shared::cta", "shared::cluster", "mbarrier_init", "tensormap::generic",
			"sync_restrict::shared::cta", "sync_restrict::shared::cluster", "op_restrict", "op_restrict::mbarrier_init", "async.shared::cta":
		default:
			return l.fail("unknown modifier .%s", clip(w))
		}
	}
	return lowerNothing(l, in)
}

// lowerBar lowers bar.{sync,arrive,red}, barrier.*, bar.warp.sync and barrier.cluster.*.
func lowerBar(l *lowerer, in *instr) error {
	words := in.parts[1:]
	if len(words) > 0 && words[0] == "warp" {
		if len(in.ops) != 1 {
			return l.fail("1 operand expected")
		}
		_, err := l.laneSync(in.ops[0])
		return err
	}
	if len(words) > 1 && words[0] == "cluster" {
		return lowerClusterBar(l, in, words[1:])
	}
	if len(words) > 0 && words[0] == "cta" {
		words = words[1:]
	}
	if len(words) == 0 || len(in.ops) == 0 {
		return l.fail("unknown form")
	}
	c := &code{run: runBarrier, effect: true, sync: &syncOp{barrier: true}}
	ops := in.ops
	switch words[0] {
	case "sync":
	case "arrive":
		c.flags |= barArrive
	case "red":
		return lowerBarRed(l, in, words[1:], c)
	default:
		return l.fail("unknown form")
	}
	if len(ops) > 2 {
		return l.fail("2 operands expected")
	}
	for i, op := range ops {
		s, err := l.source(op, "u32")
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
		if i == 1 {
			c.flags |= barCount
		}
	}
	c.needs = c.src
	l.unguarded(c)
	return nil
}

// unguarded emits a code that a branch goes around where the guard is false:
// threads that wait must not be followed by others of their strand.
func (l *lowerer) unguarded(c *code) {
	over := l.around()
	l.emit(c)
	l.land(over)
}

func lowerBarRed(l *lowerer, in *instr, words []string, c *code) error {
	if len(words) < 2 || len(in.ops) < 3 || len(in.ops) > 4 || in.guard >= 0 {
		return l.fail("unknown form")
	}
	c.flags |= barReduce
	width := uint8(1)
	how := words[0]
	if how == "aligned" {
		how = words[1]
	}
	switch how {
	case "popc":
		width = 32
	case "and":
		c.imm = 1
	case "or":
		c.imm = 2
	default:
		return l.fail("unknown form")
	}
	d, err := l.dest(in.ops[0], width)
	if err != nil {
		return err
	}
	c.dsts = []int32{d}
	for i, op := range in.ops[1:] {
		typ := "u32"
		if i == len(in.ops)-2 {
			typ = "pred"
		} else if i == 1 {
			c.flags |= barCount
		}
		s, err := l.source(op, typ)
		if err != nil {
			return err
		}
		c.src = append(c.src, s)
	}
	c.needs = c.src
	l.guarded(c)
	return nil
}

func lowerClusterBar(l *lowerer, in *instr, words []string) error {
	c := &code{effect: true, sync: &syncOp{barrier: true}}
	switch words[0] {
	case "arrive":
		c.run = runClusterArrive
	case "wait":
		c.run = runClusterWait
	default:
		return l.fail("unknown form")
	}
	for _, w := range words[1:] {
		switch w {
		case "relaxed":
			c.flags |= barArrive
		case "release", "acquire", "aligned":
		default:
			return l.fail("unknown modifier .%s", clip(w))
		}
	}
	l.unguarded(c)
	return nil
}
