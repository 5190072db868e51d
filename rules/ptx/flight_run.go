package ptx

import "aliascheck/rules/ptx/syntax"

// runGroup executes the commit and wait instructions of bulk copies and of wgmma. imm is
// how many groups may go on.
func runGroup(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	kind := bulkGroups
	if c.flags&groupMatrix != 0 {
		kind = matrixGroups
	}
	k := &s.b.flights
	if len(k.list) == 0 {
		return // groups of nothing count for nobody
	}
	each := func(t int32) {
		if c.flags&groupWait == 0 {
			k.commit(s.m, kind, t)
		} else {
			k.wait(s.b, kind, t, c.imm)
		}
	}
	if kind == matrixGroups {
		mask.warpgroups(func(t int32) { each(t &^ (warpgroup - 1)) })
		return
	}
	for _, t := range mask.list {
		each(t)
	}
}

const (
	groupWait   = 1 << 0
	groupMatrix = 1 << 1
)

// groups lowers an instruction that commits a group, or waits for all but N.
func (l *lowerer) groups(in *syntax.Instruction, wait bool, flags uint8) error {
	c := &code{run: runGroup, effect: true, flags: flags}
	if wait {
		if len(in.Operands) != 1 || in.Operands[0].Kind != syntax.KindConstant {
			return l.fail("a constant expected")
		}
		c.flags, c.imm = c.flags|groupWait, in.Operands[0].Bits
	}
	l.guarded(c)
	return nil
}

// takeOff makes a bulk copy outstanding, n bytes at a place in a block's shared memory.
func (x *bulk) takeOff(b *block, at, n int64, write bool) {
	f := flight{code: x.c.index, lo: at, hi: at + n, write: write, rank: x.s.b.rank, thread: x.thread, n: 1}
	if write {
		a := uint32(x.address(x.op.mbar))
		own, off := x.s.b.sharedBlock(a)
		k := mbarKey{b.rank, off}
		if !x.op.multicast {
			k = mbarKey{own.rank, off}
		}
		mb := b.cl.mbars[k]
		if mb == nil {
			return
		}
		f.async, f.phase = uint16(mb.id+1), mb.phase
	} else {
		f.group = x.s.b.flights.group(bulkGroups, x.thread)
	}
	b.flights.add(x.s.m, b, &f)
}

// outstanding holds an access of a bulk copy against what is outstanding before it.
func (x *bulk) outstanding(b *block, at, n int64, write bool) {
	if len(b.flights.list) > 0 {
		t := touch{s: x.s, c: x.c, space: spaceShared}
		b.flights.use(&t, b, int(x.thread), at, n, write)
	}
}

// early holds an access to shared memory against what is outstanding there.
func (t *touch) early(write bool) {
	m, own, size := t.s.m, t.s.b, t.c.mem.size
	if t.addr.kind != vector && uint32(t.u)>>clusterShift == 0 {
		sh := m.shapeFor(t.c, t.addr.t, t.mask, size)
		lo := int64(uint32(t.u)) + sh.lo - sharedBase
		if !own.flights.near(own, t.mask, lo, lo+sh.span, write) {
			return
		}
	}
	for _, i := range t.mask.list {
		if b, off := own.sharedBlock(uint32(t.at(i))); b != nil && len(b.flights.list) > 0 {
			b.flights.use(t, b, int(i), off, size, write)
		}
	}
}

// readMatrix holds a wgmma's read of a matrix against what is outstanding, and makes it
// outstanding. What the descriptor does not place for certain is not told.
func (k *flights) readMatrix(t *touch, b *block, thread int32, x matrixLayout) {
	lo, hi := x.span()
	lo, hi = lo-sharedBase, hi-sharedBase
	for i := range k.list {
		f := &k.list[i]
		if !f.write || f.lo >= hi || lo >= f.hi || f.over(b, int(thread)) {
			continue
		}
		n, first := int64(0), int64(0)
		x.parts(func(a int64) {
			if at := max(a-sharedBase, f.lo); at < min(a-sharedBase+16, f.hi) {
				if n == 0 {
					first = at
				}
				n += min(a-sharedBase+16, f.hi) - at
			}
		})
		if n > 0 {
			b.m.tooEarly(f, t, b, int(thread), first, n, false)
		}
	}
	thread &^= warpgroup - 1
	k.add(b.m, b, &flight{code: t.c.index, lo: lo, hi: hi, parts: x, matrix: true, rank: b.rank, thread: thread, n: min(warpgroup, int32(b.m.threads)-thread),
		group: k.group(matrixGroups, thread)})
}
