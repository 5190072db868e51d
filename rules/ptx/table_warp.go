package ptx

import (
	"aliascheck/rules/ptx/syntax"
)

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
func (l *lowerer) laneSync(mask syntax.Operand) (int32, error) {
	s, err := l.source(mask, "b32")
	if err != nil {
		return 0, err
	}
	l.unguarded(&code{run: runLaneSync, src: []int32{s}, needs: []int32{s}, effect: true, sync: &syncOp{}})
	return s, nil
}

// laneSources reads the sources of a warp-wide instruction.
type laneFunc func(c *code, x []*value, w int, lanes uint32, set func(k, lane int, v uint64))

// lanesOp emits the values of a warp-wide instruction.
func (l *lowerer) lanesOp(dsts []int32, f laneFunc, src ...int32) {
	l.guarded(&code{run: func(s *threadGroup, c *code) { runLanes(s, c, f) }, dsts: dsts, src: src, lanes: true})
}

func runLanes(s *threadGroup, c *code, f laneFunc) {
	mask := s.guarded(c)
	if mask == nil {
		s.keepOld(c)
		return
	}
	m := s.m
	if s.guests != nil && s.guests.orig == c.orig {
		s.guests.run(s, c, f)
		return
	}
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
func (x *value) settle(mask *threadSet, n int) {
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
func lanesRemembered(s *threadGroup, c *code, x []*value, f laneFunc, tt taint) bool {
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
func (l *lowerer) pairDest(op syntax.Operand, bits uint8) ([]int32, error) {
	ops := []syntax.Operand{op}
	if op.Kind == syntax.KindPair {
		ops = op.Sub
	}
	out := []int32{-1, -1}
	for i, o := range ops {
		if o.Kind == syntax.KindSink {
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
