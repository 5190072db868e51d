package tensormap

import "fmt"

const (
	maxDim    = 1 << 32 // largest globalDim, in elements
	maxStride = 1 << 40 // first stride, in bytes, that is too large
	maxBox    = 256     // largest boxDim, in elements
	maxStep   = 8       // largest elementStrides, in elements
)

// addressUnit is what globalAddress must be a multiple of, in bytes (rule 3).
func (d *Descriptor) addressUnit() uint64 {
	if d.wide() {
		return 32
	}
	return 16
}

// wide reports whether the layout moves 32-byte pieces: interleave 32B, and the
// two padded types (rules 3 and 7).
func (d *Descriptor) wide() bool {
	return d.Has(FieldInterleave) && d.Interleave == Interleave32B || d.Has(FieldDataType) && d.DataType.padded()
}

// enumerators leaves everything open that hangs on a number which the header of
// CUDA 13 does not name: a newer driver may know it.
func (c *checker) enumerators() {
	d := c.d
	odd := func(f Field, name string, v, most int) {
		if d.Has(f) && (v < 0 || v > most) {
			c.unclear(0, f, "%s %d is no value of CUDA 13", name, v)
		}
	}
	odd(FieldDataType, "tensorDataType", int(d.DataType), int(Packed16U6Align16B))
	odd(FieldInterleave, "interleave", int(d.Interleave), int(Interleave32B))
	if d.Swizzle != Swizzle96B {
		odd(FieldSwizzle, "swizzle", int(d.Swizzle), int(Swizzle128BAtom64B))
	}
	odd(FieldL2Promotion, "l2Promotion", int(d.L2Promotion), 3)
	odd(FieldOOBFill, "oobFill", int(d.OOBFill), 1)
}

// rank checks rule 2, and 18 for im2col. It reports whether the arrays can be
// looked at: whether they have the lengths that the rank asks for.
func (c *checker) rank() bool {
	d := c.d
	if !c.needs(2, FieldRank) {
		return false
	}
	least, rule := 1, 2
	if d.Mode == Im2col {
		least, rule = 3, 18
	}
	if d.Rank < least || d.Rank > MaxRank {
		c.breaks(rule, "tensorRank", d.Rank, fmt.Sprintf("%d to %d", least, MaxRank))
		return d.Rank >= 1 && d.Rank <= MaxRank && c.lengths()
	}
	if c.needs(2, FieldInterleave) && d.Interleave != InterleaveNone && d.Rank < 3 {
		c.breaks(2, "tensorRank", d.Rank, "3 to 5 with interleave "+d.Interleave.String())
	}
	return c.lengths()
}

// lengths leaves a descriptor open whose arrays do not have the driver's lengths.
func (c *checker) lengths() bool {
	problems := c.d.lengthProblems()
	for _, p := range problems {
		c.unclear(0, p.field, "%s has %d entries where rank %d has %d", p.field, p.have, c.d.Rank, p.want)
	}
	return len(problems) == 0
}

// lengthProblem is an array that has not as many entries as the rank asks for.
type lengthProblem struct {
	field      Field
	have, want int
}

// lengthProblems lists the known arrays of the wrong length. Where it gives none,
// every index below the rank is good for every array that is known.
func (d *Descriptor) lengthProblems() []lengthProblem {
	var out []lengthProblem
	want := func(f Field, have, want int) {
		if d.Has(f) && have != want {
			out = append(out, lengthProblem{f, have, want})
		}
	}
	want(FieldDims, len(d.Dims), d.Rank)
	want(FieldStrides, len(d.Strides), d.Rank-1)
	want(FieldElementStrides, len(d.ElementStrides), d.Rank)
	if d.Mode == Im2col {
		want(FieldLowerCorner, len(d.LowerCorner), max(0, d.Rank-2))
		want(FieldUpperCorner, len(d.UpperCorner), max(0, d.Rank-2))
	} else {
		want(FieldBox, len(d.Box), d.Rank)
	}
	return out
}

// tensorMap checks rule 1.
func (c *checker) tensorMap() {
	if c.needs(1, FieldTensorMap) && c.d.TensorMap%64 != 0 {
		c.breaks(1, "tensorMap", hex(c.d.TensorMap), "a multiple of 64")
	}
}

// address checks rules 3 and 17.
func (c *checker) address() {
	if !c.needs(3, FieldAddress) {
		return
	}
	switch a := c.d.Address; {
	case a == 0:
		c.breaks(17, "globalAddress", "NULL", "the address of the tensor")
	case a%c.d.addressUnit() != 0:
		c.breaks(3, "globalAddress", hex(a), fmt.Sprintf("a multiple of %d", c.d.addressUnit()))
	}
}

// dims checks rules 4 and 5.
func (c *checker) dims() {
	d := c.d
	if !c.needs(4, FieldDims) {
		return
	}
	for i, n := range d.Dims {
		if n < 1 || n > maxDim {
			c.breaks(4, index("globalDim", i), n, "1 to 2^32 (4294967296)")
		}
	}
	if !c.needs(5, FieldDataType) {
		return
	}
	if unit := d.dimUnit(); d.Dims[0]%unit != 0 {
		c.breaks(5, "globalDim[0]", d.Dims[0], fmt.Sprintf("a multiple of %d for %s", unit, d.DataType))
	}
}

// dimUnit is what globalDim[0] must be a multiple of (rule 5).
func (d *Descriptor) dimUnit() uint64 {
	switch {
	case d.DataType.padded():
		return 128
	case d.DataType == Packed16U4Align8B:
		return 2
	}
	return 1
}

// strides checks rules 6 and 7, and remarks on rule 8.
func (c *checker) strides() {
	d := c.d
	if d.Rank == 1 || !c.needs(6, FieldStrides) {
		return
	}
	for i, s := range d.Strides {
		p := index("globalStrides", i)
		switch {
		case s%16 != 0 && s >= maxStride:
			c.breaks(6, p, s, "a multiple of 16 below 2^40")
		case s%16 != 0:
			c.breaks(6, p, s, "a multiple of 16"+d.sizeOneNote(i+1))
		case s >= maxStride:
			c.breaks(6, p, s, "below 2^40 (1099511627776)")
		case d.wide() && s%32 != 0:
			c.breaks(7, p, s, "a multiple of 32 here")
		}
	}
	c.needs(7, FieldInterleave|FieldDataType)
	c.strideRemarks()
}

// sizeOneNote reminds that a dimension of size 1 is not exempt.
func (d *Descriptor) sizeOneNote(dim int) string {
	if d.Has(FieldDims) && d.Dims[dim] == 1 {
		return fmt.Sprintf(" (dimension %d has size 1 and is not exempt)", dim)
	}
	return ""
}

// strideRemarks notes layouts that are legal and seldom meant (rule 8). Dimensions
// of size 1 are left out, as nothing steps along them, and strides that break a rule.
// Stride 0 repeats data on purpose.
func (c *checker) strideRemarks() {
	d := c.d
	if !d.Has(FieldDims | FieldDataType) {
		return
	}
	row, ok := d.innerBytes(d.Dims[0])
	last := uint64(0)
	for i, s := range d.Strides {
		if d.Dims[i+1] <= 1 || s == 0 || s%d.strideUnit() != 0 || s >= maxStride {
			continue
		}
		if ok && s < row {
			c.remark(8, "globalStrides[%d] is %d bytes and a row has %d: rows overlap, which is legal; a stride "+
				"counted in elements looks like this", i, s, row)
		}
		if s < last {
			c.remark(8, "globalStrides[%d] (%d) is less than an earlier one (%d): a permuted layout, which is legal", i, s, last)
		}
		last = s
	}
}

// layout checks rule 12, and what the PTX ISA says of the 96-byte swizzle.
func (c *checker) layout() {
	d := c.d
	if !c.needs(12, FieldInterleave|FieldSwizzle) {
		return
	}
	if d.Interleave == Interleave32B && d.Swizzle != Swizzle32B {
		c.breaks(12, "swizzle", d.Swizzle, "32B with interleave 32B")
		c.remark(12, "documented but not enforced: driver 580 was measured to accept interleave 32B with swizzle 128B")
	}
	if d.Swizzle == Swizzle96B && d.Interleave != InterleaveNone {
		c.breaks(14, "interleave", d.Interleave, "NONE with the 96-byte swizzle")
	}
}

// fill checks rule 15.
func (c *checker) fill() {
	d := c.d
	if c.needs(15, FieldOOBFill|FieldDataType) && d.OOBFill == FillNaN && !d.DataType.Float() {
		c.breaks(15, "oobFill", d.OOBFill, "NONE for "+d.DataType.String())
	}
}

func index(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

func hex(a uint64) string { return fmt.Sprintf("%#x", a) }
