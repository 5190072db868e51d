package ptx

import (
	"encoding/binary"
	"fmt"
)

// A tensor map that the kernel builds with tensormap.replace is kept in its
// 128 bytes in a layout of the machine's own (the hardware's is not public).
// So copies of it through memory stay good.
const (
	mapAddress = 0   // 8 bytes
	mapBytes   = 8   // rank, elemtype, interleave, swizzle, atomicity, fill: 1 byte each
	mapDims    = 16  // 5 x 4
	mapBoxes   = 36  // 5 x 4
	mapSteps   = 56  // 5 x 4
	mapStrides = 76  // 4 x 8
	mapSet     = 112 // which fields were set
	mapMagic   = 120
	mapSize    = 128
	magic      = 0x7073614d726f736e
)

// mapField gives a field's place, width and bit in the set mask.
func mapField(name string, ord int64) (off, width int64, bit uint, ok bool) {
	in := func(n int64) bool { return ord >= 0 && ord < n }
	switch name {
	case "global_address":
		return mapAddress, 8, 0, true
	case "rank":
		return mapBytes, 1, 1, true
	case "elemtype":
		return mapBytes + 1, 1, 2, true
	case "interleave_layout":
		return mapBytes + 2, 1, 3, true
	case "swizzle_mode":
		return mapBytes + 3, 1, 4, true
	case "swizzle_atomicity":
		return mapBytes + 4, 1, 5, true
	case "fill_mode":
		return mapBytes + 5, 1, 6, true
	case "global_dim":
		return mapDims + 4*ord, 4, 8 + uint(ord), in(5)
	case "box_dim":
		return mapBoxes + 4*ord, 4, 13 + uint(ord), in(5)
	case "element_stride":
		return mapSteps + 4*ord, 4, 18 + uint(ord), in(5)
	case "global_stride":
		return mapStrides + 8*ord, 8, 23 + uint(ord), in(4)
	}
	return 0, 0, 0, false
}

// decode reads a tensor map. err says what is wrong with it.
func decodeMap(b []byte) (*Descriptor, error) {
	if binary.LittleEndian.Uint64(b[mapMagic:]) != magic {
		return nil, fmt.Errorf("the tensor map was not built by the kernel")
	}
	d := &Descriptor{GlobalAddress: binary.LittleEndian.Uint64(b)}
	d.Rank = int(b[mapBytes]) + 1
	if d.Rank > 5 {
		return nil, fmt.Errorf("the tensor map has %d dimensions", d.Rank)
	}
	d.ElemType, d.Interleave, d.Swizzle = uint32(b[mapBytes+1]), uint32(b[mapBytes+2]), uint32(b[mapBytes+3])
	d.SwizzleAtom, d.Fill = uint32(b[mapBytes+4]), uint32(b[mapBytes+5])
	set := binary.LittleEndian.Uint32(b[mapSet:])
	missing := func(name string, ord int64) {
		if _, _, bit, _ := mapField(name, ord); set>>bit&1 == 0 {
			d.Missing = append(d.Missing, fmt.Sprintf("%s %d", name, ord))
		}
	}
	for i := int64(0); i < int64(d.Rank); i++ {
		d.GlobalDim[i] = uint64(binary.LittleEndian.Uint32(b[mapDims+4*i:]))
		d.BoxDim[i] = binary.LittleEndian.Uint32(b[mapBoxes+4*i:])
		d.ElementStride[i] = binary.LittleEndian.Uint32(b[mapSteps+4*i:])
		missing("global_dim", i)
		missing("box_dim", i)
		missing("element_stride", i)
		if i < int64(d.Rank)-1 {
			d.GlobalStride[i] = binary.LittleEndian.Uint64(b[mapStrides+8*i:])
			missing("global_stride", i)
		}
	}
	for _, f := range []string{"global_address", "rank", "elemtype"} {
		missing(f, 0)
	}
	return d, nil
}

// elementSize gives the bytes of an element (PTX ISA, tensormap.replace, .elemtype).
func elementSize(t uint32) int64 {
	switch t {
	case 0: // u8
		return 1
	case 1, 6, 10: // u16, f16, bf16
		return 2
	case 2, 3, 7, 8, 11, 12: // u32, s32, f32, f32.ftz, tf32, tf32.ftz
		return 4
	case 4, 5, 9: // u64, s64, f64
		return 8
	}
	return 0
}

// tensor is a copy of a box of a tensor. Elements outside of the tensor are
// not read or written; what a load puts in their place is zero.
func (x *bulk) tensor() {
	m := x.s.m
	fail := func(format string, args ...any) {
		m.stopAt(x.c.in, "%s", fmt.Sprintf(format, args...))
	}
	a := x.address(x.op.mem)
	raw, tt, ok := x.readMap(a)
	if !ok {
		fail("the tensor map lies outside of every buffer")
		return
	}
	if tt != 0 {
		m.useAddress(tt, x.c, false)
	}
	d, err := decodeMap(raw[:])
	if err != nil {
		fail("%v", err)
		return
	}
	size := elementSize(d.ElemType)
	if d.Rank != x.op.tensor || size == 0 || d.Interleave != 0 || len(d.Missing) > 0 || d.Swizzle > 3 {
		if len(d.Missing) == 0 {
			fail("this tensor map is not supported")
		} else {
			fail("the tensor map lacks %s", d.Missing[0])
		}
		return
	}
	if spaceOf(a) != spaceParam { // the host's maps are the caller's to judge
		x.keepMap(d, a)
	}
	var box tensorBox
	if !box.init(x, d, size) {
		fail("the box is too large")
		return
	}
	box.run(x, d)
}

// keepMap notes a tensor map that is used, once for equal ones.
func (x *bulk) keepMap(d *Descriptor, a uint64) {
	m := x.s.m
	m.mu.Lock()
	defer m.mu.Unlock()
	d.Access = m.p.access(x.c.orig)
	d.Access.Block, d.Access.Thread = x.s.b.id, m.threadID(int(x.thread))
	d.Buffer = -1
	if g := m.find(d.GlobalAddress); g != nil && !g.private {
		d.Buffer, d.Offset = g.index, int64(d.GlobalAddress-g.base)
	}
	key := fmt.Sprint(d.Buffer, d.Offset, d.Rank, d.ElemType, d.Interleave, d.Swizzle, d.SwizzleAtom, d.Fill, d.GlobalDim, d.GlobalStride, d.BoxDim, d.ElementStride)
	d.Address = a
	if old := m.descriptors[key]; old == nil || before(d.Block, old.Block) {
		if old != nil || len(m.descriptors) < 1<<12 {
			m.descriptors[key] = d
		}
	}
}

// readMap reads 128 bytes at a generic address.
func (x *bulk) readMap(a uint64) (raw [mapSize]byte, tt taint, ok bool) {
	m := x.s.m
	var load func(i int64) (uint64, taint)
	switch spaceOf(a) {
	case spaceCluster:
		b, off := x.s.b.sharedBlock(uint32(a - sharedWindow))
		if b == nil || off < 0 || off+mapSize > m.shared {
			return raw, 0, false
		}
		load = func(i int64) (uint64, taint) { return b.shared.load(m, off+i, 8) }
	case spaceGlobal:
		g := m.find(a)
		if g == nil || int64(a-g.base)+mapSize > g.size {
			return raw, 0, false
		}
		load = func(i int64) (uint64, taint) { return g.load(m, int64(a-g.base)+i, 8) }
	case spaceParam:
		return m.hostMap(a - paramWindow), 0, true
	default:
		return raw, 0, true // nowhere that the machine knows: it has no magic
	}
	for i := int64(0); i < mapSize; i += 8 {
		v, t := load(i)
		binary.LittleEndian.PutUint64(raw[i:], v)
		tt |= t
	}
	if binary.LittleEndian.Uint64(raw[mapMagic:]) != magic {
		tt = 0
	}
	return raw, tt, true
}

// tensorBox is the box of one copy.
type tensorBox struct {
	size    int64
	rank    int
	coord   [5]int64
	count   [5]int64 // elements of the box
	step    [5]int64
	row     int64 // bytes of a row in shared memory
	bytes   int64 // of the whole box
	swizzle func(int64) int64
}

func (t *tensorBox) init(x *bulk, d *Descriptor, size int64) bool {
	t.size, t.rank, t.bytes = size, d.Rank, size
	for i := 0; i < d.Rank; i++ {
		t.coord[i] = int64(int32(x.value(x.op.coords[i])))
		t.step[i] = max(int64(d.ElementStride[i]), 1)
		if i == 0 {
			t.step[i] = 1 // ignored without interleave
		}
		t.count[i] = (int64(d.BoxDim[i]) + t.step[i] - 1) / t.step[i]
		if t.count[i] == 0 || t.count[i] > maxBulk || t.bytes*t.count[i] > maxBulk {
			return false
		}
		t.bytes *= t.count[i]
	}
	t.row = t.count[0] * size
	bits := map[uint32]int64{0: 0, 1: 1, 2: 3, 3: 7}[d.Swizzle]
	t.swizzle = func(a int64) int64 {
		full := a + sharedBase
		return (full ^ full>>7&bits<<4) - sharedBase
	}
	return true
}

// run moves the box, row after row.
func (t *tensorBox) run(x *bulk, d *Descriptor) {
	var to []*block
	var at int64
	var from *block
	if x.op.toShared {
		if x.prepare() == nil {
			return
		}
		first, off, ok := x.shared(x.address(x.op.dst), t.bytes, true)
		if !ok {
			return
		}
		to, at = x.targets(first), off
		for _, b := range to {
			x.takeOff(b, at, t.bytes, true)
		}
	} else {
		b, off, ok := x.shared(x.address(x.op.src), t.bytes, false)
		if !ok {
			return
		}
		from, at = b, off
		x.takeOff(b, at, t.bytes, false)
	}
	rows := t.bytes / t.row
	for r := int64(0); r < rows; r++ {
		base, inside := t.place(d, r)
		lo, hi := max(t.coord[0], 0), min(t.coord[0]+t.count[0], int64(d.GlobalDim[0]))
		if !inside || lo >= hi {
			if x.op.toShared {
				x.fetch(nil, 0, to, at+r*t.row, t.row, t.swizzle)
			}
			continue
		}
		a, n, skip := d.GlobalAddress+uint64(base+lo*t.size), (hi-lo)*t.size, (lo-t.coord[0])*t.size
		if x.op.toShared {
			g, off := x.global(reads, a, n)
			x.fetch(nil, 0, to, at+r*t.row, skip, t.swizzle)
			x.fetch(g, off, to, at+r*t.row+skip, n, t.swizzle)
			x.fetch(nil, 0, to, at+r*t.row+skip+n, t.row-skip-n, t.swizzle)
		} else if g, off := x.global(x.direction(), a, n); g != nil {
			x.flush(from, at+r*t.row+skip, g, off, n, t.swizzle)
		}
	}
	if x.op.toShared {
		x.complete(to, t.bytes)
	}
}

// place gives a row's offset in the tensor; inside is false where it lies outside.
func (t *tensorBox) place(d *Descriptor, r int64) (base int64, inside bool) {
	inside = true
	for i := 1; i < t.rank; i++ {
		k := t.coord[i] + r%t.count[i]*t.step[i]
		r /= t.count[i]
		if k < 0 || k >= int64(d.GlobalDim[i]) {
			inside = false
		}
		base += k * int64(d.GlobalStride[i-1])
	}
	return base, inside
}
