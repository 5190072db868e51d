package ptx

import (
	"math/bits"
	"slices"
)

// Lanes of a warp meet at warp-wide instructions that name the same lanes, since sm_70 at
// different places of the program too (PTX ISA, "bar.warp.sync": "until all threads
// corresponding to membermask have executed a bar.warp.sync with the same membermask").

// syncOp marks codes that order lanes or threads.
type syncOp struct{ barrier bool }

// runLaneSync orders the lanes named by a member mask. Lanes that are missing
// are waited for, as long as anybody else can still move.
func runLaneSync(s *threadGroup, c *code) {
	mask, b := s.mask, s.b
	if s.guests != nil {
		s.guests = nil
	}
	x := &s.r[c.src[0]]
	if x.taint != 0 {
		s.m.useControl(x.taint, c, "member mask")
	}
	if mask == b.live && x.kind == uniform && uint32(x.u) == ^uint32(0) {
		if !s.uncertain() {
			b.warpSynced(mask)
		}
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
	if missing && s.waitLanes(c) {
		return
	}
	if s.uncertain() {
		return
	}
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

// waitLanes parks the group until others come to the same instruction; it joins one
// that waits there, and meets those that wait elsewhere. It returns false when waiting
// has been given up.
func (s *threadGroup) waitLanes(c *code) bool {
	if s.tired == c {
		s.tired = nil
		return false
	}
	for _, o := range s.b.laneWaiters() {
		if o != s && o.wait == c {
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
	if all := s.meeting(c); all != nil {
		s.b.meet(c, s, all)
		return true
	}
	s.state, s.wait, s.lanes = blocked, c, true
	return true
}

// laneWaiters gives the block's groups that wait for lanes of their warps.
func (b *block) laneWaiters() (out []*threadGroup) {
	for _, list := range [][]*threadGroup{b.cl.groups, b.cl.rest} {
		for _, o := range list {
			if o.b == b && o.state == blocked && o.lanes {
				out = append(out, o)
			}
		}
	}
	return out
}

// memberLanes is lanes of a warp that name the same members.
type memberLanes struct {
	warp    int
	members uint32
}

// meeting gives the group and those that wait at other places for the same lanes by the
// same instruction, where all lanes that they name are among them; nil where some are missing.
func (s *threadGroup) meeting(c *code) []*threadGroup {
	all := []*threadGroup{s}
	for _, o := range s.b.laneWaiters() {
		if o != s && o.wait.in.Name == c.in.Name {
			all = append(all, o)
		}
	}
	for again := len(all) > 1; again; {
		here := s.b.lanesHere(c, s, all)
		again = false
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].lacks(c, s, here) {
				if i == 0 {
					return nil
				}
				all = slices.Delete(all, i, i+1)
				again = true
			}
		}
	}
	if len(all) == 1 {
		return nil
	}
	return all
}

// at gives where a group of a meeting waits: the newcomer, s, at c.
func (o *threadGroup) at(c *code, s *threadGroup) *code {
	if o == s {
		return c
	}
	return o.wait
}

// members calls f for the lanes of each warp of the group that name the same members.
func (o *threadGroup) members(c *code, f func(k memberLanes, lanes uint32)) {
	x := &o.r[c.src[0]]
	for w := range o.m.warps {
		for rest := o.mask.warp(w); rest != 0; {
			k := memberLanes{w, uint32(x.at(w*32+bits.TrailingZeros32(rest), ^uint64(0)))}
			same := uint32(0)
			for r := rest; r != 0; r &= r - 1 {
				if lane := bits.TrailingZeros32(r); uint32(x.at(w*32+lane, ^uint64(0))) == k.members {
					same |= 1 << lane
				}
			}
			f(k, same)
			rest &^= same
		}
	}
}

// lanesHere joins the lanes of groups by whom they name.
func (b *block) lanesHere(c *code, s *threadGroup, all []*threadGroup) map[memberLanes]uint32 {
	out := map[memberLanes]uint32{}
	for _, o := range all {
		o.members(o.at(c, s), func(k memberLanes, lanes uint32) { out[k] |= lanes })
	}
	return out
}

// lacks says that lanes which the group names are not here.
func (o *threadGroup) lacks(c *code, s *threadGroup, here map[memberLanes]uint32) bool {
	missing := false
	o.members(o.at(c, s), func(k memberLanes, _ uint32) {
		missing = missing || k.members&o.b.live.warp(k.warp)&^here[k] != 0
	})
	return missing
}

// meet orders the lanes of groups that meet, hands each what the others' registers hold,
// and lets them go on.
func (b *block) meet(c *code, s *threadGroup, all []*threadGroup) {
	if !slices.ContainsFunc(all, (*threadGroup).uncertain) {
		for k, lanes := range b.lanesHere(c, s, all) {
			b.lanesSynced(k.warp, lanes&k.members)
		}
	}
	b.introduce(c, s, all)
	for _, o := range all {
		o.state, o.lanes, o.wait = running, false, nil
	}
	b.cl.version++
}

// guests is what lanes that stand elsewhere give to a warp-wide instruction.
type guests struct {
	orig  int32
	mask  *threadSet // all lanes that meet
	value []value    // of the instruction's sources; nil where they are not known
	taint taint
}

// introduce notes what the registers of groups that meet hold for each other.
func (b *block) introduce(c *code, s *threadGroup, all []*threadGroup) {
	m := b.m
	mask, sources := newSet(m.threads), -1
	var ops []*code
	for _, o := range all {
		mask = mask.union(o.mask, m.threads)
		list := m.p.blocks[o.bb].sliced
		if o.pc >= len(list) || !list[o.pc].lanes || list[o.pc].orig != o.at(c, s).orig || list[o.pc].guard >= 0 {
			sources = -2
			continue
		}
		if sources == -1 {
			sources = len(list[o.pc].src)
		}
		ops = append(ops, list[o.pc])
	}
	for _, o := range all {
		o.guests = &guests{orig: o.at(c, s).orig, mask: mask}
	}
	if sources < 0 {
		return
	}
	vals, tt := make([]value, sources), taint(0)
	for k := range vals {
		v := vals[k].vec(m.threads)
		clear(v)
		for i, o := range all {
			slot := ops[i].src[k]
			for _, t := range o.mask.list {
				v[t] = o.r[slot].at(int(t), widthMask(m.p.slots[slot].bits))
			}
			tt |= o.r[slot].taint
		}
		vals[k].kind = vector
	}
	for _, o := range all {
		o.guests.value, o.guests.taint = vals, tt
	}
}

// run gives a group's registers what the instruction gives with all lanes that met.
func (g *guests) run(s *threadGroup, c *code, f laneFunc) {
	m := s.m
	s.guests = nil
	if g.value == nil || c.guard >= 0 {
		for _, d := range c.dsts {
			if d >= 0 {
				s.r[d].setU(0, s.r[d].taint|taintOpaque)
			}
		}
		return
	}
	x := make([]*value, len(g.value))
	for k := range x {
		x[k] = &g.value[k]
	}
	var outs [2][]uint64
	for k := range c.dsts {
		outs[k] = m.lane[k][:m.threads]
	}
	for w := range m.warps {
		if lanes := g.mask.warp(w); lanes != 0 && s.mask.warp(w) != 0 {
			f(c, x, w, lanes, func(k, lane int, v uint64) { outs[k][w*32+lane] = v })
		}
	}
	for k, d := range c.dsts {
		if d >= 0 {
			r := &s.r[d]
			copy(r.vec(m.threads), outs[k])
			r.kind, r.t, r.taint = vector, nil, g.taint
		}
	}
}

// mergeAll merges in the middle of a basic block: every register counts.
func (s *threadGroup) mergeAll(a *threadGroup) {
	b := s.m.p.blocks[s.bb]
	live := b.live
	b.live = nil
	s.mergeInto(a)
	b.live = live
}
