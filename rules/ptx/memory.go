package ptx

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// gbuf is a buffer of global memory during a run.
type gbuf struct {
	index    int
	base     uint64 // address of the first byte
	size     int64
	contents []byte // before the launch; nil: not known
	zero     []Range
	scratch  bool
	private  bool // the module's own variables
	silent   bool // accesses do not go on the record: private, or a launch that has none

	*bufferShadow // who touched it

	mu     sync.Mutex
	pages  []*dataPage // what the launch wrote, where it is kept
	dirty  atomic.Bool
	elided atomic.Bool // a store's value was not kept
	wanted atomic.Bool // a value was loaded
}

const dataPageLog = 13

// dataPage is written memory: bytes, and for each the number of its taint; 0 is
// what was there before.
type dataPage struct {
	data [1 << dataPageLog]byte
	tag  [1 << dataPageLog]uint8
}

// tagTable numbers the taints of stored bytes.
type tagTable struct {
	taints []taint
	number map[taint]uint8
	last   taint
	lastIs uint8
}

func (t *tagTable) init() {
	t.taints = []taint{0, 0}
	t.number = map[taint]uint8{0: 1}
	t.last, t.lastIs = 0, 1
}

// of gives a taint's number; when there are too many, a number for all of them.
func (t *tagTable) of(x taint) uint8 {
	if x == t.last {
		return t.lastIs
	}
	n := t.find(x)
	t.last, t.lastIs = x, n
	return n
}

func (t *tagTable) find(x taint) uint8 {
	if n, ok := t.number[x]; ok {
		return n
	}
	if len(t.taints) >= 255 {
		all := ^taint(0)
		if n, ok := t.number[all]; ok {
			return n
		}
		x = all
	}
	n := uint8(len(t.taints))
	t.taints = append(t.taints, x)
	t.number[x] = n
	return n
}

// find gives the buffer that holds an address, or nil.
func (s *launchState) find(a uint64) *gbuf {
	if a >= bufferBase {
		i := int((a - bufferBase) / bufferGap)
		if i < len(s.l.Buffers) {
			if b := s.bufs[i]; a-b.base < uint64(b.size) {
				return b
			}
		}
		return nil
	}
	if b := s.own; b != nil && a >= b.base && a-b.base < uint64(b.size) {
		return b
	}
	return nil
}

// nearest gives the buffer that an address outside of all is probably meant for.
func (s *launchState) nearest(a uint64) (int, int64) {
	best, dist := -1, ^uint64(0)
	off := int64(0)
	for i, b := range s.bufs[:len(s.l.Buffers)] {
		d := a - b.base
		if a < b.base {
			d = b.base - a
		} else if d >= uint64(b.size) {
			d -= uint64(b.size)
		}
		if d < dist {
			best, dist, off = i, d, int64(a-b.base)
		}
	}
	if dist > 1<<40 {
		return -1, int64(a)
	}
	return best, off
}

// base64 reads up to 8 bytes of what was there before the launch.
func (g *gbuf) before(off int64, n int) (uint64, taint) {
	for _, z := range g.zero {
		if off >= z.Start && off+int64(n) <= z.End {
			return 0, 0
		}
		if off < z.End && off+int64(n) > z.Start {
			return g.slowBefore(off, n)
		}
	}
	if g.private {
		return little(g.contents, off, n), 0
	}
	if g.contents == nil {
		return 0, taintOpaque | bufferTaint(g.index)
	}
	return little(g.contents, off, n), bufferTaint(g.index)
}

func (g *gbuf) slowBefore(off int64, n int) (uint64, taint) {
	var v uint64
	var tt taint
	for i := 0; i < n; i++ {
		in := false
		at := off + int64(i)
		for _, z := range g.zero {
			in = in || at >= z.Start && at < z.End
		}
		if in {
			continue
		}
		tt |= bufferTaint(g.index)
		if g.contents == nil {
			tt |= taintOpaque
		} else {
			v |= uint64(g.contents[at]) << (8 * i)
		}
	}
	return v, tt
}

func little(b []byte, off int64, n int) uint64 {
	b = b[off:]
	switch n {
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 1:
		return uint64(b[0])
	}
	var v uint64
	for i := 0; i < n; i++ {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

func putLittle(b []byte, v uint64, n int) {
	for i := 0; i < n; i++ {
		b[i] = byte(v >> (8 * i))
	}
}

// load reads up to 8 bytes. tags is the worker's table.
func (g *gbuf) load(m *worker, off int64, n int) (uint64, taint) {
	if !g.dirty.Load() {
		return g.before(off, n)
	}
	if m.locked {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	at := off & (1<<dataPageLog - 1)
	if p := g.pages[off>>dataPageLog]; at+int64(n) <= 1<<dataPageLog {
		if p == nil {
			return g.before(off, n)
		}
		tag := p.tag[at]
		same := tag != 0
		for _, x := range p.tag[at+1 : at+int64(n)] {
			same = same && x == tag
		}
		if same {
			return little(p.data[:], at, n), m.tags.taints[tag]
		}
	}
	var v uint64
	var tt taint
	for i := 0; i < n; i++ {
		at := off + int64(i)
		p := g.pages[at>>dataPageLog]
		if p != nil {
			if tag := p.tag[at&(1<<dataPageLog-1)]; tag != 0 {
				v |= uint64(p.data[at&(1<<dataPageLog-1)]) << (8 * i)
				tt |= m.tags.taints[tag]
				continue
			}
		}
		x, t := g.before(at, 1)
		v |= x << (8 * i)
		tt |= t
	}
	return v, tt
}

// store writes up to 8 bytes.
func (g *gbuf) store(m *worker, off int64, n int, v uint64, tt taint) {
	if m.locked {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	tag := m.tags.of(tt)
	at := off & (1<<dataPageLog - 1)
	p := g.page(m, off>>dataPageLog)
	if at+int64(n) <= 1<<dataPageLog {
		d, t := p.data[at:at+int64(n)], p.tag[at:at+int64(n)]
		if n == 4 {
			binary.LittleEndian.PutUint32(d, uint32(v))
			binary.LittleEndian.PutUint32(t, uint32(tag)*0x01010101)
			return
		}
		for i := range d {
			d[i] = byte(v >> (8 * i))
			t[i] = tag
		}
		return
	}
	for i := 0; i < n; i++ {
		o := off + int64(i)
		p := g.page(m, o>>dataPageLog)
		p.data[o&(1<<dataPageLog-1)] = byte(v >> (8 * i))
		p.tag[o&(1<<dataPageLog-1)] = tag
	}
}

func (g *gbuf) page(m *worker, n int64) *dataPage {
	var p *dataPage
	if len(g.pages) > 0 {
		p = g.pages[n]
	}
	if p == nil {
		if len(g.pages) == 0 {
			g.pages = make([]*dataPage, g.size>>dataPageLog+1)
			m.memory(8 * int64(len(g.pages)))
			g.dirty.Store(true)
		}
		p = new(dataPage)
		g.pages[n] = p
		m.memory(2 << dataPageLog)
	}
	return p
}
