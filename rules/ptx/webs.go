package ptx

import (
	"math/bits"
	"slices"
)

// A web is definitions of a register that some use may not tell apart, with those uses.
// Where a register has several webs, as hand-written code has it, they are separate
// values that share a name: each becomes a slot of its own, so that what is needed of
// one is not thought to be needed of the others (Muchnick, "Advanced Compiler Design",
// 16.3.2).
type webs struct {
	p     *program
	first []int32 // by slot: number of its first definition, which is that of the start; -1 where it has one at most
	last  []int32 // and of its last
	codes []int32 // by definition: code, -1 for the start
	slot  []int32
	union []int32 // by definition: another of its web
	in    [][]uint64
}

// maxDefinitions bounds those of a slot that is looked at.
const maxDefinitions = 1 << 12

func (p *program) splitWebs() {
	w := &webs{p: p, first: make([]int32, len(p.slots)), last: make([]int32, len(p.slots))}
	if !w.number() || len(p.blocks)*len(w.codes) > maxLiveBits {
		return
	}
	w.reach()
	uses := w.unite()
	w.rename(uses)
}

// number gives definitions their numbers, slot by slot; false where no slot has several.
func (w *webs) number() bool {
	byCode := make([][]int32, len(w.p.slots))
	for _, c := range w.p.codes {
		c.defs(func(s int32) { byCode[s] = append(byCode[s], c.index) })
	}
	for s, list := range byCode {
		if w.first[s] = -1; len(list) > 1 && len(list) < maxDefinitions {
			w.first[s] = int32(len(w.codes))
			for _, k := range append([]int32{-1}, list...) {
				w.codes, w.slot = append(w.codes, k), append(w.slot, int32(s))
			}
			w.last[s] = int32(len(w.codes)) - 1
		}
	}
	w.union = make([]int32, len(w.codes))
	for i := range w.union {
		w.union[i] = int32(i)
	}
	return len(w.codes) > 0
}

// definition gives the number of a code's definition of a slot.
func (w *webs) definition(c *code, slot int32) int32 {
	k, _ := slices.BinarySearch(w.codes[w.first[slot]:w.last[slot]+1], c.index)
	return w.first[slot] + int32(k)
}

// words calls f with the words of a set that a slot's definitions have, and their bits.
func (w *webs) words(slot int32, f func(word int32, bits uint64)) {
	from, to := w.first[slot], w.last[slot]
	for k := from >> 6; k <= to>>6; k++ {
		m := ^uint64(0)
		if k == from>>6 {
			m <<= from & 63
		}
		if k == to>>6 {
			m &= ^uint64(0) >> (63 - to&63)
		}
		f(k, m)
	}
}

// keeps says that a code leaves a register some of its old value.
func (c *code) keeps() bool { return c.guard >= 0 || c.mem != nil && c.mem.partial }

// define makes a code's definitions the ones that reach what follows.
func (w *webs) define(set []uint64, c *code) {
	c.defs(func(s int32) {
		if w.first[s] < 0 {
			return
		}
		if !c.keeps() {
			w.words(s, func(k int32, m uint64) { set[k] &^= m })
		}
		d := w.definition(c, s)
		set[d>>6] |= 1 << (d & 63)
	})
}

// reach finds which definitions reach the start of each block.
func (w *webs) reach() {
	p, words := w.p, (len(w.codes)+63)/64
	store := make([]uint64, (len(p.blocks)+1)*words)
	w.in = make([][]uint64, len(p.blocks))
	for i := range w.in {
		w.in[i], store = store[:words], store[words:]
	}
	for d, k := range w.codes {
		if k < 0 {
			w.in[0][d>>6] |= 1 << (d & 63)
		}
	}
	out := store
	for changed := true; changed; {
		changed = false
		for i, b := range p.blocks {
			copy(out, w.in[i])
			for _, c := range p.codes[b.start:b.end] {
				w.define(out, c)
			}
			for _, t := range b.to {
				for k, x := range out {
					if x&^w.in[t][k] != 0 {
						w.in[t][k] |= x
						changed = true
					}
				}
			}
		}
	}
}

func (w *webs) find(d int32) int32 {
	for w.union[d] != d {
		w.union[d] = w.union[w.union[d]]
		d = w.union[d]
	}
	return d
}

// use is a slot that a code reads, or writes in part.
type use struct{ code, slot int32 }

// unite puts the definitions that reach a use into one web, and gives one of them.
func (w *webs) unite() map[use]int32 {
	p, uses := w.p, make(map[use]int32, 2*len(w.codes))
	now := make([]uint64, (len(w.codes)+63)/64)
	for i, b := range p.blocks {
		copy(now, w.in[i])
		for _, c := range p.codes[b.start:b.end] {
			c.uses(func(s int32) {
				if w.first[s] < 0 {
					return
				}
				one := int32(-1)
				w.words(s, func(k int32, m uint64) {
					for m &= now[k]; m != 0; m &= m - 1 {
						d := k<<6 + int32(bits.TrailingZeros64(m))
						if one < 0 {
							one = d
						}
						w.union[w.find(d)] = w.find(one)
					}
				})
				if one < 0 { // in code that nothing leads to
					one = w.first[s]
				}
				uses[use{c.index, s}] = one
			})
			if c.keeps() {
				c.defs(func(s int32) {
					if w.first[s] >= 0 {
						w.union[w.find(w.definition(c, s))] = w.find(uses[use{c.index, s}])
					}
				})
			}
			w.define(now, c)
		}
	}
	return uses
}

// rename gives each web but a register's first a slot of its own.
func (w *webs) rename(uses map[use]int32) {
	p := w.p
	slots, kept := map[int32]int32{}, map[int32]bool{}
	slotOf := func(d int32) int32 {
		root, old := w.find(d), w.slot[d]
		s, ok := slots[root]
		if !ok {
			if s = old; kept[old] {
				s = int32(len(p.slots))
				p.slots = append(p.slots, p.slots[old])
			}
			kept[old], slots[root] = true, s
		}
		return s
	}
	for _, c := range p.codes {
		read := func(s int32) int32 {
			if s < 0 || w.first[s] < 0 {
				return s
			}
			if d, ok := uses[use{c.index, s}]; ok {
				return slotOf(d)
			}
			return s
		}
		written := func(s int32) int32 {
			if s < 0 || w.first[s] < 0 {
				return s
			}
			return slotOf(w.definition(c, s))
		}
		c.rename(read, written)
	}
}

func (c *code) rename(read, written func(slot int32) int32) {
	each := func(list []int32, f func(int32) int32) []int32 {
		if !slices.ContainsFunc(list, func(s int32) bool { return f(s) != s }) {
			return list
		}
		out := make([]int32, len(list))
		for i, s := range list {
			out[i] = f(s)
		}
		return out
	}
	c.src, c.needs, c.wants = each(c.src, read), each(c.needs, read), each(c.wants, read)
	if c.bulk != nil {
		c.bulk.rename(read)
	}
	if c.guard >= 0 {
		c.guard = read(c.guard)
	}
	if c.fn != nil {
		c.dst = written(c.dst)
	}
	c.dsts = each(c.dsts, written)
}

func (b *bulkOp) rename(read func(slot int32) int32) {
	for _, a := range []*operandAt{&b.mem, &b.dst, &b.src, &b.mbar} {
		if a.slot >= 0 {
			a.slot = read(a.slot)
		}
	}
	for i, s := range b.coords {
		b.coords[i] = read(s)
	}
	if b.tensor == 0 {
		b.size = read(b.size)
	}
	if b.multicast {
		b.mask = read(b.mask)
	}
}
