package triton

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"io"
)

// inflateError says what is wrong with a compressed stream as a whole.
type inflateError string

func (e inflateError) Error() string { return string(e) }

const (
	errHeader   = inflateError("zlib: invalid header")
	errChecksum = inflateError("zlib: invalid checksum")
)

// inflater inflates a zlib stream (RFC 1950, RFC 1951) that lies in memory, as far as
// it is asked to: the static rules want a hundred bytes of most kernels. Libraries
// inflate a window ahead, and make tables for it that take longer than those bytes.
//
// What came so far is the window. Nothing is read outside of in, and nothing written
// outside of out.
type inflater struct {
	in   []byte
	pos  int    // of the first byte that is not in bits
	bits uint64 // not used yet, the next one lowest; above them lies nothing, or what follows in in
	have uint   // how many

	out []byte // room for what is asked for
	n   int    // bytes of it that came
	err error

	// Where it stopped: in the middle of a match, of a stored block, of a coded one, or
	// between two blocks.
	length, distance int // of the match, what is left of it
	stored           int // bytes that are left
	coded            bool
	last             bool // there is no block after this one

	lengths             lengthCode // of the block's codes
	literals, distances huffman
	tables              tables // of both
	tabled              bool   // the block was long enough to make them
	preset              bool   // the codes are those of fixed
}

// start begins a stream.
func (f *inflater) start(in, out []byte) {
	f.in, f.pos, f.bits, f.have = in, 2, 0, 0
	f.out, f.n, f.err = out, 0, nil
	f.length, f.stored, f.coded, f.last, f.tabled = 0, 0, false, false, false
	switch {
	case len(in) < 2:
		f.err = io.ErrUnexpectedEOF
	case in[0]&0xF != 8 || in[0]>>4 > 7 || binary.BigEndian.Uint16(in)%31 != 0 || in[1]&0x20 != 0:
		f.err = errHeader // no deflate, too big a window, or a dictionary that nobody has
	}
}

// until goes on until n bytes have come, or the stream ends, or is damaged.
func (f *inflater) until(n int) {
	for f.n < n && f.err == nil {
		switch {
		case f.length > 0:
			f.match(n)
		case f.stored > 0:
			f.copyStored(n)
		case f.coded:
			f.symbols(n)
		case f.last:
			return
		default:
			f.block()
		}
	}
}

// ended reports whether a stream that is not damaged came to its end.
func (f *inflater) ended() bool { return f.last && !f.coded && f.stored == 0 && f.length == 0 }

// whole inflates all of in into buf, which grows as bytes come, and fails where they
// are more than limit. It returns buf in any case.
func (f *inflater) whole(in, buf []byte, limit int) ([]byte, error) {
	f.start(in, buf[:min(cap(buf), limit+1)])
	for f.err == nil && !f.ended() {
		if f.until(len(f.out)); f.n < len(f.out) {
			continue // it has ended, or is damaged
		}
		if f.n > limit {
			f.err = fmt.Errorf("inflates to more than %d bytes", limit)
			break
		}
		more := append(f.out, make([]byte, max(len(f.out), 1<<16))...)
		f.out = more[:min(cap(more), limit+1)]
	}
	if f.err == nil {
		f.trailer()
	}
	return f.out[:f.n], f.err
}

// trailer holds what came to its checksum.
func (f *inflater) trailer() {
	f.giveBack()
	if len(f.in)-f.pos < 4 {
		f.err = io.ErrUnexpectedEOF
	} else if adler32.Checksum(f.out[:f.n]) != binary.BigEndian.Uint32(f.in[f.pos:]) {
		f.err = errChecksum
	} else {
		f.pos += 4
	}
}

// corrupt says that the stream is none of this format.
func (f *inflater) corrupt() {
	if f.err == nil {
		f.err = fmt.Errorf("flate: corrupt input before offset %d", f.pos-int(f.have>>3))
	}
}

// fill makes 32 bits ready, or all that are left.
func (f *inflater) fill() {
	if f.have >= 32 {
		return
	}
	if f.pos+4 <= len(f.in) {
		f.bits |= uint64(binary.LittleEndian.Uint32(f.in[f.pos:])) << f.have
		f.pos += 4
		f.have += 32
		return
	}
	for ; f.pos < len(f.in) && f.have < 32; f.pos++ {
		f.bits |= uint64(f.in[f.pos]) << f.have
		f.have += 8
	}
}

// take returns the next n bits, at most 16.
func (f *inflater) take(n uint) int {
	f.fill()
	v := int(f.bits & (1<<n - 1))
	f.drop(n)
	return v
}

// drop passes over n bits.
func (f *inflater) drop(n uint) {
	if n > f.have {
		n = f.have
		if f.err == nil {
			f.err = io.ErrUnexpectedEOF
		}
	}
	f.bits >>= n
	f.have -= n
}

// giveBack goes on at the next whole byte.
func (f *inflater) giveBack() {
	f.pos -= int(f.have >> 3)
	f.bits, f.have = 0, 0
}

// block opens a block.
func (f *inflater) block() {
	f.last = f.take(1) == 1
	switch f.take(2) {
	case 0:
		f.giveBack()
		if len(f.in)-f.pos < 4 {
			f.err = io.ErrUnexpectedEOF
			return
		}
		size := binary.LittleEndian.Uint16(f.in[f.pos:])
		if size != ^binary.LittleEndian.Uint16(f.in[f.pos+2:]) {
			f.corrupt()
			return
		}
		f.pos += 4
		f.stored = int(size)
	case 1:
		f.fixed()
	case 2:
		f.dynamic()
	default:
		f.corrupt()
	}
}

// copyStored copies bytes of a stored block, up to n.
func (f *inflater) copyStored(n int) {
	rest := f.in[f.pos:]
	size := copy(f.out[f.n:n], rest[:min(len(rest), f.stored)])
	if size == 0 {
		f.err = io.ErrUnexpectedEOF
	}
	f.n, f.pos, f.stored = f.n+size, f.pos+size, f.stored-size
}

// symbols decodes literals and matches up to n bytes, the end of the block, or a match
// that goes on after n.
func (f *inflater) symbols(n int) {
	if !f.tabled && n-f.n >= worthTables {
		f.makeTables()
	}
	for f.n < n && f.coded && f.length == 0 && f.err == nil {
		if f.tabled {
			if f.fast(n); f.n == n {
				return
			}
		}
		if f.symbol(); f.length > 0 {
			f.match(n)
		}
	}
}

// symbol decodes a literal or the beginning of a match, or ends the block.
func (f *inflater) symbol() {
	symbol := f.code(&f.literals)
	switch {
	case f.err != nil:
	case symbol < endOfBlock:
		f.out[f.n] = byte(symbol)
		f.n++
	case symbol == endOfBlock:
		f.coded = false
	default:
		base, extra := lengthOf(symbol)
		length := base + f.take(extra)
		far, extra := distanceOf(f.code(&f.distances))
		f.distance = far + f.take(extra)
		if base == 0 || far == 0 || f.distance > f.n {
			f.corrupt()
		}
		if f.err == nil {
			f.length = length
		}
	}
}

// match copies what stood before, up to n bytes.
func (f *inflater) match(n int) {
	end := min(f.n+f.length, n)
	f.length -= end - f.n
	for f.n < end { // what is copied may be what this very match brings
		f.n += copy(f.out[f.n:end], f.out[f.n-f.distance:f.n])
	}
}
