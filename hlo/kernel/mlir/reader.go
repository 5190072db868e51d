package mlir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// reader reads one section of a bytecode file. The first failure sticks: what is read
// after it is zero.
type reader struct {
	data []byte
	at   int // of data, the next byte
	base int // of data[0] in the file
	err  error
}

var errShort = errors.New("it ends too early")

// fail keeps the first error, with the place in the file.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: %w", r.base+r.at, err)
	}
}

// left counts the bytes that are not read yet.
func (r *reader) left() int { return len(r.data) - r.at }

func (r *reader) byte() byte {
	if r.err != nil || r.at >= len(r.data) {
		r.fail(errShort)
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

// varint reads a number whose first byte says, by its trailing zeros, how many follow.
func (r *reader) varint() uint64 {
	first := r.byte()
	if r.err != nil {
		return 0
	}
	more := bits.TrailingZeros8(first) // 8 where the first byte is zero
	if more > r.left() {
		r.fail(errShort)
		return 0
	}
	var word [8]byte
	copy(word[:], r.data[r.at:r.at+more])
	r.at += more
	rest := binary.LittleEndian.Uint64(word[:])
	if more >= 7 {
		return rest // no bit of the first byte is left
	}
	return rest<<(7-more) | uint64(first>>(more+1))
}

// flagged reads a number with a flag in its lowest bit.
func (r *reader) flagged() (uint64, bool) {
	v := r.varint()
	return v >> 1, v&1 != 0
}

// count reads how many things follow, each of at least one byte.
func (r *reader) count() int {
	n := r.varint()
	if n > uint64(r.left()) {
		r.fail(fmt.Errorf("%d things in %d bytes", n, r.left()))
		return 0
	}
	return int(n)
}

// index reads a number below limit.
func (r *reader) index(limit int) int {
	n := r.varint()
	if r.err == nil && n >= uint64(limit) {
		r.fail(fmt.Errorf("number %d of %d", n, limit))
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// take gives the next n bytes as a reader of their own.
func (r *reader) take(n uint64) reader {
	if r.err != nil || n > uint64(r.left()) {
		r.fail(errShort)
		return reader{err: r.err}
	}
	part := reader{data: r.data[r.at : r.at+int(n)], base: r.base + r.at}
	r.at += int(n)
	return part
}

// section reads a section's head and gives its body.
func (r *reader) section() (id byte, body reader) {
	id = r.byte()
	size := r.varint()
	if id&0x80 != 0 {
		align := r.varint()
		if align == 0 || align&(align-1) != 0 {
			r.fail(fmt.Errorf("alignment %d", align))
		}
		for r.err == nil && r.at < len(r.data) && uint64(r.base+r.at)%align != 0 {
			r.at++
		}
	}
	return id &^ 0x80, r.take(size)
}
