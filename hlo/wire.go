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

// input is what messages are read from, and the first thing that went wrong in any of
// them.
type input struct {
	data []byte
	fail failure
}

// failure is a short or malformed field, and where it stands.
type failure struct {
	what string // empty: nothing went wrong
	at   int    // offset in data
}

// fields are the fields of one message: those in data[start:end]. Positions are those of
// the file, and data goes on behind the message, so that words can be read there. The
// first failure is the last field that any message has, so that decoders need no error
// of their own (debug/dwarf's buf).
type fields struct {
	in         *input
	start, end int
}

// newFields are the fields of a whole message.
func newFields(data []byte) fields { return fields{&input{data: data}, 0, len(data)} }

// failed remembers the first failure.
func (fs fields) failed(at int, what string) {
	if fs.in.fail.what == "" {
		fs.in.fail = failure{what, at}
	}
}

// field is one field of a message: its contents are data[start:end]. Its tag is 0 where
// there is none.
type field struct {
	tag        uint64
	number     uint64 // of a varint
	start, end int
}

// span is where the contents are.
func (f field) span() span { return span{int32(f.start), int32(f.end)} }

// first is the first field of the message.
func (fs fields) first() field { return fs.at(fs.start) }

// after is the field that follows f.
func (fs fields) after(f field) field { return fs.at(f.end) }

// at reads the field at p, contents and all: decoders switch on its tag, and need
// nothing for the fields that they do not know.
//
// Nearly all have a tag and a length, or a number, of one or two bytes each, and ids of
// five or six: those are taken out of one or two words. Whatever is longer, or wrong, or
// stands at the end of the data, goes the slow way. The widths are guessed well by the
// processor: without branches on them this takes half as long again.
func (fs fields) at(p int) field {
	if p >= fs.end || fs.in.fail.what != "" {
		return field{}
	}
	data := fs.in.data
	if len(data)-p < 16 {
		return fs.slowAt(p)
	}
	from := p
	word := binary.LittleEndian.Uint64(data[p:])
	tag := word & 0x7f
	if word&0x80 != 0 {
		tag |= word >> 1 & 0x3f80
		if word&0x8000 != 0 {
			return fs.slowAt(from)
		}
		word >>= 8
		p++
	}
	word >>= 8
	p++
	switch {
	case tag < 1<<3 || p >= fs.end: // wrong
	case tag&7 == wireBytes:
		n := int(word & 0x7f)
		if word&0x80 != 0 {
			n |= int(word >> 1 & 0x3f80)
			if word&0x8000 != 0 {
				return fs.slowAt(from)
			}
			p++
		}
		p++
		if n <= fs.end-p {
			return field{tag, 0, p, p + n}
		}
	case tag&7 == wireVarint:
		v, width := word&0x7f, 1
		if word&0x80 != 0 {
			v, width = fs.varint(p)
		}
		if width > 0 {
			return field{tag, v, p, p + width}
		}
	}
	return fs.slowAt(from)
}

// slowAt is at for any field, and says what is wrong with one.
func (fs fields) slowAt(p int) field {
	tag, p := fs.numberAt(p)
	f := field{tag: uint64(tag), start: p, end: p}
	switch tag & 7 {
	case wireVarint:
		n, next := fs.numberAt(p)
		f.number, f.end = uint64(n), next
	case wireBytes:
		n, next := fs.numberAt(p)
		if n < 0 || n > int64(fs.end-next) {
			fs.failed(next, "length passes the end of its message")
			n = 0
		}
		f.start, f.end = next, next+int(n)
	case wireFixed64:
		f.end += 8
	case wireFixed32:
		f.end += 4
	default:
		fs.failed(p, "wire type is none that XLA writes")
	}
	if f.end > fs.end {
		fs.failed(p, "field is cut off")
	}
	if f.tag>>3 == 0 || f.tag>>3 > 1<<29-1 {
		fs.failed(p, "field number is out of range")
	}
	if fs.in.fail.what != "" {
		return field{}
	}
	return f
}

// varint reads the varint at p, which is not behind the end, and its width in bytes, 0
// where there is none. Nearly all come out of one word.
func (fs fields) varint(p int) (v uint64, width int) {
	if len(fs.in.data)-p >= 8 {
		word := binary.LittleEndian.Uint64(fs.in.data[p:])
		if stop := ^word & 0x8080808080808080; stop != 0 {
			width = bits.TrailingZeros64(stop)/8 + 1
			if width <= fs.end-p {
				return gather(word & (stop ^ (stop - 1))), width
			}
		}
	}
	return uvarint(fs.in.data[p:fs.end])
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

// message are the fields of the message in f.
func (fs fields) message(f field) fields { return fields{fs.in, f.start, f.end} }

// ints appends a repeated int64 to dst, from either encoding of it.
func (fs fields) ints(dst []int64, f field) []int64 {
	if f.tag&7 == wireVarint {
		return append(dst, int64(f.number))
	}
	dst = slices.Grow(dst, f.end-f.start) // a number takes a byte or more
	list := fs.message(f)
	for p := f.start; p < f.end; {
		var n int64
		n, p = list.numberAt(p)
		dst = append(dst, n)
	}
	return dst
}

// numberAt reads one of a list of numbers that the message is, and tells where the next
// begins.
func (fs fields) numberAt(p int) (n int64, next int) {
	v, width := fs.varint(p)
	if width == 0 {
		fs.failed(p, "varint is cut off or too long")
		return 0, fs.end
	}
	return int64(v), p + width
}

// int32 is the number of a field that must fit 32 bits.
func (fs fields) int32(f field) int32 {
	v := int64(f.number)
	if v != int64(int32(v)) {
		fs.failed(f.start, "number does not fit 32 bits")
		return 0
	}
	return int32(v)
}
