package ptx

import (
	"encoding/binary"
)

// touchKey is a byte of global memory (block -1), or of one block's shared memory.
type touchKey struct{ buf, block, byte int }

// deed is one access by one thread. It starts when its clock is start and is
// over when its thread's own count is end; never is 0.
type deed struct {
	thread int // over the whole grid
	cta    int
	dir    direction
	start  []uint32 // of the cluster's threads
	own    uint32   // own count at the start
	end    uint32
	line   int
}

// note records an access to some bytes.
func (g *group) note(n int, th *gThread, dir direction, buf, block, off, size, line int) *deed {
	th.tick(n)
	d := &deed{thread: g.first*g.b.k.threads() + n, cta: th.at.cta, dir: dir, start: th.clock, own: th.clock[n], end: th.clock[n], line: line}
	th.shared = true
	for i := range size {
		key := touchKey{buf, block, off + i}
		g.b.deeds[key] = append(g.b.deeds[key], d)
	}
	return d
}

func (g *group) access(n int, th *gThread, st *step) {
	s := st.s
	if st.gather {
		g.note(n, th, reads, g.b.k.mapBuf, -1, st.off2, 4, s.mapLine)
	}
	if !st.on {
		return
	}
	mem, block := []byte(nil), -1
	if s.buf == gShared {
		mem, block = g.shared[th.at.cta-g.first], th.at.cta
	} else {
		mem = g.b.memory[s.buf]
	}
	g.note(n, th, s.dir, s.buf, block, st.off, s.size*s.vec, s.line)
	mem = mem[st.off : st.off+s.size*s.vec]
	switch s.dir {
	case reads:
		for j := range s.vec {
			th.take(mem[j*s.size:][:s.size])
		}
	case writes:
		for j := range s.vec {
			var v [8]byte
			c := uint32(17*j + s.base)
			binary.LittleEndian.PutUint32(v[:], th.sum+c)
			if s.form == gLast {
				binary.LittleEndian.PutUint32(v[:], th.sum)
			}
			binary.LittleEndian.PutUint32(v[4:], th.sum^c)
			copy(mem[j*s.size:][:s.size], v[:])
		}
	case updates:
		if s.size == 8 {
			binary.LittleEndian.PutUint64(mem, binary.LittleEndian.Uint64(mem)+uint64(th.sum))
		} else {
			binary.LittleEndian.PutUint32(mem, binary.LittleEndian.Uint32(mem)+th.sum)
		}
	}
}

func (th *gThread) take(b []byte) {
	var v [8]byte
	copy(v[:], b)
	th.sum = th.sum*5 + binary.LittleEndian.Uint32(v[:])
	if len(b) == 8 {
		th.sum = th.sum*5 + binary.LittleEndian.Uint32(v[4:])
	}
}

func (g *group) copy(n int, th *gThread, st *step) {
	s := st.s
	if st.gather {
		g.note(n, th, reads, g.b.k.mapBuf, -1, st.off2, 4, s.mapLine)
	}
	if !st.on && s.form == 0 {
		return
	}
	to := g.shared[th.at.cta-g.first][st.dst:][:s.size]
	clear(to)
	if st.on {
		d := g.note(n, th, reads, s.buf, -1, st.off, s.size, s.line)
		d.end = 0
		th.open = append(th.open, d)
		copy(to, g.b.memory[s.buf][st.off:])
	}
	d := g.note(n, th, writes, gShared, th.at.cta, st.dst, s.size, s.line)
	d.end = 0
	th.open = append(th.open, d)
}

// before says that a is over before b starts.
func (b *brute) before(a, c *deed) bool {
	per := b.k.ranks() * b.k.threads()
	return a.end != 0 && a.thread/per == c.thread/per && a != c && (c.start[a.thread%per] >= a.end && (a.thread != c.thread || a.own < c.own))
}
