package tensormap

import (
	"fmt"
	"strings"
)

// CauseKind names what probably happened.
type CauseKind string

// The causes.
const (
	CauseNone                CauseKind = ""
	CauseNullAddress         CauseKind = "null-address"
	CauseElementStrideFirst  CauseKind = "element-stride-first"
	CauseSizeOneStride       CauseKind = "size-one-stride"
	CauseStridesInElements   CauseKind = "strides-in-elements"
	CauseStrideOverflow      CauseKind = "stride-overflow"
	CauseUnpaddedRow         CauseKind = "unpadded-row"
	CauseBoxWiderThanSwizzle CauseKind = "box-wider-than-swizzle"
	CauseMisalignedView      CauseKind = "misaligned-view"
	CauseEmptyTensor         CauseKind = "empty-tensor"
	CauseStaleError          CauseKind = "stale-error"
	CauseNoContext           CauseKind = "no-context"
	CauseOtherFailure        CauseKind = "other-failure"
	CauseUnexplained         CauseKind = "unexplained"
	CauseRule                CauseKind = "rule" // nothing more than the rule itself
)

// Cause is what probably happened, in one or two sentences.
type Cause struct {
	Kind CauseKind `json:"kind"`
	Text string    `json:"text"`
}

// probableCause looks at which rules are broken, and how, for the mistakes that are
// made in practice. The more telling signs come first.
func probableCause(d *Descriptor, j *Judgement) Cause {
	broken := map[int]bool{}
	for _, r := range j.Rules() {
		broken[r] = true
	}
	if broken[17] {
		return Cause{CauseNullAddress, "the tensor has no memory: its length is zero, it was never allocated, or a tool " +
			"that only plans a launch passed no pointer"}
	}
	if broken[4] && d.anyDim(0) {
		return Cause{CauseEmptyTensor, "the tensor is empty: a dimension has size 0, and a launch for it should have been skipped"}
	}
	if broken[6] || broken[7] {
		return strideCause(d)
	}
	switch {
	case broken[13]:
		return Cause{CauseBoxWiderThanSwizzle, fmt.Sprintf("a row of the box is wider than the %d bytes after which swizzle %s "+
			"repeats; wide rows are copied as several boxes", d.Swizzle.Span(), d.Swizzle)}
	case broken[3]:
		return Cause{CauseMisalignedView, fmt.Sprintf("the tensor is a view that starts in the middle of an allocation: its "+
			"first byte is %d past a multiple of %d", d.Address%d.addressUnit(), d.addressUnit())}
	}
	return Cause{CauseRule, "the parameters break the rule as it stands"}
}

// strideCause tells the ways apart in which strides go wrong.
func strideCause(d *Descriptor) Cause {
	bad := d.badStrides()
	sizeOne := len(bad) > 0 && d.Has(FieldDims)
	for _, i := range bad {
		sizeOne = sizeOne && d.Dims[i+1] == 1
	}
	switch {
	case d.elementStrideFirst() && !sizeOne:
		return Cause{CauseElementStrideFirst, fmt.Sprintf("globalStrides starts with %d, the size of one element: the stride of "+
			"dimension 0 was passed first, which shifts every real stride by one. The driver takes no stride for dimension 0: "+
			"the first entry is dimension 1's", d.Strides[0])}
	case sizeOne:
		return Cause{CauseSizeOneStride, fmt.Sprintf("dimension %s has size 1, so the framework left its stride arbitrary: "+
			"nothing ever steps along it. The driver checks it all the same; whether the value is legal is chance, and may "+
			"differ from one machine or allocation to the next", dimList(bad))}
	case d.negativeStride():
		return Cause{CauseStrideOverflow, "a stride this large is a negative or overflowed number read as unsigned: a 32-bit " +
			"product of sizes wrapped, or a stride was left at a placeholder such as -1"}
	case d.stridesInElements():
		return Cause{CauseStridesInElements, "the strides count elements; the driver counts bytes: each is to be multiplied " +
			"by the size of an element"}
	}
	for _, i := range bad {
		if s := d.Strides[i]; s < maxStride {
			return Cause{CauseUnpaddedRow, fmt.Sprintf("dimension %d steps by %d bytes, which is no multiple of %d: the rows "+
				"inside it are not padded, or it is a slice of a wider tensor", i+1, s, d.strideUnit())}
		}
	}
	return Cause{CauseRule, "a stride is too large for a descriptor"}
}

// badStrides are the indices of the strides that break rule 6 or 7.
func (d *Descriptor) badStrides() []int {
	var out []int
	for i, s := range d.Strides {
		if s%d.strideUnit() != 0 || s >= maxStride {
			out = append(out, i)
		}
	}
	return out
}

// strideUnit is what a stride must be a multiple of, in bytes (rules 6 and 7).
func (d *Descriptor) strideUnit() uint64 { return d.addressUnit() }

// elementStrideFirst recognizes strides whose first entry is the element's own.
// Element by element: the first is exactly the size of an element and the rest,
// moved down by one, is a legal layout of the first dimensions.
func (d *Descriptor) elementStrideFirst() bool {
	if !d.Has(FieldDims|FieldStrides|FieldDataType) || len(d.Strides) == 0 {
		return false
	}
	size := d.DataType.Bits() / 8
	if size == 0 || d.Strides[0] != size {
		return false
	}
	row, ok := d.innerBytes(d.Dims[0])
	for _, s := range d.Strides[1:] {
		if !ok || s%d.strideUnit() != 0 || s >= maxStride || s != 0 && s < row {
			return false
		}
	}
	return true
}

// stridesInElements recognizes strides that would be legal, and no less than a row,
// if each were multiplied by the size of an element, and that are too short for
// bytes as they stand.
func (d *Descriptor) stridesInElements() bool {
	if !d.Has(FieldDims|FieldStrides|FieldDataType) || len(d.Strides) == 0 {
		return false
	}
	size := d.DataType.Bits() / 8
	if size < 2 || d.Dims[0] > maxDim {
		return false
	}
	short := false
	for i, s := range d.Strides {
		if s >= maxStride || s*size%d.strideUnit() != 0 || s*size >= maxStride {
			return false
		}
		if d.Dims[i+1] == 1 {
			continue
		}
		if s != 0 && s < d.Dims[0] {
			return false
		}
		short = short || s < d.Dims[0]*size
	}
	return short
}

// negativeStride recognizes a negative number read as unsigned: whole, or after the
// multiplication and division by a size in bits that libraries do.
func (d *Descriptor) negativeStride() bool {
	for _, s := range d.Strides {
		if s >= 1<<59 {
			return true
		}
		if s >= maxStride && s>>31 == 1<<33-1 { // a 32-bit value stretched with ones to 64 bits
			return true
		}
	}
	return false
}

func (d *Descriptor) anyDim(size uint64) bool {
	for _, n := range d.Dims {
		if n == size {
			return true
		}
	}
	return false
}

// dimList names the dimensions of stride indices: "1" or "1 and 3".
func dimList(strides []int) string {
	parts := make([]string, len(strides))
	for i, s := range strides {
		parts[i] = fmt.Sprint(s + 1)
	}
	return strings.Join(parts, " and ")
}
