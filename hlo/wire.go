package hlo

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Wire types of the protobuf encoding. Groups (3 and 4) are not used by XLA and are
// refused.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// cursor walks the fields of one message. Positions are those of the file, and data goes
// on behind the message's end, so that words can be read there. The first short or
// malformed read anywhere is remembered in the shared failure and ends every cursor, so
// that decoders need no error of their own (debug/dwarf's buf).
type cursor struct {
	data     []byte
	pos, end int
	fail     *failure
}

// newCursor is a cursor over a whole message.
func newCursor(data []byte) cursor { return cursor{data, 0, len(data), &failure{}} }

// failure is the first thing that went wrong, and where.
type failure struct {
	what string // empty: nothing did
	at   int    // offset in the cursor's data
}

// field is one field of a message. Its tag is 0 where there is none.
type field struct {
	tag    uint64
	number uint64 // contents of a varint
	span          // contents of wireBytes
}

// next reads a field, contents and all: decoders switch on its tag, and need nothing
// for the fields that they do not know.
//
// Nearly all have a tag and a length, or a number, of one or two bytes each, and ids of
// five or six: those are taken out of one or two words. Whatever is longer, or wrong, or
// stands at the end of the data, goes the slow way.
func (c *cursor) next() field {
	p := c.pos
	if p >= c.end || c.fail.what != "" {
		return field{}
	}
	if len(c.data)-p < 16 {
		return c.slowNext()
	}
	word := binary.LittleEndian.Uint64(c.data[p:])
	tag := word & 0x7f
	if word&0x80 != 0 {
		tag |= word >> 1 & 0x3f80
		if word&0x8000 != 0 {
			return c.slowNext()
		}
		word >>= 8
		p++
	}
	word >>= 8
	p++
	switch {
	case tag < 1<<3 || p >= c.end: // wrong
	case tag&7 == wireBytes:
		n := int(word & 0x7f)
		if word&0x80 != 0 {
			n |= int(word >> 1 & 0x3f80)
			if word&0x8000 != 0 {
				return c.slowNext()
			}
			p++
		}
		p++
		if n <= c.end-p {
			c.pos = p + n
			return field{tag: tag, span: span{int32(p), int32(c.pos)}}
		}
	case tag&7 == wireVarint:
		v := word & 0x7f
		if word&0x80 != 0 {
			var width int
			if v, width = c.word(p, c.end); width == 0 {
				return c.slowNext()
			}
			p += width - 1
		}
		p++
		if p <= c.end {
			c.pos = p
			return field{tag: tag, number: v}
		}
	}
	return c.slowNext()
}

// slowNext is next for any field, and says what is wrong with one.
func (c *cursor) slowNext() field {
	f := field{tag: c.varint()}
	switch f.tag & 7 {
	case wireBytes:
		f.span = c.bytes()
	case wireVarint:
		f.number = c.varint()
	case wireFixed64:
		c.fixed(8)
	case wireFixed32:
		c.fixed(4)
	default:
		c.failed("wire type is none that XLA writes")
	}
	if f.tag>>3 == 0 || f.tag>>3 > 1<<29-1 {
		c.failed("field number is out of range")
	}
	if c.fail.what != "" {
		return field{}
	}
	return f
}

// failed ends the cursor and remembers the first failure.
func (c *cursor) failed(what string) {
	if c.fail.what == "" {
		*c.fail = failure{what, c.pos}
	}
	c.pos = c.end
}

// more reports whether the message goes on, and nothing went wrong anywhere.
func (c *cursor) more() bool { return c.pos < c.end && c.fail.what == "" }

// varint reads a varint of up to ten bytes.
func (c *cursor) varint() uint64 {
	v, n := c.word(c.pos, c.end)
	if n == 0 {
		c.failed("varint is cut off or too long")
		return 0
	}
	c.pos += n
	return v
}

// gather puts the low seven bits of each byte next to one another.
func gather(word uint64) uint64 {
	word = word&0x007f007f007f007f | word&0x7f007f007f007f00>>1
	word = word&0x00003fff00003fff | word&0x3fff00003fff0000>>2
	return word&0x000000000fffffff | word&0x0fffffff00000000>>4
}

// uvarint decodes a varint of at most ten bytes that fits 64 bits; n is 0 where there
// is none.
func uvarint(b []byte) (v uint64, n int) {
	for shift := uint(0); n < len(b) && n < 10; shift += 7 {
		x := b[n]
		n++
		if x < 0x80 {
			if n == 10 && x > 1 {
				return 0, 0
			}
			return v | uint64(x)<<shift, n
		}
		v |= uint64(x&0x7f) << shift
	}
	return 0, 0
}

// bytes reads a length and passes over what it covers: the interval of the contents.
func (c *cursor) bytes() span {
	n := c.varint()
	if n > uint64(c.end-c.pos) {
		c.failed("length passes the end of its message")
		return span{int32(c.end), int32(c.end)}
	}
	start := c.pos
	c.pos += int(n)
	return span{int32(start), int32(c.pos)}
}

// fixed passes over n bytes.
func (c *cursor) fixed(n int) {
	if c.end-c.pos < n {
		c.failed("field is cut off")
		return
	}
	c.pos += n
}

// over is a cursor over part of the same data.
func (c *cursor) over(s span) cursor { return cursor{c.data, int(s.start), int(s.end), c.fail} }

// ints appends a repeated int64 to dst, from either encoding of it.
func (c *cursor) ints(dst []int64, f field) []int64 {
	if f.tag&7 == wireVarint {
		return append(dst, int64(f.number))
	}
	dst = slices.Grow(dst, int(f.len())) // a number takes a byte or more
	for p, end := int(f.start), int(f.end); p < end; {
		v, n := c.word(p, end)
		if n == 0 {
			c.pos = p
			c.failed("varint is cut off or too long")
			break
		}
		dst = append(dst, int64(v))
		p += n
	}
	return dst
}

// word reads the varint at p of a message that ends at end, and its width in bytes, 0
// where there is none. Nearly all come out of one word.
func (c *cursor) word(p, end int) (v uint64, width int) {
	if len(c.data)-p >= 8 {
		word := binary.LittleEndian.Uint64(c.data[p:])
		if word&0x80 == 0 {
			return word & 0x7f, 1
		}
		if stop := ^word & 0x8080808080808080; stop != 0 {
			width = bits.TrailingZeros64(stop)/8 + 1
			if width <= end-p {
				return gather(word & (stop ^ (stop - 1))), width
			}
		}
	}
	return uvarint(c.data[p:end])
}

// int32 is the number of a field that must fit 32 bits.
func (c *cursor) int32(f field) int32 {
	v := int64(f.number)
	if v != int64(int32(v)) {
		c.failed("number does not fit 32 bits")
		return 0
	}
	return int32(v)
}
