package tensormap

import "fmt"

const (
	maxChannels = 256  // channelsPerPixel
	maxPixels   = 1024 // pixelsPerColumn
)

// cornerRange is the range of a box corner, inclusive, for a rank (rule 18): 16
// bits of the descriptor are shared by the spatial dimensions.
func cornerRange(rank int) (least, most int64) {
	switch rank {
	case 3:
		return -32768, 32767
	case 4:
		return -128, 127
	}
	return -16, 15
}

// im2col checks rule 18, and rule 13 on channelsPerPixel.
func (c *checker) im2col() {
	d := c.d
	if c.needs(18, FieldLowerCorner|FieldUpperCorner) && d.Rank >= 3 {
		c.corners("pixelBoxLowerCorner", d.LowerCorner)
		c.corners("pixelBoxUpperCorner", d.UpperCorner)
		c.emptyBox()
	}
	if c.needs(18, FieldChannelsPerPixel) {
		if n := d.ChannelsPerPixel; n < 1 || n > maxChannels {
			c.breaks(18, "channelsPerPixel", n, "1 to 256")
		} else if d.Has(FieldDataType) && d.DataType.padded() && n != 128 {
			c.breaks(18, "channelsPerPixel", n, "128 for "+d.DataType.String())
		}
		c.innerBox(FieldChannelsPerPixel, "channelsPerPixel", d.ChannelsPerPixel)
	}
	if c.needs(18, FieldPixelsPerColumn) && d.PixelsPerColumn > maxPixels {
		c.breaks(18, "pixelsPerColumn", d.PixelsPerColumn, "at most 1024")
	}
}

func (c *checker) corners(name string, corner []int64) {
	least, most := cornerRange(c.d.Rank)
	for i, v := range corner {
		if v < least || v > most {
			c.breaks(18, index(name, i), v, fmt.Sprintf("%d to %d at rank %d", least, most, c.d.Rank))
		}
	}
}

// emptyBox checks that the bounding box has an area: along a dimension it reaches
// from the lower corner to the size plus the upper corner. The documentation names
// the corners {D, H, W}, CUTLASS passes {W, H, D}: an order that decides is left open.
func (c *checker) emptyBox() {
	d := c.d
	if !c.needs(18, FieldDims) {
		return
	}
	forward, backward := d.emptyCorner(false), d.emptyCorner(true)
	switch {
	case forward >= 0 && backward >= 0:
		c.breaks(18, index("pixelBoxUpperCorner", forward), d.UpperCorner[forward],
			fmt.Sprintf("more than pixelBoxLowerCorner[%d] minus the size, or the box is empty", forward))
	case forward >= 0 || backward >= 0:
		c.unclear(18, FieldUpperCorner, "whether the box is empty depends on the order of the corners, W first or D first")
	}
}

// emptyCorner is the number of the first corner whose side of the box is empty, or
// -1. Corner i belongs to dimension 1+i, or to 1+last-i where reversed.
func (d *Descriptor) emptyCorner(reversed bool) int {
	last := len(d.LowerCorner) - 1
	for i := range d.LowerCorner {
		dim := 1 + i
		if reversed {
			dim = 1 + last - i
		}
		lower, upper, size := d.LowerCorner[i], d.UpperCorner[i], d.Dims[dim]
		if size > maxDim || lower < -maxDim || lower > maxDim || upper < -maxDim || upper > maxDim {
			continue // another check speaks of it; and the sum below cannot overflow
		}
		if int64(size)+upper-lower < 1 {
			return i
		}
	}
	return -1
}
