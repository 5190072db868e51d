package hlo

import (
	"encoding/binary"
	"math/bits"
)

// Wire types of the protobuf encoding. Groups (3 and 4) are not used by XLA and are
// refused.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// cursor walks the fields of one message, which ends where data ends: positions are
// those of the file. The first short or malformed read anywhere is remembered in the
// shared failure and ends the cursor, so that decoders need no error of their own
// (debug/dwarf's buf).
type cursor struct {
	data []byte
	pos  int
	fail *failure
}

// failure is the first thing that went wrong, and where.
type failure struct {
	what string // empty: nothing did
	at   int    // offset in the cursor's data
}

// more reports whether the message goes on, and nothing went wrong anywhere.
func (c *cursor) more() bool { return c.pos < len(c.data) && c.fail.what == "" }

// failed ends the cursor and remembers the first failure.
func (c *cursor) failed(what string) {
	if c.fail.what == "" {
		*c.fail = failure{what, c.pos}
	}
	c.pos = len(c.data)
}

// tag reads the next field's tag. There must be more: fields are read in loops that
// ask, and this one is small enough to stand in them.
func (c *cursor) tag() uint64 {
	b := c.data[c.pos]
	if b >= 0x80 {
		return c.varint()
	}
	c.pos++
	return uint64(b)
}

// varint reads a varint of up to ten bytes.
func (c *cursor) varint() uint64 {
	b := c.data[c.pos:]
	if len(b) >= 8 {
		// Nearly all are lengths, counts and tags of one or two bytes; ids have five
		// or six, and are taken out of one word.
		if b[0] < 0x80 {
			c.pos++
			return uint64(b[0])
		}
		if b[1] < 0x80 {
			c.pos += 2
			return uint64(b[0])&0x7f | uint64(b[1])<<7
		}
		word := binary.LittleEndian.Uint64(b)
		if stop := ^word & 0x8080808080808080; stop != 0 {
			c.pos += bits.TrailingZeros64(stop)/8 + 1
			return gather(word & (stop ^ (stop - 1)))
		}
	}
	v, n := uvarint(b)
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

// int64 reads a varint as proto's int64, int32, enum or bool.
func (c *cursor) int64() int64 { return int64(c.varint()) }

// bytes reads a length and skips what it covers: the interval of the contents.
func (c *cursor) bytes() span {
	d := c.data[c.pos:]
	if len(d) > 1 {
		n, width := int(d[0]), 1
		if n >= 0x80 {
			n, width = n&0x7f|int(d[1])<<7, 2
		}
		// A third byte would show in n.
		if n < 1<<14 && n <= len(d)-width {
			start := c.pos + width
			c.pos = start + n
			return span{int32(start), int32(c.pos)}
		}
	}
	return c.longBytes()
}

// longBytes is bytes for lengths of three bytes and more, and for what is cut off.
func (c *cursor) longBytes() span {
	n := c.varint()
	if n > uint64(len(c.data)-c.pos) {
		c.failed("length passes the end of its message")
		return span{int32(len(c.data)), int32(len(c.data))}
	}
	start := c.pos
	c.pos += int(n)
	return span{int32(start), int32(c.pos)}
}

// message reads a length and returns a cursor over what it covers.
func (c *cursor) message() cursor { return c.over(c.bytes()) }

// over is a cursor over part of the same data.
func (c *cursor) over(s span) cursor { return cursor{c.data[:s.end], int(s.start), c.fail} }

// skip passes over a field's contents.
func (c *cursor) skip(tag uint64) {
	if tag>>3 == 0 || tag>>3 > 1<<29-1 {
		c.failed("field number is out of range")
		return
	}
	switch tag & 7 {
	case wireBytes:
		c.bytes()
	case wireVarint:
		c.varint()
	case wireFixed64:
		c.fixed(8)
	case wireFixed32:
		c.fixed(4)
	default:
		c.failed("wire type is none that XLA writes")
	}
}

// fixed passes over n bytes.
func (c *cursor) fixed(n int) {
	if len(c.data)-c.pos < n {
		c.failed("field is cut off")
		return
	}
	c.pos += n
}

// ints appends a repeated int64 to dst, from either encoding of it: tag says which.
func (c *cursor) ints(dst []int64, tag uint64) []int64 {
	if tag&7 == wireVarint {
		return append(dst, c.int64())
	}
	m := c.message()
	for m.more() {
		dst = append(dst, m.int64())
	}
	return dst
}

// int32 reads a varint that must fit 32 bits.
func (c *cursor) int32() int32 {
	v := c.int64()
	if v != int64(int32(v)) {
		c.failed("number does not fit 32 bits")
		return 0
	}
	return int32(v)
}
