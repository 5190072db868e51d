package triton

import (
	"io"
	"math/bits"
)

const (
	endOfBlock   = 256 // literals lie below it, lengths of matches above
	maxLiterals  = 286
	maxDistances = 30
	maxMatch     = 258 // bytes
)

// huffman is a canonical code. It is made as the lengths of its codes are read, and a
// symbol is found by the length of its code: slow for many symbols, and there at once
// for few.
type huffman struct {
	least   int             // the shortest code's length
	end     [16]uint32      // by length: one above the last code, as if it had 16 bits
	first   [16]uint16      // by length: the first code
	count   [16]uint16      // by length: how many codes
	symbols [16][288]uint16 // by length, in the order of the codes
}

func (h *huffman) reset() { h.count = [16]uint16{} }

// add gives the next symbol a code of n bits. Symbols come in their order.
func (h *huffman) add(symbol int, n uint8) {
	n &= 15
	h.symbols[n][h.count[n]] = uint16(symbol)
	h.count[n]++
}

// finish makes the codes. It reports false where they are too many, or too few: what
// is complete has every code, has one code of one bit, or none.
func (h *huffman) finish() bool {
	code, most := uint32(0), 0
	h.least = 0
	for n := 1; n < 16; n++ {
		code <<= 1
		h.first[n] = uint16(code)
		if h.count[n] > 0 {
			most = n
			if h.least == 0 {
				h.least = n
			}
		}
		if code += uint32(h.count[n]); code > 1<<n {
			return false
		}
		h.end[n] = code << (16 - n)
	}
	return code == 1<<15 || most <= 1
}

// of gives the symbols whose codes have n bits, in their order.
func (h *huffman) of(n uint) []uint16 { return h.symbols[n][:h.count[n]] }

// code reads one symbol: its code is the shortest whose end lies above the bits that
// follow.
func (f *inflater) code(h *huffman) int {
	f.fill()
	next := uint32(bits.Reverse16(uint16(f.bits)))
	for n := h.least & 15; n < 16; n++ {
		if next < h.end[n] {
			f.drop(uint(n))
			return int(h.symbols[n][uint16(next>>(16-n))-h.first[n]])
		}
	}
	f.corrupt()
	return 0
}

// dynamic reads a block's own codes.
func (f *inflater) dynamic() {
	literals, distances, codes := f.take(5)+257, f.take(5)+1, f.take(4)+4
	order := [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	var lengths [19]uint8
	for i := range codes {
		lengths[order[i]] = uint8(f.take(3))
	}
	if literals > maxLiterals || distances > maxDistances || !f.lengths.make(&lengths) {
		f.corrupt()
		return
	}
	f.literals.reset()
	f.distances.reset()
	f.coded, f.tabled, f.preset = true, false, false
	if !f.codeLengths(literals, literals+distances) || !f.literals.finish() || !f.distances.finish() {
		f.corrupt()
	}
}

// codeLengths reads the lengths of so many literals' codes, and of all others', those of
// distances. It reports false where they are none.
func (f *inflater) codeLengths(literals, all int) bool {
	held, have := f.bits, f.have
	last := uint8(sameLength)
	for i := 0; i < all; {
		if have < 14 {
			f.bits, f.have = held, have
			f.fill()
			held, have = f.bits, f.have
		}
		e := f.lengths[held&127]
		repeat := e.repeat(held)
		if e == 0 || repeat > all-i {
			return false
		}
		if e.size() > have {
			f.err = io.ErrUnexpectedEOF
			return false
		}
		held >>= e.size()
		have -= e.size()
		if n := e.length(); n != sameLength {
			last = n
		}
		switch last {
		case 0:
			i += repeat
			continue
		case sameLength: // as which?
			return false
		}
		for ; repeat > 0; repeat-- {
			if i < literals {
				f.literals.add(i, last)
			} else {
				f.distances.add(i-literals, last)
			}
			i++
		}
	}
	f.bits, f.have = held, have
	return true
}

// lengthCode is the code of code lengths, whose codes have at most 7 bits: what the
// next 7 bits begin with, 0 for nothing.
type lengthCode [128]lengthEntry

// lengthEntry is a length and how many codes have it: from bit 0 how many bits say so,
// from bit 4 how many of them are a number behind the code, from bit 8 what is to be
// added to that, from bit 12 the length.
type lengthEntry uint32

// sameLength stands for the length of the code before.
const sameLength = 16

func newLengthEntry(symbol int, code uint) lengthEntry {
	length, extra, base := symbol, uint(0), 1
	switch symbol {
	case 16:
		length, extra, base = sameLength, 2, 3
	case 17:
		length, extra, base = 0, 3, 3
	case 18:
		length, extra, base = 0, 7, 11
	}
	return lengthEntry(code+extra) | lengthEntry(extra)<<4 | lengthEntry(base)<<8 | lengthEntry(length)<<12
}

func (e lengthEntry) size() uint    { return uint(e & 15) }
func (e lengthEntry) length() uint8 { return uint8(e >> 12) }

// repeat is how many codes have the length, where bits begin so.
func (e lengthEntry) repeat(bits uint64) int {
	extra := e >> 4 & 15
	return int(e>>8&15) + int(bits>>((e-extra)&15)&(1<<extra-1))
}

// make makes the code, and reports false where it is not complete.
func (t *lengthCode) make(lengths *[19]uint8) bool {
	var count, next [8]int // by length
	for _, n := range lengths {
		count[n&7]++
	}
	code, most := 0, 0
	for n := 1; n < 8; n++ {
		code <<= 1
		next[n] = code
		if code += count[n]; count[n] > 0 {
			most = n
		}
	}
	if code != 1<<7 && (code != 1<<6 || most != 1) {
		return false
	}
	*t = lengthCode{}
	for symbol, n := range lengths {
		if n &= 7; n != 0 {
			e := newLengthEntry(symbol, uint(n))
			first := bits.Reverse8(uint8(next[n])) >> (8 - n)
			next[n]++
			for i := int(first); i < len(t); i += 1 << n {
				t[i] = e
			}
		}
	}
	return true
}

// lengthOf and distanceOf tell what a symbol stands for: the number, and how many bits
// follow that are added to it; 0 where it stands for nothing. Numbers go up in steps
// that double every four and every two symbols (RFC 1951, 3.2.5).
func lengthOf(symbol int) (base int, extra uint) {
	switch n := symbol - endOfBlock - 1; {
	case n < 0 || symbol >= maxLiterals:
		return 0, 0
	case symbol == maxLiterals-1:
		return maxMatch, 0
	case n < 8:
		return 3 + n, 0
	default:
		extra = uint(n)/4 - 1
		return 3 + (4+n%4)<<extra, extra
	}
}

func distanceOf(symbol int) (base int, extra uint) {
	switch {
	case symbol >= maxDistances:
		return 0, 0
	case symbol < 4:
		return 1 + symbol, 0
	}
	extra = uint(symbol)/2 - 1
	return 1 + (2+symbol%2)<<extra, extra
}

// fixed makes the codes of RFC 1951, 3.2.6, unless the block before had them too: a
// stream can have a million such blocks with nothing in them.
func (f *inflater) fixed() {
	f.coded = true
	if f.preset {
		return
	}
	f.tabled, f.preset = false, true
	f.literals.reset()
	f.distances.reset()
	for symbol := range 288 {
		switch {
		case symbol < 144 || symbol >= 280:
			f.literals.add(symbol, 8)
		case symbol < 256:
			f.literals.add(symbol, 9)
		default:
			f.literals.add(symbol, 7)
		}
	}
	for symbol := range 32 {
		f.distances.add(symbol, 5)
	}
	f.literals.finish()
	f.distances.finish()
}
