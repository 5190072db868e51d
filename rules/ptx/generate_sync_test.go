package ptx

// barrier makes one of the block's or the cluster's synchronizations.
func (g *generator) barrier(sc gScope) []gStmt {
	k := g.k
	all := sc.lo == 0 && sc.hi == (k.threads()+31)/32
	full := k.threads()%32 == 0
	if !sc.whole || !all && !full {
		return g.warp(sc)
	}
	switch r := g.IntN(10); {
	case r == 0 && all && sc.ctas && k.ranks() > 1:
		return []gStmt{{kind: gCluster, form: g.IntN(2)}}
	case r <= 2 && full && sc.repeats == 0 && sc.hi-sc.lo > 1 && k.nextBar < 15:
		k.nextBar++
		return []gStmt{{kind: gSplit, id: k.nextBar - 1, lo: sc.lo, hi: sc.hi, mid: sc.lo + 1 + g.IntN(sc.hi-sc.lo-1), form: g.IntN(2)}}
	case r == 3 && full && (sc.hi-sc.lo)%2 == 0 && k.nextBar+(sc.hi-sc.lo)/2 < 16:
		k.nextBar += (sc.hi - sc.lo) / 2
		return []gStmt{{kind: gPairs, id: k.nextBar - (sc.hi-sc.lo)/2, lo: sc.lo, hi: sc.hi}}
	case r <= 4 && len(k.mbars) < gMaxMbars:
		return g.mbarrier(sc)
	}
	s := gStmt{kind: gBarrier, lo: sc.lo, hi: sc.hi, form: g.IntN(5)}
	if !all || g.IntN(4) == 0 {
		if k.nextBar > 15 {
			return g.warp(sc)
		}
		s.id = k.nextBar
		k.nextBar++
	}
	return []gStmt{s}
}

// mbarrier makes an arrive and, for all or some, a wait later on.
func (g *generator) mbarrier(sc gScope) []gStmt {
	k := g.k
	id := len(k.mbars)
	n := 0
	for t := sc.lo * 32; t < min(sc.hi*32, k.threads()); t++ {
		n++
	}
	k.mbars = append(k.mbars, n)
	out := []gStmt{{kind: gArrive, id: id, form: g.IntN(2)}}
	between := sc
	between.depth = 3
	if g.IntN(2) == 0 {
		out = append(out, g.access(between)...)
	}
	wait := gStmt{kind: gWait, id: id, form: g.IntN(3)}
	if sc.repeats > 0 {
		wait.form %= 2 // by token: the parity changes
	}
	if sc.repeats == 0 && g.IntN(3) == 0 {
		c := g.cond(gScope{lo: sc.lo, hi: sc.hi})
		return append(out, gStmt{kind: gBranch, cond: c, body: []gStmt{wait}})
	}
	return append(out, wait)
}

// warp makes a synchronization of lanes.
func (g *generator) warp(sc gScope) []gStmt {
	if sc.lanes == 0 {
		return g.access(sc)
	}
	s := gStmt{kind: gWarp, lanes: sc.lanes, group: 32, form: g.IntN(7), mid: 1 + g.IntN(31)}
	if g.IntN(3) == 0 {
		s.group = 1 << (1 + g.IntN(4))
	}
	if sc.lanes != ^uint32(0) && (s.form == 1 || s.form == 6) { // a shuffle needs its source lane
		s.form = 0
	}
	s.n = 1 << g.IntN(5) % s.group
	return []gStmt{s}
}

// wait makes a wait for a flag, or a question who came last, in one kernel of four.
func (g *generator) wait(sc gScope) []gStmt {
	k := g.k
	if sc.depth > 0 || sc.repeats > 0 || k.flags == gMaxFlags || !k.waits && k.flags > 0 {
		return g.access(sc)
	}
	if k.flags == 0 && g.IntN(4) != 0 {
		k.flags = gMaxFlags
		return g.access(sc)
	}
	k.waits = true
	k.flags++
	s := gStmt{kind: gFlag, id: k.flags - 1, form: g.IntN(3)}
	if g.IntN(2) == 0 {
		s.kind = gTicket
		for range 1 + g.IntN(2) {
			s.body = append(s.body, g.access(gScope{lo: sc.lo, hi: sc.hi, depth: 3})...)
		}
	}
	return []gStmt{s}
}

// gMaxFlags bounds a kernel's flags and tickets.
const gMaxFlags = 8

// copy makes an asynchronous copy, commits it and, most of the time, waits for it.
func (g *generator) copy(sc gScope) []gStmt {
	cost := g.k.threads() * g.k.blocks() * max(sc.repeats, 1)
	if g.work < cost {
		return nil
	}
	g.work -= cost
	s := gStmt{kind: gCopy, buf: 1 + g.IntN(g.k.out-1), size: 4 << g.IntN(3), vec: 1}
	s.place(g, sc, len(g.k.bufs[s.buf].contents))
	s.dst.index = gIndex{tid: 1, mask: uint32(gSharedSize/s.size - 1)}
	if g.IntN(4) == 0 {
		c := g.cond(sc)
		s.guard = &c
		s.form = g.IntN(2) // a false guard skips, or copies zeros
	}
	out := []gStmt{s, {kind: gCommit}}
	if g.IntN(2) == 0 {
		out = append(out, g.access(sc)...)
	}
	if g.IntN(4) != 0 {
		out = append(out, gStmt{kind: gWaitGroup, n: g.IntN(2)})
	}
	return out
}
