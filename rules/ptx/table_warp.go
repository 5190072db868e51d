package ptx

import "math/bits"

func warpRows() []Row {
	s := "9.7.13 Parallel Synchronization: "
	return []Row{
		{"shfl", "9.7.9 Data Movement: shfl.sync", lowerShuffle},
		{"vote", s + "vote.sync", lowerVote},
		{"match", s + "match.sync", lowerMatch},
		{"activemask", s + "activemask", lowerActiveMask},
		{"redux", s + "redux.sync", lowerRedux},
		{"elect", s + "elect.sync", lowerElect},
	}
}

// laneSync emits the order that a warp-wide instruction makes among the lanes of its mask.
func (l *lowerer) laneSync(mask operand) (int32, error) {
	s, err := l.source(mask, "b32")
	if err != nil {
		return 0, err
	}
	l.guarded(&code{run: runLaneSync, src: []int32{s}, needs: []int32{s}, effect: true, sync: &syncOp{}})
	return s, nil
}

// syncOp marks codes that order lanes or threads.
type syncOp struct{ barrier bool }

// runLaneSync orders the lanes named by a member mask. Lanes that are missing
// are waited for, as long as anybody else can still move.
func runLaneSync(s *strand, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	b := s.b
	x := &s.r[c.src[0]]
	if x.taint != 0 {
		s.m.useControl(x.taint, c, "member mask")
	}
	if mask == b.live && x.kind == uniform && uint32(x.u) == ^uint32(0) {
		b.warpSynced(mask)
		return
	}
	whole, missing := true, false
	for w := 0; w < s.m.warps; w++ {
		here, live := mask.warp(w), b.live.warp(w)
		if here == 0 {
			continue
		}
		memberGroups(x, w, here, func(members uint32) {
			missing = missing || members&live&^here != 0
			whole = whole && members&live == live && here == live
		})
	}
	if missing && c.guard < 0 && s.waitLanes(c) {
		return
	}
	mask = s.active(c)
	if whole {
		b.warpSynced(mask)
		return
	}
	for w := 0; w < s.m.warps; w++ {
		if here := mask.warp(w); here != 0 {
			memberGroups(x, w, here, func(members uint32) { b.lanesSynced(w, here&members) })
		}
	}
}

// memberGroups calls f with each member mask that lanes of a warp give: parts
// of a warp may synchronize at one instruction, each among themselves.
func memberGroups(x *value, w int, here uint32, f func(members uint32)) {
	for rest := here; rest != 0; {
		lane := bits.TrailingZeros32(rest)
		members := uint32(x.at(w*32+lane, ^uint64(0)))
		f(members)
		rest &^= members | 1<<lane
	}
}

// waitLanes parks the strand until others come to the same instruction; it
// joins one that waits there. It returns false when waiting has been given up.
func (s *strand) waitLanes(c *code) bool {
	if s.tired == c {
		s.tired = nil
		return false
	}
	for _, o := range s.b.cl.strands {
		if o != s && o.b == s.b && o.state == blocked && o.wait == c && o.lanes {
			o.state, o.lanes, o.wait = running, false, nil
			o.pc-- // it asks again, for both
			top := s.top
			s.mergeAll(o)
			s.state = gone
			if top != nil {
				top.leave()
			}
			s.b.cl.version++
			return true
		}
	}
	s.state, s.wait, s.lanes = blocked, c, true
	return true
}

// mergeAll merges in the middle of a basic block: every register counts.
func (s *strand) mergeAll(a *strand) {
	b := s.m.p.blocks[s.bb]
	live := b.live
	b.live = nil
	s.mergeInto(a)
	b.live = live
}

// laneSources reads the sources of a warp-wide instruction.
type laneFunc func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64))

// lanesOp emits the values of a warp-wide instruction.
func (l *lowerer) lanesOp(dsts []int32, f laneFunc, src ...int32) {
	l.guarded(&code{run: func(s *strand, c *code) { runLanes(s, c, f) }, dsts: dsts, src: src, sync: nil})
}

func runLanes(s *strand, c *code, f laneFunc) {
	mask := s.active(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	m := s.m
	x := make([]*value, len(c.src))
	var tt taint
	plain := mask == m.full
	for i, slot := range c.src {
		x[i] = &s.r[slot]
		tt |= x[i].taint
		plain = plain && x[i].kind != vector
	}
	if c.guard >= 0 {
		tt |= s.r[c.guard].taint
	}
	if plain && lanesRemembered(s, c, x, f, tt) {
		return
	}
	n := m.threads
	var outs [2][]uint64
	for k := range c.dsts {
		outs[k] = m.lane[k][:n]
		if d := c.dsts[k]; d >= 0 && mask.n != s.mask.n {
			copy(outs[k], s.r[d].spread(m.buf[0][:n], widthMask(m.p.slots[d].bits)))
		}
	}
	for w := 0; w < m.warps; w++ {
		if lanes := mask.warp(w); lanes != 0 {
			f(c, x, w, lanes, func(k, lane int, v uint64) { outs[k][w*32+lane] = v })
		}
	}
	for k, d := range c.dsts {
		if d < 0 {
			continue
		}
		r := &s.r[d]
		if mask.n != s.mask.n {
			tt |= r.taint
		}
		copy(r.vec(n), outs[k])
		r.kind, r.t, r.taint = vector, nil, tt
		r.settle(mask, n)
	}
}

// settle makes a vector uniform where all threads of the set agree.
func (x *value) settle(mask *mset, n int) {
	if mask.n != n {
		return
	}
	for _, v := range x.v {
		if v != x.v[0] {
			return
		}
	}
	x.kind, x.u = uniform, x.v[0]
}

// lanesRemembered is evalThread for warp-wide instructions of all threads.
func lanesRemembered(s *strand, c *code, x []*value, f laneFunc, tt taint) bool {
	m := s.m
	if len(x) > 4 {
		return false
	}
	key := memo{ok: true}
	for i := range x {
		key.u[i], key.t[i] = x[i].u, x[i].t
	}
	ms := &m.memo[c.index]
	set := func(e *memo) bool {
		for k, d := range c.dsts {
			if d >= 0 {
				t := e.out
				if k == 1 {
					t = e.t[3]
				}
				s.r[d].setT(0, t, tt)
				if s.r[d].kind == uniform {
					s.r[d].u &= widthMask(m.p.slots[d].bits)
				}
			}
		}
		return true
	}
	if len(c.dsts) == 2 && len(x) > 3 {
		return false
	}
	for i := range ms.entry {
		e := &ms.entry[i]
		same := e.ok && e.u == key.u
		for k := range x {
			same = same && e.t[k] == key.t[k]
		}
		if same {
			return set(e)
		}
	}
	if ms.misses > 2*memoSize {
		return false
	}
	ms.misses++
	var outs [2][]uint64
	for k := range c.dsts {
		outs[k] = make([]uint64, m.threads)
	}
	for w := 0; w < m.warps; w++ {
		if lanes := m.full.warp(w); lanes != 0 {
			f(c, x, w, lanes, func(k, lane int, v uint64) { outs[k][w*32+lane] = v })
		}
	}
	made := func(k int) *offsets {
		bits := uint8(32)
		if d := c.dsts[k]; d >= 0 {
			bits = max(m.p.slots[d].bits, 2)
		}
		return m.offsetsOf(func(i int) int64 { return signExtend(outs[k][i], bits) })
	}
	key.out = made(0)
	if len(c.dsts) == 2 {
		key.t[3] = made(1)
	}
	ms.entry[ms.next%memoSize] = key
	ms.next++
	return set(&ms.entry[(ms.next-1)%memoSize])
}

// pairDest gives the slots of "d|p", -1 for what is not wanted.
func (l *lowerer) pairDest(op operand, bits uint8) ([]int32, error) {
	ops := []operand{op}
	if op.kind == opPair {
		ops = op.sub
	}
	out := []int32{-1, -1}
	for i, o := range ops {
		if o.kind == opSink {
			continue
		}
		b := bits
		if i == 1 {
			b = 1
		}
		d, err := l.dest(o, b)
		if err != nil {
			return nil, err
		}
		out[i] = d
	}
	if len(ops) == 1 {
		out = out[:1]
	}
	return out, nil
}

func lowerShuffle(l *lowerer, in *instr) error {
	if len(in.parts) != 4 || in.parts[1] != "sync" || in.parts[3] != "b32" || len(in.ops) != 5 {
		return l.fail("unknown form")
	}
	mode := in.parts[2]
	var src []int32
	for _, op := range in.ops[1:4] {
		s, err := l.source(op, "b32")
		if err != nil {
			return err
		}
		src = append(src, s)
	}
	if _, err := l.laneSync(in.ops[4]); err != nil {
		return err
	}
	dsts, err := l.pairDest(in.ops[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp(dsts, func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		n := uint64(0)
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			t := w*32 + lane
			j, ok := shuffleSource(mode, uint32(lane), uint32(x[1].at(t, ^n)), uint32(x[2].at(t, ^n)))
			if lanes>>j&1 == 0 { // a lane that is not there: what it gives is undefined
				j = uint32(lane)
			}
			set(0, lane, x[0].at(w*32+int(j), 0xffffffff))
			if len(c.dsts) == 2 {
				set(1, lane, b2u(ok))
			}
		}
	}, src...)
	return nil
}

// shuffleSource gives the lane that a shuffle reads (PTX ISA, shfl.sync).
func shuffleSource(mode string, lane, b, c uint32) (uint32, bool) {
	b &= 31
	seg := c >> 8 & 31
	clamp := c & 31
	top := lane&seg | clamp&^seg
	j, ok := lane, false
	switch mode {
	case "up":
		j = lane - b
		ok = int32(j) >= int32(top)
	case "down":
		j = lane + b
		ok = j <= top
	case "bfly":
		j = lane ^ b
		ok = j <= top
	default:
		j = lane&seg | b&^seg
		ok = j <= top
	}
	if !ok {
		return lane, false
	}
	return j & 31, true
}

func lowerVote(l *lowerer, in *instr) error {
	if len(in.parts) != 4 || in.parts[1] != "sync" || len(in.ops) != 3 {
		return l.fail("unknown form")
	}
	a, err := l.source(in.ops[1], "pred")
	if err != nil {
		return err
	}
	mask, err := l.laneSync(in.ops[2])
	if err != nil {
		return err
	}
	mode := in.parts[2]
	width := uint8(1)
	if mode == "ballot" {
		width = 32
	}
	d, err := l.dest(in.ops[0], width)
	if err != nil {
		return err
	}
	l.lanesOp([]int32{d}, func(_ *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		ballot := uint32(0)
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			ballot |= uint32(x[0].at(w*32+lane, 1)) << lane
		}
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[1].at(w*32+lane, ^uint64(0))) & lanes
			v := ballot & members
			r := uint64(v)
			switch mode {
			case "all":
				r = b2u(v == members)
			case "any":
				r = b2u(v != 0)
			case "uni":
				r = b2u(v == members || v == 0)
			}
			set(0, lane, r)
		}
	}, a, mask)
	return nil
}

func lowerMatch(l *lowerer, in *instr) error {
	if len(in.parts) != 4 || len(in.ops) != 3 {
		return l.fail("unknown form")
	}
	all := in.parts[1] == "all"
	a, err := l.source(in.ops[1], in.parts[3])
	if err != nil {
		return err
	}
	mask, err := l.laneSync(in.ops[2])
	if err != nil {
		return err
	}
	dsts, err := l.pairDest(in.ops[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp(dsts, func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[1].at(w*32+lane, ^uint64(0))) & lanes
			mine := x[0].at(w*32+lane, ^uint64(0))
			same := uint32(0)
			for o := members; o != 0; o &= o - 1 {
				j := bits.TrailingZeros32(o)
				if x[0].at(w*32+j, ^uint64(0)) == mine {
					same |= 1 << j
				}
			}
			ok := same == members
			if all && !ok {
				same = 0
			}
			set(0, lane, uint64(same))
			if len(c.dsts) == 2 {
				set(1, lane, b2u(ok))
			}
		}
	}, a, mask)
	return nil
}

func lowerActiveMask(l *lowerer, in *instr) error {
	if len(in.ops) != 1 {
		return l.fail("1 operand expected")
	}
	d, err := l.dest(in.ops[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp([]int32{d}, func(_ *code, _ []*value, _ int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			set(0, bits.TrailingZeros32(rest), uint64(lanes))
		}
	})
	return nil
}

func lowerRedux(l *lowerer, in *instr) error {
	n := len(in.parts)
	if n < 4 || in.parts[1] != "sync" || len(in.ops) != 3 {
		return l.fail("unknown form")
	}
	how, typ := in.parts[2], in.parts[n-1]
	pick := updater(how, typ)
	if pick == nil || typ == "f32" && n > 4 {
		return l.fail("unknown operation")
	}
	a, err := l.source(in.ops[1], typ)
	if err != nil {
		return err
	}
	mask, err := l.laneSync(in.ops[2])
	if err != nil {
		return err
	}
	d, err := l.dest(in.ops[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp([]int32{d}, func(_ *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[1].at(w*32+lane, ^uint64(0))) & lanes
			r, first := uint64(0), true
			for o := members; o != 0; o &= o - 1 {
				v := x[0].at(w*32+bits.TrailingZeros32(o), 0xffffffff)
				if first {
					r, first = v, false
				} else {
					r = pick(r, v, 0)
				}
			}
			set(0, lane, r)
		}
	}, a, mask)
	return nil
}

// lowerElect chooses the lowest lane of the mask.
func lowerElect(l *lowerer, in *instr) error {
	if len(in.ops) != 2 {
		return l.fail("2 operands expected")
	}
	mask, err := l.laneSync(in.ops[1])
	if err != nil {
		return err
	}
	dsts, err := l.pairDest(in.ops[0], 32)
	if err != nil {
		return err
	}
	l.lanesOp(dsts, func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64)) {
		for rest := lanes; rest != 0; rest &= rest - 1 {
			lane := bits.TrailingZeros32(rest)
			members := uint32(x[0].at(w*32+lane, ^uint64(0))) & lanes
			leader := bits.TrailingZeros32(members)
			set(0, lane, uint64(leader))
			if len(c.dsts) == 2 {
				set(1, lane, b2u(lane == leader))
			}
		}
	}, mask)
	return nil
}
