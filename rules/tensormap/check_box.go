package tensormap

import "fmt"

// box checks rules 9 and 16.
func (c *checker) box() {
	d := c.d
	if !c.needs(9, FieldBox) {
		return
	}
	for i, n := range d.Box {
		if n < 1 || n > maxBox {
			c.breaks(9, index("boxDim", i), n, "1 to 256")
		}
	}
	if d.Has(FieldDataType) && d.DataType.padded() && d.Box[0] != 128 {
		c.breaks(16, "boxDim[0]", d.Box[0], "128 for "+d.DataType.String())
	}
}

// innerBox checks rules 10 and 13 on the inner width of n elements.
func (c *checker) innerBox(f Field, parameter string, n uint64) {
	d := c.d
	if !c.needs(10, f|FieldDataType|FieldInterleave) || d.Interleave != InterleaveNone {
		return
	}
	bytes, ok := d.innerBytes(n)
	if !ok || n == 0 || n > maxBox {
		return // rules 0, 9 or 18 speak of it
	}
	value := fmt.Sprintf("%d elements of %s = %d bytes", n, d.DataType, bytes)
	if d.Mode == Tiled && bytes%16 != 0 {
		c.breaks(10, parameter, value, "a multiple of 16 bytes")
	}
	if !c.needs(13, FieldSwizzle) {
		return
	}
	if span := d.Swizzle.Span(); span != 0 && bytes > span {
		c.breaks(13, parameter, value, fmt.Sprintf("at most %d bytes under swizzle %s", span, d.Swizzle))
	}
}

// elementStrides checks rule 11.
func (c *checker) elementStrides() {
	d := c.d
	if !c.needs(11, FieldElementStrides) {
		return
	}
	for i, n := range d.ElementStrides {
		if n >= 1 && n <= maxStep {
			continue
		}
		if i == 0 && d.Has(FieldInterleave) && d.Interleave == InterleaveNone {
			c.remark(11, "elementStrides[0] is %d; it is ignored where interleave is NONE", n)
			continue
		}
		if i == 0 && !d.Has(FieldInterleave) {
			continue // the rank check has said that interleave is missing
		}
		c.breaks(11, index("elementStrides", i), n, "1 to 8")
	}
}

// packed checks rule 14.
func (c *checker) packed() {
	d := c.d
	if !d.Has(FieldDataType|FieldSwizzle|FieldInterleave) || !d.DataType.padded() {
		return
	}
	if d.DataType == Packed16U6Align16B && d.Interleave != InterleaveNone {
		c.breaks(14, "interleave", d.Interleave, "NONE for "+d.DataType.String())
	}
	switch d.Swizzle {
	case SwizzleNone, Swizzle128B, Swizzle128BAtom32B:
		if d.DataType == Packed16U4Align16B {
			c.remark(14, "%s can be loaded with swizzle %s, not stored", d.DataType, d.Swizzle)
		}
		return
	case Swizzle128BAtom64B:
		if d.DataType == Packed16U6Align16B {
			c.remark(14, "%s can be stored with swizzle %s, not loaded", d.DataType, d.Swizzle)
			return
		}
	}
	c.breaks(14, "swizzle", d.Swizzle, "NONE, 128B or 128B_ATOM_32B for "+d.DataType.String())
}
