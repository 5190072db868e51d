package tensormap

import (
	"fmt"
	"math"
	"math/bits"
)

// Change is one parameter of a repair.
type Change struct {
	Parameter string `json:"parameter"`
	From      string `json:"from"`
	To        string `json:"to"`
	Note      string `json:"note,omitempty"` // what else would do, or what the change costs
}

// Fix is the smallest change that makes a descriptor legal.
type Fix struct {
	Changes   []Change   `json:"changes"`
	Corrected Descriptor `json:"-"`
	// Legal says that the corrected parameters were held to the same rules and broke
	// none that is enforced.
	Legal bool `json:"legal"`
}

// repair mends one rule after the other and judges the outcome by the same rules.
// It gives nil where no change of values can help: a rank out of range, or arrays
// of the wrong length.
func repair(d Descriptor, j *Judgement) *Fix {
	if d.Rank < 1 || d.Rank > MaxRank || d.Mode == Im2col && d.Rank < 3 || len(d.lengthProblems()) > 0 {
		return nil
	}
	r := repairer{d: d.clone(), cause: j.Cause.Kind}
	for round := 0; round < 4; round++ {
		got := check(r.d)
		if got.Verdict != Refused {
			break
		}
		before := len(r.changes)
		r.mend(got.Rules())
		if len(r.changes) == before {
			break
		}
	}
	if len(r.changes) == 0 {
		return nil
	}
	return &Fix{Changes: r.changes, Corrected: r.d, Legal: check(r.d).Verdict != Refused}
}

type repairer struct {
	d       Descriptor
	cause   CauseKind
	changes []Change
}

func (r *repairer) note(parameter string, from, to any, format string, args ...any) {
	r.changes = append(r.changes, Change{parameter, fmt.Sprint(from), fmt.Sprint(to), fmt.Sprintf(format, args...)})
}

// mend mends each broken rule, those that decide about others first.
func (r *repairer) mend(rules []int) {
	broken := map[int]bool{}
	for _, n := range rules {
		broken[n] = true
	}
	d := &r.d
	if broken[2] {
		r.note("interleave", d.Interleave, InterleaveNone, "or a layout of 3 to 5 dimensions")
		d.Interleave = InterleaveNone
	}
	if broken[14] {
		r.packed()
	}
	r.addresses(broken)
	if broken[4] || broken[5] {
		r.dims()
	}
	if broken[6] || broken[7] {
		r.strides()
	}
	if broken[9] || broken[10] || broken[13] || broken[16] {
		r.box()
	}
	if broken[11] {
		for i, n := range d.ElementStrides {
			if to := min(max(n, 1), maxStep); to != n {
				r.note(index("elementStrides", i), n, to, "")
				d.ElementStrides[i] = to
			}
		}
	}
	if broken[15] {
		r.note("oobFill", d.OOBFill, FillZero, "out-of-bounds elements read as zero")
		d.OOBFill = FillZero
	}
	if broken[18] {
		r.im2col()
	}
}

func (r *repairer) packed() {
	d := &r.d
	if d.Interleave != InterleaveNone && (d.DataType == Packed16U6Align16B || d.Swizzle == Swizzle96B) {
		r.note("interleave", d.Interleave, InterleaveNone, "")
		d.Interleave = InterleaveNone
	}
	switch d.Swizzle {
	case Swizzle32B, Swizzle64B, Swizzle96B, Swizzle128BAtom32BFlip8B, Swizzle128BAtom64B:
		if d.DataType.padded() && !(d.DataType == Packed16U6Align16B && d.Swizzle == Swizzle128BAtom64B) {
			r.note("swizzle", d.Swizzle, Swizzle128B, "the kernel must index shared memory by the same pattern")
			d.Swizzle = Swizzle128B
		}
	}
}

func (r *repairer) addresses(broken map[int]bool) {
	d := &r.d
	unit := d.addressUnit()
	if broken[1] {
		to := roundUp(d.TensorMap, 64)
		r.note("tensorMap", hex(d.TensorMap), hex(to), "declare the CUtensorMap with alignment 64")
		d.TensorMap = to
	}
	if broken[3] {
		to := roundUp(d.Address, unit)
		r.note("globalAddress", hex(d.Address), hex(to), "copy the tensor to memory that starts at a multiple of %d", unit)
		d.Address = to
	}
	if broken[17] {
		r.note("globalAddress", "NULL", "the tensor's address", "any multiple of %d; for an empty tensor skip the launch", unit)
		d.Address = unit // stands for the address in the re-check
	}
}

func (r *repairer) dims() {
	d := &r.d
	for i, n := range d.Dims {
		to, note := min(max(n, 1), maxDim), ""
		switch {
		case n == 0:
			note = "no descriptor describes an empty tensor: skip the launch instead"
		case n > maxDim:
			note = "split the tensor"
		}
		if unit := d.dimUnit(); i == 0 && d.Has(FieldDataType) && to%unit != 0 {
			to, note = roundUp(to, unit), "pad the innermost dimension"
		}
		if to != n {
			r.note(index("globalDim", i), n, to, "%s", note)
			d.Dims[i] = to
		}
	}
}

// strides mends the strides as the cause asks: moved down by one, multiplied by the
// size of an element, or one by one.
func (r *repairer) strides() {
	d := &r.d
	old := append([]uint64(nil), d.Strides...)
	note := ""
	switch r.cause {
	case CauseElementStrideFirst:
		copy(d.Strides, d.Strides[1:])
		d.Strides[len(d.Strides)-1] = d.packedStride(len(d.Strides))
		note = "without the element's own stride; the last one as if that dimension were packed"
	case CauseStridesInElements:
		for i := range d.Strides {
			d.Strides[i] *= d.DataType.Bits() / 8
		}
		note = "bytes instead of elements"
	}
	r.cause = CauseNone // a second round goes one by one
	for _, i := range d.badStrides() {
		d.Strides[i], note = d.legalStride(i)
	}
	r.note("globalStrides", list(old), list(d.Strides), "%s", note)
}

// legalStride is a legal value for stride i near to what was meant.
func (d *Descriptor) legalStride(i int) (uint64, string) {
	unit, s := d.strideUnit(), d.Strides[i]
	switch {
	case d.Has(FieldDims) && d.Dims[i+1] == 1:
		return d.extent(i), fmt.Sprintf("nothing steps along a dimension of size 1: any multiple of %d below 2^40 will do", unit)
	case s >= maxStride:
		return d.packedStride(i + 1), "as if the dimension were packed"
	}
	return roundUp(s, unit), fmt.Sprintf("pad the dimension inside to a multiple of %d bytes", unit)
}

// packedStride is the stride of a dimension that follows its inner neighbour
// without a gap, rounded up to a legal one.
func (d *Descriptor) packedStride(dim int) uint64 {
	unit := d.strideUnit()
	if !d.Has(FieldDims | FieldDataType) {
		return unit
	}
	if dim > 1 {
		return clampStride(times(d.Strides[dim-2], max(d.Dims[dim-1], 1)), unit)
	}
	row, ok := d.innerBytes(min(d.Dims[0], maxDim))
	if !ok {
		return unit
	}
	return clampStride(row, unit)
}

// extent is the number of bytes that the other dimensions span, rounded up to a
// legal stride: what a packed copy would give an outer dimension of size 1.
func (d *Descriptor) extent(except int) uint64 {
	widest := d.packedStride(1)
	for i, s := range d.Strides {
		if n := d.Dims[i+1]; i != except && n > 1 {
			widest = max(widest, times(s, n))
		}
	}
	return clampStride(widest, d.strideUnit())
}

// times multiplies, and gives the largest number where the product is larger.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high != 0 {
		return math.MaxUint64
	}
	return low
}

func clampStride(s, unit uint64) uint64 {
	if s >= maxStride-unit {
		return maxStride - unit
	}
	return max(roundUp(s, unit), unit)
}

// roundUp rounds up to a multiple of unit, and down where that would wrap.
func roundUp(n, unit uint64) uint64 {
	if rest := n % unit; rest != 0 {
		if n > ^uint64(0)-unit {
			return n - rest
		}
		return n + unit - rest
	}
	return n
}
