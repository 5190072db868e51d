package tensormap

import "fmt"

// box mends rules 9, 10, 13 and 16: first the sides, then the inner width.
func (r *repairer) box() {
	d := &r.d
	if d.Mode == Im2col {
		r.channels()
		return
	}
	for i, n := range d.Box {
		if to := min(max(n, 1), maxBox); to != n {
			r.note(index("boxDim", i), n, to, "")
			d.Box[i] = to
		}
	}
	if d.Has(FieldDataType) && d.DataType.padded() {
		if d.Box[0] != 128 {
			r.note("boxDim[0]", d.Box[0], 128, "")
			d.Box[0] = 128
		}
		return
	}
	if !d.Has(FieldDataType|FieldInterleave|FieldSwizzle) || d.Interleave != InterleaveNone {
		return
	}
	if bytes, ok := d.innerBytes(d.Box[0]); ok {
		r.innerBox(bytes)
	}
}

// innerBox brings the inner width in bytes under the swizzle's span and to a
// multiple of 16: a wider pattern if one fits, else a narrower box.
func (r *repairer) innerBox(bytes uint64) {
	d := &r.d
	to := roundUp(bytes, 16)
	if span := d.Swizzle.Span(); span != 0 && to > span {
		if wider, ok := widerSwizzle(to); ok {
			r.note("swizzle", d.Swizzle, wider, "or boxDim[0] at most %d; the kernel must index shared memory by the same pattern",
				span*8/d.DataType.Bits())
			d.Swizzle = wider
		} else {
			to = span
		}
	}
	n := to * 8 / d.DataType.Bits()
	if n > maxBox { // 1-byte and packed types: 256 elements are a multiple of 16 bytes
		n = maxBox
	}
	if n != d.Box[0] {
		note := "pad the box to a multiple of 16 bytes; what lies outside the tensor reads as zero"
		if n < d.Box[0] {
			note = fmt.Sprintf("copy a row as %d boxes", (d.Box[0]+n-1)/n)
		}
		r.note("boxDim[0]", d.Box[0], n, "%s", note)
		d.Box[0] = n
	}
}

// widerSwizzle is the narrowest common mode that takes rows of so many bytes.
func widerSwizzle(bytes uint64) (Swizzle, bool) {
	for _, s := range []Swizzle{Swizzle64B, Swizzle128B} {
		if bytes <= s.Span() {
			return s, true
		}
	}
	return 0, false
}

// im2col mends rule 18.
func (r *repairer) im2col() {
	d := &r.d
	least, most := cornerRange(d.Rank)
	corner := func(name string, values []int64) {
		for i, v := range values {
			if to := min(max(v, least), most); to != v {
				r.note(index(name, i), v, to, "")
				values[i] = to
			}
		}
	}
	corner("pixelBoxLowerCorner", d.LowerCorner)
	corner("pixelBoxUpperCorner", d.UpperCorner)
	if d.Has(FieldLowerCorner | FieldUpperCorner | FieldDims) {
		r.emptyBox()
	}
	r.channels()
	if d.PixelsPerColumn > maxPixels {
		r.note("pixelsPerColumn", d.PixelsPerColumn, maxPixels, "")
		d.PixelsPerColumn = maxPixels
	}
}

// emptyBox sets the corners of an empty side to the whole side.
func (r *repairer) emptyBox() {
	d := &r.d
	for range d.LowerCorner {
		i := d.emptyCorner(false)
		if i < 0 {
			return
		}
		r.note(index("pixelBoxUpperCorner", i), d.UpperCorner[i], 0, "with lower corner 0: the whole side")
		d.LowerCorner[i], d.UpperCorner[i] = 0, 0
	}
}

// channels mends rules 13 and 18 on channelsPerPixel.
func (r *repairer) channels() {
	d := &r.d
	if !d.Has(FieldChannelsPerPixel) {
		return
	}
	n := min(max(d.ChannelsPerPixel, 1), maxChannels)
	if d.Has(FieldDataType) && d.DataType.padded() {
		n = 128
	} else if bits, span := d.DataType.Bits(), d.Swizzle.Span(); bits != 0 && span != 0 && d.Interleave == InterleaveNone {
		n = min(n, span*8/bits)
	}
	if n != d.ChannelsPerPixel {
		r.note("channelsPerPixel", d.ChannelsPerPixel, n, "")
		d.ChannelsPerPixel = n
	}
}
