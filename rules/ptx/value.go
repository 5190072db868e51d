package ptx

// A register of a group of threads holds one value per thread of the block. It
// is kept in the cheapest of three forms, so that most instructions cost the
// same whatever the number of threads:
//
//	uniform  every thread has u
//	thread   thread i has u + t.v[i], and t does not change with the block
//	vector   thread i has v[i]
//
// Values are zero-extended to 64 bits; u + t.v[i] is taken modulo 2^width.
type kind uint8

const (
	uniform kind = iota
	thread
	vector
)

// taint says what a value depends on: bit i the contents of buffer i (buffers
// from maxTaint on share the last bit), and the bits below.
type taint uint64

const (
	maxTaint          = 60
	taintOrder  taint = 1 << 61 // memory that another thread writes without order
	taintOpaque taint = 1 << 62 // a value that is not computed
	taintBits   taint = 1<<maxTaint - 1
)

func bufferTaint(i int) taint { return 1 << min(i, maxTaint-1) }

// offsets is a vector of signed per-thread offsets that no launch-time change
// touches: it is shared between registers and compared by address.
type offsets struct {
	v      []int64
	lo, hi int64
	or     uint64 // of all, all ones when one is negative
	id     uint32
}

type value struct {
	kind  kind
	taint taint
	u     uint64
	t     *offsets
	v     []uint64 // owned by the register; may be set while kind is not vector
}

func (x *value) at(i int, mask uint64) uint64 {
	switch x.kind {
	case uniform:
		return x.u
	case thread:
		return (x.u + uint64(x.t.v[i])) & mask
	}
	return x.v[i]
}

func widthMask(bits uint8) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

func signExtend(x uint64, bits uint8) int64 {
	s := 64 - uint(bits)
	return int64(x<<s) >> s
}

func (x *value) setU(u uint64, t taint) {
	x.kind, x.u, x.taint = uniform, u, t
	x.noOffsets()
}

// noOffsets forgets offsets. Writing a pointer costs more than to look first,
// and most registers hold the same kind of value in every block.
func (x *value) noOffsets() {
	if x.t != nil {
		x.t = nil
	}
}

func (x *value) setT(u uint64, t *offsets, tt taint) {
	if t.lo == t.hi {
		x.setU(u+uint64(t.lo), tt)
		return
	}
	x.kind, x.u, x.taint = thread, u, tt
	if x.t != t {
		x.t = t
	}
}

// vec gives the register's own vector, to be filled.
func (x *value) vec(n int) []uint64 {
	if cap(x.v) < n {
		x.v = make([]uint64, n)
	}
	x.v = x.v[:n]
	return x.v
}

// spread gives the value as a vector, in buf where it is not one yet.
func (x *value) spread(buf []uint64, mask uint64) []uint64 {
	switch x.kind {
	case vector:
		return x.v
	case uniform:
		for i := range buf {
			buf[i] = x.u
		}
	default:
		u := x.u
		for i, t := range x.t.v {
			buf[i] = (u + uint64(t)) & mask
		}
	}
	return buf
}

// copyFrom makes x equal to y without sharing y's vector.
func (x *value) copyFrom(y *value) {
	x.kind, x.u, x.t, x.taint = y.kind, y.u, y.t, y.taint
	if y.kind == vector {
		copy(x.vec(len(y.v)), y.v)
	}
}

func (x *value) same(y *value) bool {
	return x.kind == y.kind && x.kind != vector && x.u == y.u && x.t == y.t && x.taint == y.taint
}

// finish fills in the bounds of new offsets.
func (t *offsets) finish() *offsets {
	t.lo, t.hi, t.or = t.v[0], t.v[0], 0
	for _, x := range t.v {
		t.lo, t.hi = min(t.lo, x), max(t.hi, x)
		t.or |= uint64(x)
	}
	if t.lo < 0 {
		t.or = ^uint64(0)
	}
	return t
}

// span is the range of u + t as a signed or unsigned number of that width; ok
// is false when some thread's value wraps.
func (x *value) span(bits uint8, signed bool) (lo, hi int64, ok bool) {
	u := int64(x.u)
	if signed {
		u = signExtend(x.u, bits)
	}
	if x.kind == uniform {
		return u, u, signed || bits < 64 || u >= 0
	}
	lo, hi = u+x.t.lo, u+x.t.hi
	if bits >= 64 {
		// Reject overflow, and unsigned numbers from 2^63 on.
		ok = (lo > u) == (x.t.lo > 0) && (hi > u) == (x.t.hi > 0) && (signed || u >= 0 && lo >= 0)
		if x.t.lo == 0 {
			ok = (hi >= u) && (signed || u >= 0)
		} else if x.t.hi == 0 {
			ok = lo < u && (signed || u >= 0 && lo >= 0)
		}
		return lo, hi, ok
	}
	if signed {
		limit := int64(1) << (bits - 1)
		return lo, hi, lo >= -limit && hi < limit
	}
	return lo, hi, lo >= 0 && hi < int64(1)<<bits
}
