package ptx

import (
	"strconv"
	"strings"

	"aliascheck/rules/ptx/syntax"
)

// sharedMatrix is an operand of wgmma.mma_async in shared memory: rows of 32
// bytes, which a 64-bit descriptor places ("Asynchronous Warpgroup Level Matrix
// Shared Memory Layout"). Rows are those of A, or columns of B.
type sharedMatrix struct {
	rows   int
	across bool // .imm-trans: the rows' index varies fastest; elements have 16 bits
}

// matrixLayout is a decoded descriptor; offsets are bytes.
type matrixLayout struct {
	sharedMatrix
	start, leading, stride int64
	width                  int64 // of the swizzling pattern, 16 without
	shifted                bool  // the pattern starts off its boundary
}

// layout decodes a descriptor.
func (x sharedMatrix) layout(d uint64) matrixLayout {
	field := func(at uint) int64 { return int64(d>>at&0x3fff) << 4 }
	return matrixLayout{x, field(0), field(16), field(32), [4]int64{16, 128, 64, 32}[d>>62], d>>49&7 != 0 && d>>62 != 0}
}

// parts calls f with the address of each part of 16 bytes that is read.
func (x *matrixLayout) parts(f func(a int64)) {
	if !x.across {
		second := int64(16)
		if x.width == 16 {
			second = x.leading
		}
		for i := int64(0); i < int64(x.rows); i++ {
			a := x.start + i%8*x.width + i/8*x.stride
			f(x.swizzle(a))
			f(x.swizzle(a + second))
		}
		return
	}
	wide, group, half := x.width/16, x.leading, x.stride // parts side by side, from one such group to the next, from 8 columns to the next
	if wide == 1 {
		group, half = x.stride, x.leading
	}
	for i := int64(0); i < int64(x.rows)/8; i++ {
		for k := int64(0); k < 16; k++ {
			f(x.swizzle(x.start + i%wide*16 + i/wide*group + k%8*x.width + k/8*half))
		}
	}
}

func (x *matrixLayout) swizzle(a int64) int64 { return a ^ a>>7&(x.width/16-1)<<4 }

// span bounds the addresses of the parts: whole widths of the pattern, which
// swizzling does not leave.
func (x *matrixLayout) span() (lo, hi int64) {
	n, wide := int64(x.rows/8), x.width/16
	last := x.start + 7*x.width
	switch {
	case !x.across && wide == 1:
		last += (n-1)*x.stride + x.leading
	case !x.across:
		last += (n-1)*x.stride + 16
	case wide == 1:
		last += (n-1)*x.stride + x.leading
	default:
		last += (min(n, wide)-1)*16 + (n-1)/wide*x.leading + x.stride
	}
	return x.start &^ (x.width - 1), last&^(x.width-1) + x.width
}

// readMatrix tells of a matrix that is read while copies to it may be on their
// way. What the descriptor does not place for certain is not told.
func (k *copies) readMatrix(t *touch, b *block, thread int, x matrixLayout) {
	lo, hi := x.span()
	lo, hi = lo-sharedBase, hi-sharedBase
	var read map[int64]bool // by 16 bytes
	for _, p := range k.list {
		if p.lo >= hi || lo >= p.hi {
			continue
		}
		if read == nil {
			read = map[int64]bool{}
			x.parts(func(a int64) { read[(a-sharedBase)>>4] = true })
		}
		for _, i := range p.mask.list {
			at := int64(uint32(p.dst.at(int(i), 0xffffffff))) - sharedBase
			for q := at >> 4; q<<4 < at+p.size; q++ {
				if read[q] {
					from := max(at, q<<4)
					b.m.late(p, int(i), t, b, thread, from, min(at+p.size, q<<4+16)-from, false)
				}
			}
		}
	}
}

// runMatrixReads is what wgmma.mma_async does to shared memory, warpgroup after
// warpgroup: all threads of one have the same descriptors.
func runMatrixReads(s *threadGroup, c *code) {
	mask := s.active(c)
	if mask == nil {
		return
	}
	m, b := s.m, s.b
	for _, slot := range c.src {
		if t := s.r[slot].taint; t != 0 {
			m.useAddress(t, c, false)
		}
	}
	if m.shared > 1<<18-sharedBase || m.stopped.Load() || b.copies.outstanding() == 0 && !m.p.flights {
		return // none is late, or a descriptor does not tell one place from another
	}
	t := touch{s: s, c: c, space: spaceShared}
	mask.warpgroups(func(i int32) {
		for k, slot := range c.src {
			if x := c.matrices[k].layout(s.r[slot].at(int(i), ^uint64(0))); !x.shifted {
				b.copies.readMatrix(&t, b, int(i), x)
				if m.p.flights {
					b.flights.readMatrix(&t, b, i, x)
				}
			}
		}
	})
}

// matrixReads emits the reads of shared memory of a wgmma.mma_async. Copies
// are all that they are held against; without any, nothing is to be done.
func (l *lowerer) matrixReads(in *syntax.Instruction) error {
	if !l.copies && !l.p.flights || len(in.Words) > 2 && in.Words[2] == "sp" { // a sparse matrix's columns are longer
		return nil
	}
	columns := 0
	for _, w := range in.Words {
		if strings.HasPrefix(w, "m64n") {
			columns, _ = strconv.Atoi(strings.Split(w[4:], "k")[0])
		}
	}
	if columns < 8 || columns > 256 || columns%8 != 0 {
		return l.fail("unknown shape")
	}
	c := &code{run: runMatrixReads, effect: true}
	operands, flags := in.Operands[1:3], in.Operands[min(len(in.Operands), 6):] // flags: .imm-trans of those in memory
	if elements := in.Words[len(in.Words)-1]; elements != "f16" && elements != "bf16" {
		flags = nil
	}
	for k, op := range operands {
		if op.Kind == syntax.KindVector { // A in registers
			continue
		}
		x := sharedMatrix{rows: [2]int{64, columns}[k]}
		if len(flags) > 0 {
			x.across, flags = flags[0].Bits == 1, flags[1:]
		}
		slot, err := l.source(op, "b64")
		if err != nil {
			return err
		}
		c.src, c.matrices = append(c.src, slot), append(c.matrices, x)
	}
	c.needs = c.src
	l.guarded(c)
	return nil
}

// hasFlights says whether a function, or one that it calls, has bulk copies or wgmma.
func hasFlights(f *syntax.Function) bool {
	for _, g := range f.Callees() {
		for i := range g.Body {
			p := g.Body[i].Words
			if len(p) > 3 && p[0] == "cp" && p[1] == "async" && p[2] == "bulk" && p[3] != "prefetch" || len(p) > 1 && p[0] == "wgmma" && p[1] == "mma_async" {
				return true
			}
		}
	}
	return false
}

// hasCopies says whether a function, or one that it calls, has copies whose
// groups threads wait for.
func hasCopies(f *syntax.Function) bool {
	for _, g := range f.Callees() {
		for i := range g.Body {
			if p := g.Body[i].Words; len(p) > 2 && p[0] == "cp" && p[1] == "async" && (p[2] == "ca" || p[2] == "cg") {
				return true
			}
		}
	}
	return false
}
