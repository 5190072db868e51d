package hlo

// Wire types of the protobuf encoding. Groups (3 and 4) are not used by XLA and are
// refused.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// cursor walks the fields of one message: the half-open interval [pos, end) of data.
// The first short or malformed read anywhere is remembered in the shared failure and
// ends the cursor, so that decoders need no error of their own (debug/dwarf's buf).
type cursor struct {
	data     []byte
	pos, end int
	fail     *failure
}

// failure is the first thing that went wrong, and where.
type failure struct {
	what string // empty: nothing did
	at   int    // offset in the cursor's data
}

// failed ends the cursor and remembers the first failure.
func (c *cursor) failed(what string) {
	if c.fail.what == "" {
		*c.fail = failure{what, c.pos}
	}
	c.pos = c.end
}

// varint reads a varint of up to ten bytes.
func (c *cursor) varint() uint64 {
	if c.pos < c.end {
		if b := c.data[c.pos]; b < 0x80 {
			c.pos++
			return uint64(b)
		}
	}
	return c.longVarint()
}

// longVarint is varint beyond its first byte.
func (c *cursor) longVarint() uint64 {
	v, n := uvarint(c.data[c.pos:c.end])
	if n == 0 {
		c.failed("varint is cut off or too long")
		return 0
	}
	c.pos += n
	return v
}

// uvarint decodes a varint of at most ten bytes that fits 64 bits; n is 0 where there
// is none.
func uvarint(b []byte) (v uint64, n int) {
	for i := 0; i < len(b) && i < 10; i++ {
		if i == 9 && b[i] > 1 {
			return 0, 0
		}
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// int64 reads a varint as proto's int64, int32, enum or bool.
func (c *cursor) int64() int64 { return int64(c.varint()) }

// bytes reads a length and skips what it covers: the interval of the contents.
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

// message reads a length and returns a cursor over what it covers.
func (c *cursor) message() cursor {
	return c.over(c.bytes())
}

// over is a cursor over part of the same data.
func (c *cursor) over(s span) cursor {
	return cursor{c.data, int(s.start), int(s.end), c.fail}
}

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
	if c.end-c.pos < n {
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
	for m.pos < m.end {
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
