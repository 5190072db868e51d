package ptx

// slicing says what of a program runs in a launch.
type slicing struct {
	hoisted    []*code
	perBlock   []constant // special registers that change with the block
	keepShared bool
	keepGlobal bool
	full       bool
	bases      func(c *code) taint // buffers that a memory code may access
	control    []bool              // slots that addresses, guards and branches depend on
}

// slice marks the codes that are needed. In Sliced mode these are the ones with
// effects, and what their addresses, guards and operands are computed from. A
// needed value that is loaded from memory needs, in turn, what is stored there.
func (p *program) slice(full bool, bases func(c *code) taint) *slicing {
	sl := &slicing{full: full, bases: bases}
	if full { // what branches are idle is the same, whatever else is computed; all of them are taken, and may go round
		p.slice(false, bases)
		sl.control = p.controlOfAll(bases)
	}
	defs := make([][]*code, len(p.slots))
	for _, c := range p.codes {
		c.defs(func(s int32) { defs[s] = append(defs[s], c) })
	}
	if full {
		p.begin(sl, nil)
	} else {
		for idle := p.idleCandidates(); ; {
			skipped := p.setIdle(idle)
			p.begin(sl, skipped)
			p.mark(sl, defs, bases, skipped)
			if !p.dropBusy(idle) {
				break
			}
		}
	}
	p.keeping(sl)
	p.hoisting(sl, defs)
	p.schedule(sl)
	return sl
}

// controlOfAll gives the slots that addresses, guards and branches depend on where no
// branch is idle, and sets each code's decides.
func (p *program) controlOfAll(bases func(c *code) taint) []bool {
	sl := &slicing{}
	defs := make([][]*code, len(p.slots))
	for _, c := range p.codes {
		c.defs(func(s int32) { defs[s] = append(defs[s], c) })
	}
	none := make([]bool, len(p.codes))
	p.begin(sl, none)
	p.mark(sl, defs, bases, none)
	p.keeping(sl)
	return sl.control
}

// keeping says which stores are kept, and what decides.
func (p *program) keeping(sl *slicing) {
	for _, c := range p.codes {
		if c.mem != nil && (c.mem.write || c.mem.atomic) && c.bulk == nil {
			switch c.mem.space {
			case spaceShared, spaceCluster, spaceLocal:
				c.mem.keep = c.mem.keep || sl.keepShared
			case spaceGeneric:
				c.mem.keep = c.mem.keep || sl.keepShared
			}
		}
		if c.bulk != nil {
			c.bulk.keep = c.bulk.keep || sl.keepShared && c.bulk.toShared
		}
		if !sl.full {
			c.decides = c.mem != nil && (c.mem.want || c.mem.keep) || c.bulk != nil && c.bulk.keep
		}
	}
}

// begin says what is needed whatever is computed: all of it, or what has an effect.
func (p *program) begin(sl *slicing, skipped []bool) {
	for i, c := range p.codes {
		c.needed = sl.full || c.effect && !skipped[i]
		if c.mem != nil {
			c.mem.want, c.mem.keep = sl.full, sl.full
		}
		if c.bulk != nil {
			c.bulk.keep = sl.full || p.hasMaps
		}
	}
	sl.keepShared, sl.keepGlobal = sl.full || p.hasMaps, sl.full
}

// mark follows needs backwards.
func (p *program) mark(sl *slicing, defs [][]*code, bases func(c *code) taint, skipped []bool) {
	needed := make([]bool, len(p.slots))
	sl.control = needed
	var work []int32
	need := func(s int32) {
		if !needed[s] {
			needed[s] = true
			work = append(work, s)
		}
	}
	whole := func(c *code) {
		for _, s := range c.src {
			need(s)
		}
	}
	for i, c := range p.codes {
		if c.effect && !skipped[i] {
			if c.guard >= 0 {
				need(c.guard)
			}
			for _, s := range c.needs {
				need(s)
			}
			if sl.keepShared && c.mem != nil && c.mem.write && c.mem.space != spaceGlobal {
				whole(c)
			}
		}
	}
	loaded := taint(0) // buffers that needed values are loaded from
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		for _, c := range defs[s] {
			if !c.needed {
				c.needed = true
				whole(c)
			}
			if c.guard >= 0 {
				need(c.guard)
			}
			for _, s := range c.wants {
				need(s)
			}
			if c.mem == nil || c.mem.want || c.bulk != nil || c.mem.what == "mbarrier" {
				continue
			}
			c.mem.want = true
			if c.mem.atomic {
				c.mem.keep = true
				whole(c)
			}
			before, beforeShared := loaded, sl.keepShared
			switch c.mem.space {
			case spaceGlobal:
				loaded |= bases(c)
			case spaceGeneric:
				loaded |= bases(c)
				sl.keepShared = true
			case spaceParam: // nothing is stored there
			default:
				sl.keepShared = true
			}
			if loaded != before || sl.keepShared != beforeShared {
				p.keepStores(sl, loaded, bases, whole)
			}
		}
	}
}

// keepStores keeps the values of stores that needed loads may read.
func (p *program) keepStores(sl *slicing, loaded taint, bases func(c *code) taint, whole func(c *code)) {
	for _, c := range p.codes {
		if c.bulk != nil {
			if loaded != 0 && !c.bulk.toShared {
				c.bulk.keep, sl.keepGlobal = true, true
			}
			continue
		}
		if c.mem == nil || !c.mem.write && !c.mem.atomic || c.mem.keep {
			continue
		}
		global := c.mem.space == spaceGlobal || c.mem.space == spaceGeneric
		if global && bases(c)&loaded != 0 {
			c.mem.keep, sl.keepGlobal = true, true
			whole(c)
		} else if c.mem.space != spaceGlobal && sl.keepShared {
			c.mem.keep = true
			whole(c)
		}
	}
}

// hoisting finds what depends on constants and the thread's number alone, and
// is defined once: it runs once per worker.
func (p *program) hoisting(sl *slicing, defs [][]*code) {
	fixed := make([]bool, len(p.slots))
	for _, k := range p.consts {
		if k.special == "" || !changesWithBlock(k.special) {
			fixed[k.slot] = true
		} else {
			sl.perBlock = append(sl.perBlock, k)
		}
	}
	for _, c := range p.codes {
		c.hoisted = false
	}
	for changed := true; changed; {
		changed = false
		for _, c := range p.codes {
			if c.fn == nil || c.hoisted || c.guard >= 0 || !c.needed || len(defs[c.dst]) != 1 || fixed[c.dst] {
				continue
			}
			ok := true
			for _, s := range c.src {
				ok = ok && fixed[s]
			}
			if ok {
				c.hoisted, fixed[c.dst], changed = true, true, true
				sl.hoisted = append(sl.hoisted, c)
			}
		}
	}
}

// schedule lists what runs in each basic block.
func (p *program) schedule(sl *slicing) {
	for _, b := range p.blocks {
		b.sliced = nil
		last := (*code)(nil)
		for _, c := range p.codes[b.start:b.end] {
			if !c.needed || c.hoisted || c.term != termNone || c.isNothing {
				continue
			}
			// Of synchronizations of the same lanes with nothing between, one is enough.
			if c.sync != nil && !c.sync.barrier && last != nil && last.sync != nil && !last.sync.barrier &&
				c.in.Words[0] != "bar" && c.guard < 0 && last.guard < 0 && len(c.src) == 1 && c.src[0] == last.src[0] && !sl.full {
				continue
			}
			b.sliced = append(b.sliced, c)
			last = c
		}
	}
}

// reachable finds the loads whose values reach a store, an atomic, an address
// or a branch: by registers, and through memory of the block as a whole.
func (p *program) reachable() map[int32]bool {
	needed := make([]bool, len(p.slots))
	defs := make([][]*code, len(p.slots))
	var work []int32
	need := func(s int32) {
		if !needed[s] {
			needed[s] = true
			work = append(work, s)
		}
	}
	for _, c := range p.codes {
		c.defs(func(s int32) { defs[s] = append(defs[s], c) })
		if c.effect {
			for _, s := range c.src {
				need(s)
			}
			if c.guard >= 0 {
				need(c.guard)
			}
		}
	}
	out := map[int32]bool{}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		for _, c := range defs[s] {
			if c.mem != nil {
				out[c.orig] = true
			}
			for _, s := range c.src {
				need(s)
			}
			if c.guard >= 0 {
				need(c.guard)
			}
		}
	}
	for _, c := range p.codes {
		if c.bulk != nil || c.mem != nil && (c.mem.what == "cp.async" || c.mem.atomic) {
			out[c.orig] = true
		}
	}
	return out
}

// outOfBuffers stands, among buffers, for a block's shared and a thread's local memory.
const outOfBuffers = taintOrder

// provenance gives, for the address of a memory code, the buffers of the
// parameters that it may be computed from; all of them where that is not known.
func (p *program) provenance(l *Launch) func(c *code) taint {
	from := make([]taint, len(p.slots))
	all := taintBits
	for _, k := range p.consts {
		if s := spaceOf(k.value); k.param < 0 && k.special == "" && (s == spaceCluster || s == spaceLocal) {
			from[k.slot] = outOfBuffers
		}
		if k.param < 0 || k.param >= len(l.Args) {
			continue
		}
		if a := &l.Args[k.param]; a.Buffer >= 0 {
			from[k.slot] = bufferTaint(a.Buffer)
		}
		for _, h := range l.Args[k.param].Tensors {
			from[k.slot] |= bufferTaint(h.Buffer)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, c := range p.codes {
			t := taint(0)
			if c.mem != nil {
				if c.mem.bits >= 64 || c.mem.space != spaceGlobal {
					t = all // a pointer may come from memory
				}
			} else {
				for _, s := range c.src {
					t |= from[s]
				}
			}
			c.defs(func(s int32) {
				if t&^from[s] != 0 {
					from[s] |= t
					changed = true
				}
			})
		}
	}
	return func(c *code) taint {
		if t := from[c.src[0]]; t != 0 {
			return t
		}
		return all
	}
}
