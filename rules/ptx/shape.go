package ptx

import (
	"math/bits"
	"slices"
)

// threadSet is a set of threads of a block. It never changes once made, except for
// the worker's own scratch set.
type threadSet struct {
	bits []uint64
	list []int32 // ascending
	n    int
	kept bool // plans may be kept under its address
}

func newSet(threads int) *threadSet { return &threadSet{bits: make([]uint64, (threads+63)/64)} }

func (s *threadSet) add(t int) {
	s.bits[t>>6] |= 1 << (t & 63)
	s.list = append(s.list, int32(t))
	s.n++
}

func (s *threadSet) has(t int) bool { return s.bits[t>>6]>>(t&63)&1 != 0 }

// warp gives the lanes of warp w that are in the set.
func (s *threadSet) warp(w int) uint32 {
	if w>>1 >= len(s.bits) {
		return 0
	}
	return uint32(s.bits[w>>1] >> (32 * (w & 1)))
}

// warpgroups calls f with the first thread of each warpgroup, which are two words.
func (s *threadSet) warpgroups(f func(t int32)) {
	for g := 0; g < len(s.bits); g += 2 {
		if s.bits[g] != 0 {
			f(int32(g*64 + bits.TrailingZeros64(s.bits[g])))
		} else if g+1 < len(s.bits) && s.bits[g+1] != 0 {
			f(int32(g*64 + 64 + bits.TrailingZeros64(s.bits[g+1])))
		}
	}
}

func (s *threadSet) equal(o *threadSet) bool {
	return s == o || s.n == o.n && slices.Equal(s.bits, o.bits)
}

func (s *threadSet) minus(o *threadSet, threads int) *threadSet {
	out := newSet(threads)
	for _, t := range s.list {
		if !o.has(int(t)) {
			out.add(int(t))
		}
	}
	return out
}

func (s *threadSet) union(o *threadSet, threads int) *threadSet {
	out := newSet(threads)
	for i := range out.bits {
		out.bits[i] = s.bits[i] | o.bits[i]
		for b := out.bits[i]; b != 0; b &= b - 1 {
			out.list = append(out.list, int32(i*64+bits.TrailingZeros64(b)))
		}
	}
	out.n = len(out.list)
	return out
}

// shape is what an access by a set of threads looks like, wherever it starts:
// thread i touches size bytes at t.v[i]; with nil t all touch the same bytes.
type shape struct {
	t      *offsets
	mask   *threadSet
	size   int64
	lo     int64   // smallest offset
	span   int64   // from the first byte to the end of the last
	offs   []int64 // from lo, ascending
	who    []int32 // thread of each
	tight  bool    // thread k of the list touches [k*size, (k+1)*size)
	solid  bool    // no byte from the first to the last is left out
	placed [64]*placedShape
}

// placedShape is a shape at a place within a 64-byte line.
type placedShape struct {
	*shape
	phase int64 // of the first byte, in its line
	runs  []lineRun
	whole bool // each line that it touches, it touches whole

	context contextEntry // of the last event
}

// lineRun is neighbouring lines of which the same bytes are touched.
type lineRun struct {
	delta, count int64
	mask         uint64
}

// maxSpan is more than any buffer has.
const maxSpan = 2 * maxBuffer

type shapeKey struct {
	t    *offsets
	mask *threadSet
	size int64
}

// shapeFor finds or makes a shape.
func (m *worker) shapeFor(c *code, t *offsets, mask *threadSet, size int64) *shape {
	key := shapeKey{t, mask, size}
	last := &m.lastShape[c.index]
	if last.shape != nil && last.key == key && mask.kept {
		return last.shape
	}
	if mask.kept {
		if sh := m.shapes[key]; sh != nil {
			*last = shapeEntry{key, sh}
			return sh
		}
	}
	sh := makeShape(t, mask, size)
	if mask.kept {
		if len(m.shapes) < maxOffsets {
			m.shapes[key] = sh
		}
		*last = shapeEntry{key, sh}
		m.memory(int64(mask.n)*12 + 700)
	}
	return sh
}

type shapeEntry struct {
	key   shapeKey
	shape *shape
}

func makeShape(t *offsets, mask *threadSet, size int64) *shape {
	sh := &shape{t: t, mask: mask, size: size}
	if t == nil {
		sh.span, sh.solid = size, true
		return sh
	}
	if width := t.hi - t.lo; width < 0 || width > maxSpan { // no buffer holds it: thread by thread
		sh.lo, sh.span = t.lo, maxSpan
		return sh
	}
	at := func(i int32) int64 { return t.v[i] }
	sh.who = slices.Clone(mask.list)
	sorted := true
	for i := 1; i < len(sh.who); i++ {
		if at(sh.who[i]) < at(sh.who[i-1]) {
			sorted = false
			break
		}
	}
	if !sorted {
		slices.SortStableFunc(sh.who, func(a, b int32) int {
			switch x, y := at(a), at(b); {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	sh.lo = at(sh.who[0])
	sh.offs = make([]int64, len(sh.who))
	sh.tight, sh.solid = sorted, true
	for i, w := range sh.who {
		sh.offs[i] = at(w) - sh.lo
		if i > 0 && sh.offs[i] > sh.offs[i-1]+size {
			sh.solid = false
		}
		if sh.offs[i] != int64(i)*size {
			sh.tight = false
		}
	}
	sh.span = sh.offs[len(sh.offs)-1] + size
	return sh
}

// at gives the placed shape of the shape at a first byte.
func (sh *shape) at(phase int64) *placedShape {
	if p := sh.placed[phase]; p != nil {
		return p
	}
	p := &placedShape{shape: sh, phase: phase}
	var lines []lineRun
	add := func(off int64) {
		for end := off + sh.size; off < end; {
			line := off >> 6
			n := min(end, (line+1)<<6) - off
			if k := len(lines); k == 0 || lines[k-1].delta < line {
				lines = append(lines, lineRun{delta: line, count: 1})
			}
			i := len(lines) - 1
			for lines[i].delta > line {
				i--
			}
			lines[i].mask |= widthMask(uint8(n)) << (off & 63)
			off += n
		}
	}
	if sh.t == nil {
		add(phase)
	}
	for _, o := range sh.offs {
		add(o + phase)
	}
	p.runs, p.whole = lines[:0], true
	for _, l := range lines {
		p.whole = p.whole && l.mask == ^uint64(0)
		if k := len(p.runs) - 1; k >= 0 && p.runs[k].mask == l.mask && p.runs[k].delta+p.runs[k].count == l.delta {
			p.runs[k].count++
		} else {
			p.runs = append(p.runs, l)
		}
	}
	sh.placed[phase] = p
	return p
}

// lineMask gives the bytes that the placed shape touches in its k-th line.
func (p *placedShape) lineMask(delta int64) uint64 {
	i, j := 0, len(p.runs)
	for i < j {
		if k := (i + j) / 2; p.runs[k].delta+p.runs[k].count <= delta {
			i = k + 1
		} else {
			j = k
		}
	}
	if i == len(p.runs) || delta < p.runs[i].delta {
		return 0
	}
	return p.runs[i].mask
}

// threadsAt calls f for each thread that touches the byte at off from the first, until f returns false.
func (sh *shape) threadsAt(off int64, f func(t int) bool) bool {
	if sh.t == nil {
		for _, t := range sh.mask.list {
			if !f(int(t)) {
				return false
			}
		}
		return true
	}
	i, _ := slices.BinarySearch(sh.offs, off-sh.size+1)
	for ; i < len(sh.offs) && sh.offs[i] <= off; i++ {
		if !f(int(sh.who[i])) {
			return false
		}
	}
	return true
}
