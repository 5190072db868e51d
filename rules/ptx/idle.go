package ptx

// An idle branch only chooses between ways to compute: no code on either side has an
// effect, the sides meet again, and nothing that decides an address, a guard or another
// branch is computed there. libdevice's logarithms, sines and powers branch like that.
// Where what it asks for may come from memory, or is not computed, the launch does as
// well without it: the threads go to where the sides meet, and what the sides compute is
// unknown.
type idleRegion struct {
	blocks []int32 // from the branch to where the sides meet; of a loop, with the branch
	defs   []int32 // slots that are written there
}

// maxRegions bounds the blocks of all regions together: nested branches make it quadratic.
const maxRegions = 1 << 20

// idleCandidates finds the branches that may be idle, by block. Which are is known once
// it is known what is needed.
func (p *program) idleCandidates() map[int32]*idleRegion {
	varies, own := p.varying(), p.ownMemory()
	out := map[int32]*idleRegion{}
	visits := 0
	for i, b := range p.blocks {
		c := b.last
		if c.term != termBranch && c.term != termIndex || b.join < 0 || !b.ends {
			continue
		}
		decides := c.guard
		if c.term == termIndex {
			decides = c.src[0]
		}
		if !varies[decides] {
			continue
		}
		blocks := p.region(int32(i))
		if visits += len(blocks); visits > maxRegions {
			return nil
		}
		if defs, ok := p.effectFree(blocks, own); ok {
			out[int32(i)] = &idleRegion{blocks, defs}
		}
	}
	return out
}

// region lists the blocks between a branch and where its sides meet, which stands for
// the end where that is none.
func (p *program) region(b int32) []int32 {
	join := p.blocks[b].join
	seen := map[int32]bool{}
	var out []int32
	work := append([]int32(nil), p.blocks[b].to...)
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		if k == join || seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, k)
		work = append(work, p.blocks[k].to...)
	}
	return out
}

// effectFree says that nothing in some blocks is noticed outside of the thread but by
// its registers, of which it lists those written, and its local memory.
func (p *program) effectFree(blocks []int32, own func(c *code) bool) (defs []int32, ok bool) {
	seen := map[int32]bool{}
	for _, k := range blocks {
		b := p.blocks[k]
		if len(b.to) == 0 || !b.ends {
			return nil, false
		}
		for _, c := range p.codes[b.start:b.end] {
			if c.effect && c.term == termNone && !c.isNothing && !own(c) {
				return nil, false
			}
			c.defs(func(s int32) {
				if !seen[s] {
					seen[s] = true
					defs = append(defs, s)
				}
			})
		}
	}
	return defs, true
}

// varying finds the slots whose value may come from memory, or is not computed.
func (p *program) varying() []bool {
	out := make([]bool, len(p.slots))
	for _, k := range p.consts {
		switch k.special {
		case "smid", "nsmid", "clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi":
			out[k.slot] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for _, c := range p.codes {
			from := c.mem != nil || c.bulk != nil || c.opaque
			for _, s := range c.src {
				from = from || out[s]
			}
			if from = from || c.guard >= 0 && out[c.guard]; from {
				c.defs(func(s int32) {
					changed = changed || !out[s]
					out[s] = true
				})
			}
		}
	}
	return out
}

// ownMemory tells the loads and stores of a thread's local memory, and loads of the
// module's variables: by their state space, or by what their addresses are made of.
func (p *program) ownMemory() func(c *code) bool {
	const local, module, other = 1, 2, 4
	from := make([]uint8, len(p.slots))
	for _, k := range p.consts {
		switch {
		case k.param >= 0 && p.entry.Params[k.param].Size >= 8:
			from[k.slot] = other
		case k.param >= 0 || k.special != "" || int64(k.value) < 0:
		case k.value >= moduleBase && k.value < moduleBase+uint64(1)<<36:
			from[k.slot] = module
		case spaceOf(k.value) == spaceLocal:
			from[k.slot] = local
		case k.value >= moduleBase:
			from[k.slot] = other
		}
	}
	for changed := true; changed; {
		changed = false
		for _, c := range p.codes {
			is := uint8(0)
			if c.mem != nil {
				if c.mem.bits >= 64 { // narrower ones are no addresses
					is = other
				}
			} else {
				for _, s := range c.src {
					is |= from[s]
				}
			}
			c.defs(func(s int32) {
				changed = changed || from[s]|is != from[s]
				from[s] |= is
			})
		}
	}
	return func(c *code) bool {
		if c.mem == nil || c.bulk != nil || c.mem.atomic || c.mem.what != "ld" && c.mem.what != "ldu" && c.mem.what != "st" {
			return false
		}
		is := from[c.src[0]]
		switch c.mem.space {
		case spaceLocal:
			return true
		case spaceGeneric:
			return is == local || is == module && !c.mem.write
		case spaceGlobal:
			return is == module && !c.mem.write
		}
		return false
	}
}

// setIdle notes the idle branches, and gives the codes that do not run for their sake.
func (p *program) setIdle(idle map[int32]*idleRegion) (skipped []bool) {
	skipped = make([]bool, len(p.codes))
	for i, b := range p.blocks {
		if b.idle = idle[int32(i)]; b.idle == nil {
			continue
		}
		skipped[b.last.index] = true
		for _, k := range b.idle.blocks {
			for _, c := range p.codes[p.blocks[k].start:p.blocks[k].end] {
				skipped[c.index] = true
			}
		}
	}
	return skipped
}

// dropBusy takes out the regions in which something is needed; it says whether there were any.
func (p *program) dropBusy(idle map[int32]*idleRegion) bool {
	found := false
	for i, r := range idle {
		if p.busy(r) {
			delete(idle, i)
			found = true
		}
	}
	return found
}

func (p *program) busy(r *idleRegion) bool {
	for _, k := range r.blocks {
		for _, c := range p.codes[p.blocks[k].start:p.blocks[k].end] {
			if c.needed || c.mem != nil && c.mem.keep {
				return true
			}
		}
	}
	return false
}

// skips says that a group goes around an idle branch that asks for a value of this
// taint. In a full run it does where the value is not computed; where it comes from
// memory, what is computed on the way is found to depend on it where the sides meet.
func (s *threadGroup) skips(b *basicBlock, t taint) bool {
	switch {
	case !s.m.slice.full:
		return true
	case t == 0:
		return false
	case t&taintOpaque != 0:
		s.depends(b.idle, t)
		return true
	}
	if s.top == nil || s.top.bb != b.join {
		s.top = &reconvergence{bb: b.join, parent: s.top, pending: 1}
	}
	s.top.owe(b.idle, t)
	return false
}

// owed is a taint that what a region computes is to have where its sides meet.
type owed struct {
	region *idleRegion
	taint  taint
}

func (j *reconvergence) owe(r *idleRegion, t taint) {
	for i := range j.owed {
		if j.owed[i].region == r {
			j.owed[i].taint |= t
			return
		}
	}
	j.owed = append(j.owed, owed{r, t})
}

// pay gives the group the taints that are owed at a place.
func (s *threadGroup) pay(j *reconvergence) {
	for _, o := range j.owed {
		s.depends(o.region, o.taint)
	}
}

// depends adds a taint to all that a region may have written.
func (s *threadGroup) depends(r *idleRegion, t taint) {
	for _, d := range r.defs {
		s.r[d].taint |= t
	}
	if b, m := s.b, s.m; m.p.frame > 0 && b.openLocal() {
		for _, i := range s.mask.list {
			tags := b.ltags[int64(i)*m.p.frame : (int64(i)+1)*m.p.frame]
			for k, g := range tags {
				tags[k] = m.tags.of(m.tags.taints[g] | t)
			}
		}
	}
}
